"""What is said of a marked sheet and of a class."""
