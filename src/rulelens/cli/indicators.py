"""Text columns for models that take numbers only: one indicator a level, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rulelens.core.conditions import Condition, Membership
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Level, Schema
from rulelens.frames import read_schema

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Indicators:
    """A table with each text column as one boolean column a level.

    Parameters
    ----------
    schema : Schema
        Of the table as it was.
    frame : DataFrame
        Numbers and booleans only. A missing text has no level.
    source : mapping of indicator's name to (column, level)
    """

    schema: Schema
    frame: pd.DataFrame
    source: dict[str, tuple[str, Level]]

    @classmethod
    def of(cls, X: pd.DataFrame) -> Indicators:
        """Indicators of a table; a name that is taken already gets a mark behind it."""
        import pandas as pd

        schema = read_schema(X)
        columns: dict[str, pd.Series[Any]] = {}
        source: dict[str, tuple[str, Level]] = {}
        for feature, name in zip(schema, X.columns, strict=True):
            if feature.kind != "categorical":
                columns[feature.name] = X[name]
                continue
            values = X[name].astype(object)
            for level in feature.levels:
                key = f"{feature.name} = {level}"
                while key in columns or key in schema:
                    key += "'"
                columns[key] = (values == level) & values.notna()
                source[key] = (feature.name, level)
        return cls(schema, pd.DataFrame(columns, index=X.index), source)

    def undo(self, rules: RuleSet) -> RuleSet:
        """The same rules on the table as it was: exactly the same rows, missing text included.

        An indicator that is true says that the column has the level; one that is false, that it
        has another or none.
        """
        if not self.source:
            return rules
        return RuleSet.from_rules(
            [
                Rule(
                    [self._undo_one(name, c) for name, c in rule.conditions],
                    rule.outcome,
                    rule.provenance,
                )
                for rule in rules
            ],
            self.schema,
            outcomes=rules.outcomes,
        )

    def _undo_one(self, name: str, condition: Condition) -> tuple[str, Condition]:
        if name not in self.source or not isinstance(condition, Membership):
            return name, condition
        column, level = self.source[name]
        true, false = condition.holds(True), condition.holds(False)
        if true and false:
            return column, Membership([], negated=True, or_missing=True)
        if true:
            return column, Membership([level])
        return column, Membership([level], negated=True, or_missing=True)
