"""Large runs: evaluated in blocks, on all cores and in little memory; runs that still would not fit are refused."""
