"""Names of the provenance columns by which rules decide together."""

VALUE = "value"
"""What a rule adds to a raw score."""

SCORE_CLASS = "score class"
"""Position in the outcomes of the class whose score that is."""

SECOND_FROM = "second class from"
"""With one score, the least that gives the second class, where that is not any above 0."""

SHARE = "share of "
"""``share of CLASS``: the class's share of the training rows in the leaf."""
