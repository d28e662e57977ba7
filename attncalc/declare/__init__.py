"""What is said of a calculation: its operands and options, what always holds, how it goes wrong."""
