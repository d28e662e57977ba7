"""Practice: a tutor that asks for one step after the other, judges each, and helps as far as one wants."""
