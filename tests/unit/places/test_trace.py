"""Whole traces under one promise."""

from fractions import Fraction

import numpy as np
import pytest

import metricdp as md
from metricdp import places
from metricdp.places._trace import mechanism_for
from metricdp.testing import RecordingEntropy, SeededEntropy

GLOBE = md.Geographic("m")
TRACE = np.column_stack([np.linspace(48.8, 48.9, 16), np.linspace(2.3, 2.4, 16)])


@pytest.mark.parametrize(
    ("combine", "epsilon", "rho"),
    [("max", Fraction(1, 16), Fraction(1, 16)), ("l2", Fraction(1, 4), 1), ("sum", 1, 1)],
)
def test_each_point_gets_the_share_that_composes_to_the_promise(combine, epsilon, rho):
    product = md.Product(GLOBE, 16, combine)
    pure = mechanism_for(TRACE, md.Guarantee.pure(1, product), combine)
    assert isinstance(pure, md.Laplace)
    assert pure.epsilon == epsilon
    gaussian = mechanism_for(TRACE, md.Guarantee.concentrated(1, product))
    assert isinstance(gaussian, md.Gaussian)
    assert gaussian.rho == rho


def test_the_shares_add_up_again():
    for combine in ("max", "l2", "sum"):
        product = md.Product(GLOBE, 16, combine)
        one = mechanism_for(TRACE, md.Guarantee.pure(1, product)).guarantee
        whole = md.Guarantee.pure(one.exact_epsilon, md.Product(GLOBE, 16, "sum"))
        assert whole.under(combine).exact_epsilon <= 1
        rho = mechanism_for(TRACE, md.Guarantee.concentrated(1, product)).rho
        assert md.Guarantee.concentrated(rho, md.Product(GLOBE, 16, "l2")).under(combine).exact_rho <= 1
    odd = mechanism_for(TRACE[:5], md.Guarantee.pure(1, md.Product(GLOBE, 5, "l2")))
    assert odd.epsilon**2 * 5 <= 1


@pytest.mark.parametrize("combine", ["max", "sum", "l2"])
def test_the_noise_is_that_of_the_mechanism(combine):
    promise = md.Guarantee.concentrated("1e-4", md.Product(GLOBE, 16, combine))
    out = places.release_trace(TRACE, promise, combine, "composition", entropy=SeededEntropy(1))
    assert np.array_equal(out, mechanism_for(TRACE, promise).release(TRACE, entropy=SeededEntropy(1)))
    assert out.shape == TRACE.shape
    long = np.zeros((3, 5))
    flat = md.Guarantee.pure(2, md.Product(md.Euclidean(5), 3, combine))
    assert places.release_trace(long, flat).shape == (3, 5)


def test_one_point_the_antimeridian_and_a_pole():
    for trace in ([[0.0, 180.0]], [[90.0, 0.0], [90.0, 0.0]], [[-17.0, 179.99], [-17.0, -179.99]]):
        out = places.release_trace(trace, md.Guarantee.pure("0.01", md.Product(GLOBE, len(trace), "max")))
        assert GLOBE.contains(out).all()


def test_traces_of_any_length():
    free = md.Product(GLOBE, None, "sum")
    assert mechanism_for(TRACE, md.Guarantee.pure(1, free)).epsilon == 1
    with pytest.raises(md.IncompatibleError, match="any length"):
        mechanism_for(TRACE, md.Guarantee.pure(1, md.Product(GLOBE, None, "max")))


@pytest.mark.parametrize(
    ("points", "promise", "arguments"),
    [
        (TRACE, md.Guarantee.pure(1, GLOBE), {}),
        (TRACE, 5, {}),
        (TRACE, md.Guarantee.pure(1, md.Product(GLOBE, 15, "max")), {}),
        (TRACE, md.Guarantee.pure(1, md.Product(GLOBE, 16, "max")), {"metric": "sum"}),
        (TRACE, md.Guarantee.pure(1, md.Product(GLOBE, 16, "max")), {"method": "magic"}),
        (TRACE, md.Guarantee.approximate(1, "1e-9", md.Product(GLOBE, 16, "max")), {}),
        (TRACE, md.Guarantee.pure(1, md.Product(md.Discrete(["a", "b"]), 16, "max")), {}),
        (TRACE[:0], md.Guarantee.pure(1, md.Product(GLOBE, 1, "max")), {}),
        (TRACE[0], md.Guarantee.pure(1, md.Product(GLOBE, 1, "max")), {}),
        (np.full((1, 2), np.nan), md.Guarantee.pure(1, md.Product(GLOBE, 1, "max")), {}),
        (np.array([[95.0, 0.0]]), md.Guarantee.pure(1, md.Product(GLOBE, 1, "max")), {}),
    ],
)
def test_refusals_come_before_sampling(points, promise, arguments):
    source = RecordingEntropy(SeededEntropy(0))
    with pytest.raises(md.MetricDPError):
        places.release_trace(points, promise, **arguments, entropy=source)
    assert source.count == 0
