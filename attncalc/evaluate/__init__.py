"""From a graph to values, costs and differences."""
