"""Large runs: evaluated in blocks, on all cores and in little memory; what would not fit even so is refused first."""
