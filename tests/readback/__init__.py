"""Reads what attncalc prints, knowing nothing of the package: text and LaTeX to trees, trees to values."""
