"""Words, files and Python values → operands, with errors that name file, line and cell."""
