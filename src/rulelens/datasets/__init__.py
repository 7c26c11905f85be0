"""Synthetic tables whose truth is known."""

from rulelens.datasets.synthetic import make_combined, make_independent, make_mixed

__all__ = ["make_combined", "make_independent", "make_mixed"]
