"""Personal rules: for each row the one rule that best tells its class."""
