"""The wrong rules for each calculation, a family a file, of the same names as the calculations' own."""
