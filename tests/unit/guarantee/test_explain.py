"""What `explain` says of concentrated promises, against the exact law of the loss of Gaussian noise."""

import math
import re

import pytest
from scipy.stats import norm

from metricdp import Euclidean, Guarantee


@pytest.mark.parametrize("rho", ["1e-6", "5e-6", "0.02", "3"])
def test_the_probability_left_out_is_that_of_the_loss(rho):
    text = Guarantee.concentrated(rho, Euclidean(1), gaussian=True).explain()
    assert "except with probability 1e-06" in text
    found = re.findall(r"ithin ([0-9.e+-]+) (?:an observer's odds can change at most )?([0-9.]+)-fold", text)
    assert len(found) == 3
    for distance, odds in found:
        r = float(rho) * float(distance) ** 2
        exceeds = norm.sf((math.log(float(odds)) - r) / math.sqrt(2 * r))
        assert 1e-9 < exceeds <= 1e-6


def test_an_approximate_promise_is_not_called_a_probability():
    text = Guarantee.approximate("0.01", "1e-9", Euclidean(1, unit="m"), radius=500).explain()
    assert "except with probability" not in text
    assert "each time plus 1e-9" in text
