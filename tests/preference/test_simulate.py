from __future__ import annotations

import numpy as np
import pytest

from rulelens.errors import OptionError
from rulelens.preference.simulate import SimulatedPerson, random_weights


def test_priors_differ_in_spread():
    uniform = random_weights(10, 4_000, prior="uniform")
    simplex = random_weights(10, 4_000, prior="simplex")
    np.testing.assert_allclose(uniform.sum(axis=1), 1.0)
    assert simplex.std() > 1.4 * uniform.std()
    with pytest.raises(OptionError, match="Unknown prior"):
        random_weights(3, prior="flat")


def test_careful_person_is_right():
    person = SimulatedPerson(np.array([0.3, 0.1, 0.2]))
    assert person.rank([1, 2, 0]) == [0, 2, 1]
    assert person.prefers(0, 1)
    assert person.best_of([1, 2]) == 2


def test_noise_gives_the_stated_share_of_errors():
    utilities = np.array([0.0, 1.0])
    person = SimulatedPerson(utilities, noise=1.0, random_state=0)
    right = np.mean([person.prefers(1, 0) for _ in range(4_000)])
    assert right == pytest.approx(1 / (1 + np.exp(-1 / 0.5)), abs=0.02)
    with pytest.raises(OptionError, match="0 or more"):
        SimulatedPerson(utilities, noise=-1)
