"""What a calculation is written in: axes, nodes, named steps, primitives, their notation and their gradients."""
