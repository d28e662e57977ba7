"""What anybody may use: errors, words, numbers as text, files, progress, an alarm, the names of array types."""
