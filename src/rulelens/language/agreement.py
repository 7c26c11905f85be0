"""What a text says about its features, against what the caller says."""

from __future__ import annotations

from collections.abc import Sequence

from rulelens.core.schema import Schema
from rulelens.errors import FormatError, did_you_mean


def check_agreement(found: Schema, features: Sequence[str] | None, schema: Schema | None) -> None:
    """Raise FormatError where a text's own features are not those that the caller knows.

    Parameters
    ----------
    found : Schema
        The text's own.
    features : sequence of str, optional
        Must have every name of the text; may have more, in any order.
    schema : Schema, optional
        Must be the same.
    """
    if schema is not None and schema != found:
        differs = [f.name for f in found if f.name not in schema or schema[f.name] != f]
        differs += [f.name for f in schema if f.name not in found]
        what = f"differ in {differs[0]!r}" if differs else "have another order of features"
        raise FormatError(
            f"The file has a schema of its own and the given one does not agree: they {what}. "
            "Leave the option schema out, or give the schema that the rules were made with."
        )
    if features is None:
        return
    for name in found.names:
        if name not in features:
            raise FormatError(
                f"The file has a feature '{name}' that is not among those given. "
                f"{did_you_mean(name, features)}"
            )
