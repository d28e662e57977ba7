"""Sheets are read: from files and words to the answers of steps."""
