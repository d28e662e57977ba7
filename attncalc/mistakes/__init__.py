"""The wrong rules for each calculation, one file for each family, named like the calculations' files."""
