"""How calculations are declared: operands and options, laws, mistakes, pictures."""
