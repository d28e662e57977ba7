"""From a problem to its record."""
