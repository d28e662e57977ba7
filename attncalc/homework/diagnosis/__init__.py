"""What may be behind an answer is found: a right rule, a mistake, rounding, a slip."""
