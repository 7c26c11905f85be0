"""Learning which alternatives a person prefers, from a few statements."""
