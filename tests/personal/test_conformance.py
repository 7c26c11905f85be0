"""scikit-learn's own checks of the classifiers and the discretiser."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from rulelens.personal.fast_pic import FastPIC
from rulelens.personal.pic import PIC
from rulelens.personal.tuning import PICSearch

ESTIMATORS = [
    PIC(n_bins=6),
    PIC(search="greedy", n_bins=6),
    FastPIC(n_bins=6),
    FastPIC(storage="sparse", n_bins=8, class_weight="balanced"),
    PICSearch(max_lengths=(1, 2), alphas=(0.9,), n_bins=(6,), discretizers=("equal_width",), cv=2),
]


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.filterwarnings("ignore:The least populated class in y has only")
@parametrize_with_checks(ESTIMATORS)
def test_sklearn(estimator, check):
    check(estimator)
