"""scikit-learn's own checks of the classifiers and the discretiser."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from rulelens.personal.fast_pic import FastPIC
from rulelens.personal.pic import PIC

ESTIMATORS = [
    PIC(n_bins=6),
    PIC(search="greedy", n_bins=6),
    FastPIC(n_bins=6),
    FastPIC(storage="sparse", n_bins=8, class_weight="balanced"),
]


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@parametrize_with_checks(ESTIMATORS)
def test_sklearn(estimator, check):
    check(estimator)
