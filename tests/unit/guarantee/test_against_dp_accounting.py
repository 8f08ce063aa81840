"""Ordinary differential privacy is distance 1: the curves are those of Google's dp-accounting."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from metricdp import Discrete, Euclidean, Guarantee

accounting = pytest.importorskip("dp_accounting", reason="extra: accounting")
common = pytest.importorskip("dp_accounting.pld.common")
distribution = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
losses = pytest.importorskip("dp_accounting.pld.privacy_loss_mechanism")

LINE = Euclidean(1)
RHOS = ["0.0005", "0.01", "0.2", "1", "8"]


def gaussian(rho):
    return Guarantee.concentrated(rho, LINE, gaussian=True)


def sigma(rho):
    return 1 / math.sqrt(2 * float(rho))


@pytest.mark.parametrize("rho", RHOS)
def test_delta_of_the_gaussian(rho):
    theirs = losses.GaussianPrivacyLoss(standard_deviation=sigma(rho))
    for k in range(-4, 13):
        epsilon = float(rho) + k / 2 * math.sqrt(2 * float(rho))
        if epsilon >= 0:
            expected = theirs.get_delta_for_epsilon(epsilon)
            assert gaussian(rho).delta_at(1, epsilon) == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-3])
def test_epsilon_of_the_gaussian(rho, delta):
    expected = accounting.get_epsilon_gaussian(sigma(rho), delta)
    assert gaussian(rho).epsilon_at(1, delta) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_distance_and_repetition_are_sensitivity():
    for d, n in ((3, 1), ("0.25", 7), (10, 40)):
        sensitivity = float(Fraction(d)) * math.sqrt(n)
        theirs = losses.GaussianPrivacyLoss(standard_deviation=sigma("0.02"), sensitivity=sensitivity)
        for epsilon in (0.0, 0.5, 3.0):
            expected = theirs.get_delta_for_epsilon(epsilon)
            assert (n * gaussian("0.02")).delta_at(d, epsilon) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-3])
def test_epsilon_of_any_concentrated_loss(rho, delta):
    """Their orders lie on a grid, so their bound is a little larger, never smaller."""
    best = 1 + math.sqrt(math.log(1 / delta) / float(rho))
    orders = 1 + (best - 1) * np.geomspace(0.3, 3, 4001)
    accountant = accounting.rdp.RdpAccountant(orders)
    accountant.compose(accounting.ZCDpEvent(float(rho)))
    theirs = accountant.get_epsilon(delta)
    ours = Guarantee.concentrated(rho, LINE).epsilon_at(1, delta)
    assert theirs * (1 - 1e-6) <= ours <= theirs * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "3"])
@pytest.mark.parametrize("delta", ["0", "1e-7"])
def test_delta_of_pure_and_approximate(epsilon, delta):
    ours = Guarantee.approximate(epsilon, delta, Discrete(["yes", "no"]))
    ours = ours if float(delta) else Guarantee.pure(epsilon, ours.space)
    parameters = common.DifferentialPrivacyParameters(float(epsilon), float(delta))
    worst = distribution.from_privacy_parameters(parameters, value_discretization_interval=float(epsilon) / 10)
    laplace = losses.LaplacePrivacyLoss(1 / float(epsilon))
    for k in range(10):
        total = Fraction(epsilon) * k / 10
        found = ours.delta_at(1, total)
        assert found >= laplace.get_delta_for_epsilon(float(total))
        assert found == pytest.approx(worst.get_delta_for_epsilon(float(total)), rel=1e-6, abs=1e-12)
    assert ours.delta_at(1, epsilon) == ours.delta


def test_compositions_cover_their_privacy_loss_distributions():
    """Randomised response many times, and mixed with Gaussian noise: our bounds hold, and are not wildly loose."""
    lie = 2 / (1 + math.exp(0.1))
    once = distribution.from_randomized_response(lie, 2, pessimistic_estimate=False)
    noise = distribution.from_gaussian_mechanism(sigma("0.05"), pessimistic_estimate=False)
    pure = 50 * Guarantee.pure("0.1", LINE)
    often = once.self_compose(50)
    for promise, theirs in ((pure, often), (pure + gaussian("0.05"), often.compose(noise))):
        for delta in (1e-8, 1e-4):
            least = theirs.get_epsilon_for_delta(delta)
            assert least <= promise.epsilon_at(1, delta) <= 1.5 * least
