"""The paper's synthetic tables, bit for bit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rulelens.datasets import make_combined, make_independent, make_mixed
from rulelens.datasets.synthetic import independent_intervals
from rulelens.errors import OptionError


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("ind_synthetic_2_0", lambda: make_independent(2, random_state=0)),
        ("comp_synthetic_3_0", lambda: make_combined(3, random_state=0)),
        ("comb_12-34_synthetic_0", lambda: make_mixed("12-34", random_state=0)),
    ],
)
def test_the_papers_own_tables_come_out(name, made, data_dir):
    path = data_dir / f"synthetic/{name}.csv.gz"
    published = pd.read_csv(path, index_col=0, dtype=str).map(float)  # exact in every pandas
    X, y = made()
    assert np.array_equal(X.to_numpy(), published[list(X.columns)].to_numpy())
    assert np.array_equal(y, published["target"].to_numpy())


def test_intervals_have_one_width_for_each_number_of_features():
    """As handed over: 2 intervals a feature, of 0.2 down to 0.05."""
    assert independent_intervals(4)[3] == ((0.0, 0.15), (0.5, 0.65))
    assert independent_intervals(6)[5] == ((0.5, 0.55), (0.9, 0.95))
    assert independent_intervals(5)[4] == ((0.4, 0.5), (0.9, 1.0))
    for k in range(2, 7):
        assert [len(parts) for parts in independent_intervals(k)] == [2] * k


def test_seeds_differ_and_repeat():
    one, two = make_combined(4, random_state=1)[0], make_combined(4, random_state=2)[0]
    assert not one.equals(two)
    assert one.equals(make_combined(4, random_state=1)[0])


def test_bad_options_are_told():
    for bad in (1, 7, 2.5):
        with pytest.raises(OptionError, match="from 2 to 6"):
            make_independent(bad)
        with pytest.raises(OptionError, match="from 2 to 6"):
            make_combined(bad)
    with pytest.raises(OptionError, match=r"Unknown kind '1-2-3'.*Did you mean '1-2-34'"):
        make_mixed("1-2-3")
    with pytest.raises(OptionError, match="n_features"):
        make_combined(4, n_features=3)
    with pytest.raises(OptionError, match="n_rows"):
        make_combined(4, n_rows=0)
