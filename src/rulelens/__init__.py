"""Rulelens: see a tabular model as rules, and get the rules that suit the one who asks."""
