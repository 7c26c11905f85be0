"""The text of rules: tokens, parser, printer."""
