"""New problems are made, and what is handed out with them."""
