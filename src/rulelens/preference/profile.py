"""What a person said about many rows, pooled: the next explanation is personal from the start.

A statement about one row's rules constrains the same weights for every row. A profile keeps each
elementary statement as what it says about named criteria, so that it can be used where the rules
it was about do not exist.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rulelens.errors import FormatError, OptionError
from rulelens.preference.certificate import ExactCriteria
from rulelens.preference.session import PreferenceSession
from rulelens.preference.session_file import (
    is_version,
    read_json,
    statement_from_dict,
    statement_to_dict,
    write_json,
)
from rulelens.preference.statement_log import recalled_ones
from rulelens.preference.statements import Recalled
from rulelens.preference.table import Criteria

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "rulelens.preference_profile"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Profile:
    """Recalled statements of one person or of several, aligned by the names of criteria.

    Parameters
    ----------
    statements : tuple of Recalled
    name : str

    Examples
    --------
    >>> first = Criteria(("r1", "r2"), ("age", "bmi"), [[1, 0], [0, 1]])
    >>> profile = Profile(name="Ada").remember(PreferenceSession(first).prefer("r1", "r2"), "row 1")
    >>> profile.phrases
    ('r1 over r2 (row 1)',)
    >>> other = Criteria(("a", "b"), ("age", "sex"), [[0, 1], [1, 0]])
    >>> profile.session(other).result().ranking
    ('b', 'a')
    """

    statements: tuple[Recalled, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "statements", recalled_ones(self.statements))
        if not isinstance(self.name, str):
            raise OptionError(f"The name of the profile is {self.name!r}. Expected a text.")

    def __len__(self) -> int:
        return len(self.statements)

    @property
    def phrases(self) -> tuple[str, ...]:
        """The statements in the user's words, with what each was about."""
        return tuple(f"{s.phrase} ({s.about or 'earlier'})" for s in self.statements)

    @property
    def names(self) -> tuple[str, ...]:
        """Criteria that occur in statements, in order of first mention."""
        return tuple(dict.fromkeys(n for s in self.statements for n, _ in s.terms))

    def remember(self, session: PreferenceSession, about: str = "") -> Self:
        """A profile that also holds what was stated in `session`, about the row `about`.

        Statements of the session's own background are not taken over again.
        """
        if not isinstance(session, PreferenceSession):
            raise OptionError(f"{session!r} is no session. Expected a PreferenceSession.")
        if not isinstance(about, str):
            raise OptionError(f"about is {about!r}. Expected a text, such as 'row 17'.")
        new = []
        # Differences are taken in fractions: 0.2 - 0.3 is to be kept as -0.1, so that what follows
        # from it can be proved later.
        exact = ExactCriteria(session.criteria)
        for constraint in session.constraints():
            if constraint.source < 0:
                continue
            pairs = zip(session.criteria.names, exact.constraint(constraint), strict=True)
            terms = tuple((n, float(v)) for n, v in pairs if v)
            new.append(Recalled(constraint.kind, terms, constraint.phrase, about))
        return replace(self, statements=(*self.statements, *new))

    def pooled(self, other: Profile) -> Self:
        """A profile with the statements of both, such as those of two persons."""
        if not isinstance(other, Profile):
            raise OptionError(f"{other!r} is no profile. Expected a Profile.")
        return replace(self, statements=(*self.statements, *other.statements))

    def without(self, *positions: int, about: str | None = None) -> Self:
        """A profile from which the statements at `positions`, or all about a row, are withdrawn."""
        for position in positions:
            whole = isinstance(position, int | np.integer) and not isinstance(position, bool)
            if not (whole and 0 <= position < len(self.statements)):
                raise OptionError(
                    f"There is no statement {position!r} in this profile. It has "
                    f"{len(self.statements)}, counted from 0."
                )
        kept = tuple(
            s
            for i, s in enumerate(self.statements)
            if i not in positions and (about is None or s.about != about)
        )
        return replace(self, statements=kept)

    def renamed(self, names: Mapping[str, str]) -> Self:
        """A profile in which criteria have new names, after a column was renamed."""
        if not isinstance(names, Mapping):
            raise OptionError(f"names is {names!r}. Expected a dict of old name to new name.")
        return replace(
            self,
            statements=tuple(
                replace(s, terms=tuple((names.get(n, n), v) for n, v in s.terms))
                for s in self.statements
            ),
        )

    def session(
        self,
        criteria: Criteria | pd.DataFrame,
        *,
        labels: Mapping[Hashable, str] | None = None,
    ) -> PreferenceSession:
        """A session about other alternatives that starts from this profile.

        Criteria of the profile that the alternatives lack join with the value 0; those that only
        the alternatives have are free. Contradictions between rows show in `session.conflict()`,
        where a negative source -1 - i means statement i of the profile.
        """
        return PreferenceSession(criteria, labels=labels, background=self.statements)

    def to_frame(self) -> pd.DataFrame:
        """Pandas DataFrame, one row a statement: about, statement, and a column per criterion."""
        import pandas as pd

        rows = [
            {"about": s.about, "statement": s.phrase, "kind": s.kind, **dict(s.terms)}
            for s in self.statements
        ]
        frame = pd.DataFrame(rows, columns=["about", "statement", "kind", *self.names])
        return frame.fillna(dict.fromkeys(self.names, 0.0))

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe dict, versioned."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "name": self.name,
            "statements": [statement_to_dict(s) for s in self.statements],
        }

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Profile from what `to_dict` gave; a FormatError names what is wrong."""
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise FormatError(f"This is no saved profile: its 'format' is not '{FORMAT}'.")
        if not is_version(data.get("version"), VERSION):
            raise FormatError(
                f"The profile has version {data.get('version')!r}; version {VERSION} can be read. "
                "Update Rulelens, or save the profile again with the version that wrote it."
            )
        entries = data.get("statements")
        if not isinstance(entries, list):
            raise FormatError("The saved profile has no list of statements.")
        read = []
        for number, entry in enumerate(entries):
            statement = statement_from_dict(entry)
            if not isinstance(statement, Recalled):
                raise FormatError(f"Statement {number} of the profile is not a recalled one.")
            read.append(statement)
        name = data.get("name", "")
        if not isinstance(name, str):
            raise FormatError("The name of the saved profile is no text.")
        return cls(tuple(read), name)

    def save(self, path: str | Path) -> None:
        """Write the profile as JSON, whole or not at all."""
        write_json(self.to_dict(), path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a profile that `save` wrote."""
        return cls.from_dict(read_json(path))


def profile_of(sessions: Sequence[tuple[str, PreferenceSession]], *, name: str = "") -> Profile:
    """Profile of several sessions, each with what it was about.

    Examples
    --------
    >>> c = Criteria(("a", "b"), ("x", "y"), [[1, 0], [0, 1]])
    >>> len(profile_of([("row 1", PreferenceSession(c).prefer("a", "b"))]))
    1
    """
    profile = Profile(name=name)
    for about, session in sessions:
        profile = profile.remember(session, about)
    return profile
