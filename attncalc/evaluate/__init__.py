"""From a graph to values, and what else a graph tells."""
