"""RuleExplainer: for one row, the rules that explain a black box's decision."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from rulelens.bits.coverage import contingency
from rulelens.bits.lattice import Itemsets, ItemTable, qualifying_itemsets
from rulelens.core.condition_table import ConditionTable
from rulelens.core.contingency import Contingency
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Level, Schema
from rulelens.discretize.cuts import Binning
from rulelens.errors import ExplainError, OptionError, TableError
from rulelens.explain.black_box import BlackBox
from rulelens.explain.explanation import Explanation
from rulelens.explain.relaxation import Demands, conditions, relax
from rulelens.frames import ColumnData, Labels, Table, encode_row, one_row, plain_rows, read_table

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.graph.feature_graph import FeatureGraph

ENOUGH = 20
"""With ``max_length="auto"``, deepening ends once this many rules are found."""


class RuleExplainer:
    """Explains single decisions of any classifier by rules that never contradict it.

    Training rows are labelled by the model and cut into bins. For a row, all conjunctions of
    its own bins are searched that cover enough training rows and, by default, only rows with
    the same decision.

    Parameters
    ----------
    model : object with ``predict``, or callable
        From a table of the kind given to `fit` to one class label a row.
    n_bins : int
        Numeric features are cut by quantiles into at most so many bins.
    max_length : int or "auto"
        Longest rule. ``"auto"`` adds one condition at a time until 20 rules are found,
        nothing longer can qualify, or `time_budget` is used up.
    min_support : int
        Least number of training rows with the same decision that a rule covers.
    min_confidence : float in [0, 1]
        Least share of the same decision among the covered rows; 1 allows no exception.
    min_confirmation : float in [-1, 1)
        Recall minus error must exceed it.
    minimal : bool
        Leave out a rule if some of its conditions alone already qualify.
    time_budget : float
        Seconds a row, for ``max_length="auto"``.

    Attributes
    ----------
    schema_ : Schema
    labels_ : Labels
        The model's labels of the training rows.
    binning_ : Binning

    References
    ----------
    PREF-XAI, arXiv 2604.19684, sections 2.2.1 and 2.2.2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = KNeighborsClassifier().fit(X, y)
    >>> e = RuleExplainer(model).fit(X).explain(X.iloc[0])
    >>> e.prediction, str(e.rules[0])
    (0, 'IF petal length (cm) < 1.6 THEN 0')
    """

    def __init__(
        self,
        model: object,
        *,
        n_bins: int = 4,
        max_length: int | Literal["auto"] = "auto",
        min_support: int = 1,
        min_confidence: float = 1.0,
        min_confirmation: float = 0.0,
        minimal: bool = True,
        time_budget: float = 0.5,
    ) -> None:
        self.model = model
        self.n_bins = n_bins
        self.max_length = max_length
        self.min_support = min_support
        self.min_confidence = min_confidence
        self.min_confirmation = min_confirmation
        self.minimal = minimal
        self.time_budget = time_budget

    # ------------------------------------------------------------------ fitting
    def fit(self, X: object, y: object = None) -> Self:  # noqa: ARG002
        """Label the rows with the model, cut them into bins and pack them.

        Parameters
        ----------
        X : table
            Training rows: those that the rules' counts will speak of. No target column.
        y : ignored
            The model's own answers are what is explained, not the true classes.

        Raises
        ------
        TableError, ModelError, OptionError
        """
        check_options(self)
        self._box = BlackBox(self.model, X)
        self.schema_: Schema = self._box.schema
        table = read_table(X, self.schema_)
        if table.n_rows < 2:
            raise TableError(f"At least 2 training rows are needed, found {table.n_rows}.")
        self.labels_: Labels = self._box.labels(X, table.n_rows)
        self._table = table
        self._ranges = [_range(c) if f.is_numeric else None for f, c in self._named(table)]
        self.binning_ = Binning.quantiles(table, self.n_bins)
        codes = self.binning_.codes(table)
        n_classes = len(self.labels_.classes)
        sizes = self.binning_.sizes
        self._items = ItemTable.from_codes(codes, sizes, self.labels_.codes, n_classes)
        self._conditions, self._condition_of_item = self._item_conditions(sizes)
        return self

    def _item_conditions(self, sizes: list[int]) -> tuple[ConditionTable, NDArray[np.int64]]:
        pairs = [(j, self.binning_.condition(j, c)) for j, n in enumerate(sizes) for c in range(n)]
        table, position = ConditionTable.from_conditions(pairs, self.schema_).canonical()
        return table, position

    def _check_fitted(self) -> None:
        if not hasattr(self, "labels_"):
            raise ExplainError("This RuleExplainer is not fitted. Call fit(X) first.")

    # ------------------------------------------------------------------ explaining
    def explain(self, row: object) -> Explanation:
        """Explain the model's decision on one row.

        Parameters
        ----------
        row : mapping, pandas Series, table of one row, or sequence in the schema's order
            Names may come in any order, and names that the model does not use are not read.
            None or NaN is a missing value.
        """
        self._check_fitted()
        values = one_row(row, self.schema_)
        self._check_row(values)
        # A table is asked about as it is: whatever it holds reaches the model unchanged.
        whole = not isinstance(row, Mapping) and np.ndim(cast(Any, row)) == 2
        if whole:
            labels = self._box.labels(row, 1)
            return self._explain(values, labels.classes[int(labels.codes[0])])
        return self._explain(values, self._box.label(values))

    def explain_many(self, X: object) -> Iterator[Explanation]:
        """Explain every row of a table, one after another."""
        self._check_fitted()
        table = read_table(X, self.schema_)
        labels = self._box.labels(X, table.n_rows)
        for values, code in zip(plain_rows(X, self.schema_), labels.codes, strict=True):
            yield self._explain(values, labels.classes[code])

    def _named(self, table: Table) -> Iterator[tuple[Feature, ColumnData]]:
        return zip(table.schema, table.columns, strict=True)

    def _check_row(self, row: Mapping[str, Level | None]) -> Table:
        """The row as a table, after checking that its values can be explained."""
        table = encode_row(row, self.schema_)
        for feature, column in self._named(table):
            if feature.is_numeric and np.isinf(column[0]):
                raise TableError(
                    f"Feature '{feature.name}' is infinite in this row. Give a number, or None "
                    "for a missing value."
                )
        return table

    def _explain(self, row: Mapping[str, Level | None], prediction: Level) -> Explanation:
        table = self._check_row(row)
        codes = self.binning_.codes(table)[0]
        outcome = self.labels_.code_of(prediction)
        notes = self._notes(row, table.columns, codes)
        none = self._no_itemsets()
        if outcome < 0:
            reason = (
                f"The model gave no training row the class {prediction!r}, so no rule can speak "
                "for it. Fit the explainer on rows that have this class."
            )
            return self._record(row, prediction, none, none, codes, reason, notes)
        if len(self.labels_.classes) == 1:
            reason = (
                f"The model gives every training row the class {prediction!r}: no condition is "
                "needed, and none explains it. Fit the explainer on rows of more classes."
            )
            return self._record(row, prediction, none, none, codes, reason, notes)
        auto = self.max_length == "auto"
        found = qualifying_itemsets(
            self._items,
            codes,
            outcome,
            max_length=None if self.max_length == "auto" else self.max_length,
            min_count=self.min_support,
            min_confidence=self.min_confidence,
            min_confirmation=self.min_confirmation,
            minimal=self.minimal,
            enough=ENOUGH if auto else None,
            time_budget=self.time_budget if auto else None,
        )
        if len(found):
            return self._record(row, prediction, found, none, codes, "", notes)
        other = relax(self._items, codes, outcome, found, Demands.of(self._options()))
        return self._record(row, prediction, other.found, other.nearest, codes, other.reason, notes)

    def _notes(
        self, row: Mapping[str, Level | None], columns: tuple[Any, ...], codes: NDArray[np.int32]
    ) -> list[str]:
        notes = []
        for j, feature in enumerate(self.schema_):
            value = row[feature.name]
            if value is None:
                if codes[j] < 0 and self.binning_.sizes[j]:
                    notes.append(
                        f"'{feature.name}' is missing here but never was in training: "
                        "no rule uses it."
                    )
            elif feature.is_numeric:
                ends = self._ranges[j]
                if ends is not None and not ends[0] <= float(value) <= ends[1]:
                    notes.append(
                        f"'{feature.name}' is {value!r}, outside of the {ends[0]!r} to {ends[1]!r} "
                        "of the training rows: rules that use it are stretched beyond what they "
                        "were measured on."
                    )
            elif not feature.is_numeric and columns[j][0] >= len(feature.levels):
                notes.append(
                    f"'{feature.name}' has the value {value!r}, which no training row has: "
                    "no rule uses it."
                )
        return notes

    def _options(self) -> dict[str, Any]:
        return {
            "n_bins": self.n_bins,
            "max_length": self.max_length,
            "min_support": self.min_support,
            "min_confidence": self.min_confidence,
            "min_confirmation": self.min_confirmation,
            "minimal": self.minimal,
            "time_budget": self.time_budget,
        }

    def _no_itemsets(self) -> Itemsets:
        none = np.zeros(0, dtype=np.int64)
        return Itemsets(np.zeros((0, len(self.schema_)), dtype=bool), none, none, 0, "impossible")

    def _record(
        self,
        row: Mapping[str, Level | None],
        prediction: Level,
        found: Itemsets,
        relaxed: Itemsets,
        codes: NDArray[np.int32],
        reason: str,
        notes: list[str],
    ) -> Explanation:
        sizes = found.members.sum(axis=1)
        order = np.lexsort((np.arange(len(found)), sizes, found.fp, -found.tp))
        rules, counts, members = self._rules(found, order, codes, prediction)
        loose, loose_counts, _ = self._rules(relaxed, np.arange(len(relaxed)), codes, prediction)
        if len(found):
            notes.extend(self._cut_short(found, int(sizes.max())))
        totals = self._items.totals.tolist()
        return Explanation(
            row=row,
            prediction=prediction,
            rules=rules,
            counts=counts,
            length=found.length,
            stop=found.stop,
            reason=reason,
            relaxed=loose,
            relaxed_counts=loose_counts,
            groups=self._groups(members, counts),
            classes=dict(zip(self.labels_.classes, totals, strict=True)),
            options=self._options(),
            notes=tuple(notes),
            _items=self._items,
            _members=members,
        )

    def _cut_short(self, found: Itemsets, longest: int) -> list[str]:
        """What a search that did not get to its end has left out."""
        if found.stop not in ("time", "size"):
            return []
        why = (
            f"after {self.time_budget} s"
            if found.stop == "time"
            else "as longer rules were too many"
        )
        if longest > found.length:
            return [
                f"The search was cut short {why}: no rule of up to {conditions(found.length)} "
                "qualifies. What is shown was found by leaving out conditions one by one; other "
                "rules may qualify too."
            ]
        return [
            f"The search was cut short {why}: all rules of up to {conditions(found.length)} "
            "are here, longer ones were not looked for."
        ]

    def _rules(
        self, found: Itemsets, order: NDArray[np.int64], codes: NDArray[np.int32], prediction: Level
    ) -> tuple[RuleSet, Contingency, NDArray[np.int64]]:
        """Rules of itemsets, their counts, and the items of each (-1 where a rule has none)."""
        inside = found.members[order]
        item = np.where(codes >= 0, self._items.first[:-1] + codes, 0)
        feature = np.nonzero(inside)[1]
        outcomes = list(self.labels_.classes)
        code = self.labels_.code_of(prediction)
        if code < 0:
            outcomes.append(prediction)
            code = len(outcomes) - 1
        rules = RuleSet.from_arrays(
            self.schema_,
            self._conditions,
            np.concatenate([[0], np.cumsum(inside.sum(axis=1))]),
            self._condition_of_item[item[feature]],
            np.full(len(order), code),
            outcomes=outcomes,
        )
        tp, fp = found.tp[order], found.fp[order]
        totals = self._items.totals
        pos = int(totals[code]) if code < len(totals) else 0
        neg = int(totals.sum()) - pos
        members = np.where(inside, item[None, :], -1)
        return rules, Contingency(tp, fp, pos - tp, neg - fp), members

    def _groups(
        self, members: NDArray[np.int64], counts: Contingency
    ) -> tuple[tuple[int, ...], ...]:
        """Rules that cover exactly the same training rows."""
        seen: dict[tuple[int, int, bytes], list[int]] = {}
        same = np.unique(np.stack([counts.tp, counts.fp]), axis=1, return_inverse=True)[1].reshape(
            -1
        )
        repeated = np.flatnonzero(np.bincount(same)[same] > 1) if len(same) else same
        for k in repeated.tolist():
            chosen = members[k][members[k] >= 0]
            bits = np.bitwise_and.reduce(self._items.columns[chosen], axis=0)
            key = (int(counts.tp[k]), int(counts.fp[k]), bits.tobytes())
            seen.setdefault(key, []).append(k)
        return tuple(tuple(g) for g in seen.values() if len(g) > 1)

    # ------------------------------------------------------------------ checking
    def predict_labels(self, X: object) -> list[Level]:
        """The model's own labels of the rows of a table, as plain values."""
        self._check_fitted()
        labels = self._box.labels(X, read_table(X, self.schema_).n_rows)
        return [labels.classes[c] for c in labels.codes]

    def feature_graph(self, rules: RuleSet) -> FeatureGraph:
        """Feature graph of rules over the training rows and the model's labels of them."""
        from rulelens.graph.feature_graph import FeatureGraph

        self._check_fitted()
        return FeatureGraph.from_rules(rules, self._table, self.labels_)

    def fidelity(self, rules: RuleSet, X: object) -> pd.DataFrame:
        """How far rules agree with the model on rows that did not make them.

        Parameters
        ----------
        rules : RuleSet
            Such as ``explanation.rules``.
        X : table
            Rows that were not given to `fit`.

        Returns
        -------
        DataFrame
            One row a rule: ``covered`` rows, those that ``agree``, and their share
            ``fidelity`` (NaN where no row is covered).
        """
        import pandas as pd

        self._check_fitted()
        table = read_table(X, self.schema_)
        counts = contingency(rules, table, self._box.labels(X, table.n_rows))
        return pd.DataFrame(
            {
                "covered": counts.tp + counts.fp,
                "agree": counts.tp,
                "fidelity": counts.measure("confidence"),
            }
        )


def check_options(explainer: RuleExplainer) -> None:
    """Raise OptionError if an option is outside of what it allows; asks no model."""
    if (
        isinstance(explainer.n_bins, bool)
        or not isinstance(explainer.n_bins, int)
        or explainer.n_bins < 2
    ):
        raise OptionError(f"n_bins must be a whole number of at least 2, not {explainer.n_bins!r}.")
    length = explainer.max_length
    if length != "auto" and (isinstance(length, bool) or not isinstance(length, int) or length < 1):
        raise OptionError(f"max_length must be 'auto' or at least 1, not {length!r}.")
    support = explainer.min_support
    if isinstance(support, bool) or not isinstance(support, int) or support < 1:
        raise OptionError(
            f"min_support is a number of rows, at least 1, not {support!r}. "
            "For a share, multiply it by the number of training rows."
        )
    if not 0 <= explainer.min_confidence <= 1:
        raise OptionError(f"min_confidence must lie in [0, 1], not {explainer.min_confidence!r}.")
    if not -1 <= explainer.min_confirmation < 1:
        raise OptionError(
            f"min_confirmation must lie in [-1, 1), not {explainer.min_confirmation!r}."
        )
    if not (explainer.time_budget > 0 and math.isfinite(explainer.time_budget)):
        raise OptionError(
            f"time_budget must be a positive number of seconds, not {explainer.time_budget!r}."
        )


def _range(column: ColumnData) -> tuple[float, float] | None:
    """Least and greatest of the numbers that are there."""
    known = column[~np.isnan(column)]
    return (float(known.min()), float(known.max())) if len(known) else None
