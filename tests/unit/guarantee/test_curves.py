"""Loss curves against oracles that share no code with the library: mpmath at 80 digits, quadrature, enumeration."""

from __future__ import annotations

import itertools
import math
import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from metricdp import Euclidean, Guarantee

LINE = Euclidean(1, unit="m")
SMALLEST = mpf(5e-324)
CLOSE = mpf(10) ** -12


@pytest.fixture(autouse=True)
def _eighty_digits():
    with mp.workdps(80):
        yield


def number(exact):
    exact = Fraction(exact)
    return mpf(exact.numerator) / exact.denominator


def gaussian(eps, r):
    """Phi(-(eps-r)/s) - e^eps·Phi(-(eps+r)/s), s = sqrt(2r), from the complementary error function."""
    s = 2 * mp.sqrt(r)
    return (mp.erfc((eps - r) / s) - mp.exp(eps) * mp.erfc((eps + r) / s)) / 2


def renyi(eps, r, parts=()):
    """The infimum over alpha, convex between the kinks alpha = 2/e: 64 bisections of its slope in log(alpha - 1)."""

    def curve(alpha):
        return alpha * r + sum(n * min(alpha * e * e / 2, e) for e, n in parts)

    def log_delta(alpha):
        return (alpha - 1) * (curve(alpha) - eps) - mp.log(alpha - 1) + alpha * mp.log1p(-1 / alpha)

    kinks = sorted({mp.log(2 / e - 1) for e, _ in parts if e < 2})
    best = mp.inf
    for left, right in itertools.pairwise([mpf(-120), *kinks, mpf(120)]):
        low, high = left, right
        steepness = r + sum(n * e * e / 2 for e, n in parts if 2 / e - 1 > mp.exp((left + right) / 2))
        for _ in range(64):
            t = (low + high) / 2
            alpha = 1 + mp.exp(t)
            if curve(alpha) - eps + (alpha - 1) * steepness + t - mp.log(alpha) < 0:
                low = t
            else:
                high = t
        best = min(best, *(log_delta(1 + mp.exp(t)) for t in (left, low, right)))
    return min(mpf(1), mp.exp(best))


def paper(eps, r):
    if eps <= r:
        return mpf(1)
    return 2 / (eps / r + 1) * mp.exp(-((eps - r) ** 2) / (4 * r))


def response(eps, total, delta=0):
    """The best delta against (total, delta): reveal with probability delta, else randomised response."""
    lie = (1 - delta) / (1 + mp.exp(total))
    p, q = [delta, 0, mp.exp(total) * lie, lie], [0, delta, lie, mp.exp(total) * lie]
    return sum(max(mpf(0), a - mp.exp(eps) * b) for a, b in zip(p, q, strict=True))


FORMS = {"gaussian": gaussian, "renyi": renyi, "paper": paper}


def assert_tight(actual, exact):
    """On the safe side of the exact value, and within 1e-12 of it."""
    exact = min(mpf(1), exact)
    assert mpf(actual) >= exact
    assert mpf(actual) <= exact * (1 + CLOSE) + 2 * SMALLEST


def assert_inverse(eps, delta_of, delta):
    """`delta_of` is decreasing: it is at most delta at eps, and above delta just below eps."""
    assert delta_of(mpf(eps)) <= delta
    if eps > 0:
        assert delta_of(mpf(eps) * (1 - CLOSE)) > delta


def between(low, high):
    """Rationals of floats, uniform in the logarithm."""
    return st.floats(math.log10(low), math.log10(high)).map(lambda x: Fraction(repr(10.0**x)))


@st.composite
def points(draw):
    """(eps, r) where delta is neither 0 nor 1 in half of the cases."""
    r = draw(between(1e-12, 1e4))
    if draw(st.booleans()):
        eps = max(0.0, float(r) + draw(st.floats(-9, 37)) * math.sqrt(2 * r))
        return Fraction(repr(min(eps, 1e5))), r
    return Fraction(repr(min(1e3, draw(st.floats(0, 1)) * 40 * math.sqrt(2 * r)))), r


DELTAS = between(1e-300, 0.5)
PARTS = st.lists(st.tuples(between(1e-6, 1e2), st.integers(1, 1000)), min_size=1, max_size=4, unique_by=lambda p: p[0])


def concentrated(rho, *, noise="gaussian", parts=(), space=LINE):
    g = Guarantee.concentrated(rho, space, gaussian=noise == "gaussian")
    return sum((n * Guarantee.pure(e, space) for e, n in parts), g)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=500, deadline=None, database=None)
@given(point=points(), d=between(1e-3, 1e3))
def test_delta_of_concentrated(form, point, d):
    eps, r = point
    assert_tight(concentrated(r / d**2).delta_at(d, eps, method=form), FORMS[form](number(eps), number(r)))


@pytest.mark.parametrize(("form", "examples"), [("renyi", 150), ("paper", 100), ("gaussian", 120)])
def test_epsilon_of_concentrated(form, examples):
    @settings(max_examples=examples, deadline=None, database=None)
    @given(r=between(1e-12, 1e4), delta=DELTAS)
    def check(r, delta):
        with mp.workdps(80):
            eps = concentrated(r).epsilon_at(1, delta, method=form)
            assert_inverse(eps, lambda e: FORMS[form](e, number(r)), number(delta))

    check()


@settings(max_examples=500, deadline=None, database=None)
@given(total=between(1e-12, 1e3), share=st.fractions(0, Fraction(5, 4)), delta=st.just(Fraction(0)) | DELTAS)
def test_delta_of_pure_and_approximate(total, share, delta):
    eps = total * share
    exact = response(number(eps), number(total), number(delta))
    if delta:
        assert_tight(Guarantee.approximate(total / 3, delta, LINE).delta_at(3, eps), exact)
    else:
        assert_tight(Guarantee.pure(total / 3, LINE).delta_at(3, eps), exact)


@settings(max_examples=100, deadline=None, database=None)
@given(total=between(1e-6, 1e3), delta=DELTAS)
def test_epsilon_of_pure(total, delta):
    eps = Guarantee.pure(total, LINE).epsilon_at(1, delta)
    exact = mp.log(mp.exp(number(total)) - number(delta) * (1 + mp.exp(number(total))))
    assert mpf(eps) >= max(0, exact)
    if exact > total / 1000:
        assert mpf(eps) <= exact * (1 + CLOSE)


@settings(max_examples=200, deadline=None, database=None)
@given(parts=PARTS, r=between(1e-12, 1e4), share=st.floats(0, 1))
def test_delta_of_mixed(parts, r, share):
    exact = [(number(e), n) for e, n in parts]
    size = r + sum(n * min(e * e / 2, e) for e, n in parts)
    eps = Fraction(repr(min(1e3, float(size) + share * 30 * math.sqrt(size))))
    g = concentrated(r, noise="other", parts=parts)
    assert_tight(g.delta_at(1, eps), renyi(number(eps), number(r), exact))
    pure = sum((n * Guarantee.pure(e, LINE) for e, n in parts), 0)
    if len(parts) > 1:
        total = sum(e * n for e, n in exact)
        assert_tight(pure.delta_at(1, eps), min(response(number(eps), total), renyi(number(eps), mpf(0), exact)))


@settings(max_examples=100, deadline=None, database=None)
@given(parts=PARTS, r=between(1e-12, 1e4), delta=DELTAS)
def test_epsilon_of_mixed(parts, r, delta):
    exact = [(number(e), n) for e, n in parts]
    eps = concentrated(r, noise="other", parts=parts).epsilon_at(1, delta)
    assert_inverse(eps, lambda e: renyi(e, number(r), exact), number(delta))


@pytest.mark.parametrize(("eps", "r"), [(0.5, 0.02), (0, 1), (3, 0.7), (30, 12)])
def test_the_gaussian_oracle_is_the_hockey_stick_integral(eps, r):
    eps, r = mpf(eps), mpf(r)
    spread = mp.sqrt(2 * r)  # the loss is normal with mean r and variance 2r
    density = lambda t: mp.exp(-((t - r) ** 2) / (4 * r)) / (spread * mp.sqrt(2 * mp.pi))  # noqa: E731
    steps = [eps + k * spread for k in range(0, 60, 4)]
    assert abs(mp.quad(lambda t: (1 - mp.exp(eps - t)) * density(t), steps) / gaussian(eps, r) - 1) < mpf(10) ** -30


@pytest.mark.parametrize("r", ["0.001", "0.05", "2"])
@pytest.mark.parametrize("eps", ["0.1", "0.5", "2", "8"])
def test_mixed_promises_cover_real_compositions(r, eps):
    """Gaussian noise with k randomised responses, its profile enumerated exactly."""
    for k, e in ((1, Fraction(1, 2)), (7, Fraction(1, 10)), (40, Fraction(1, 50))):
        g = concentrated(r, parts=[(e, k)])
        truth = 1 / (1 + mp.exp(-number(e)))
        weights = [(math.comb(k, j) * truth**j * (1 - truth) ** (k - j), (2 * j - k) * number(e)) for j in range(k + 1)]
        exact = sum(w * gaussian(number(eps) - loss, number(r)) for w, loss in weights)
        alone = sum(w * max(0, 1 - mp.exp(number(eps) - loss)) for w, loss in weights)
        assert all(mpf(g.delta_at(1, eps, method=way)) >= exact for way in ("auto", "gaussian", "renyi", "paper"))
        assert mpf((k * Guarantee.pure(e, LINE)).delta_at(1, eps)) >= alone
        with_extra = g + Guarantee.approximate("0.05", "0.001", LINE)
        assert mpf(with_extra.delta_at(1, eps)) >= number("0.001")


def test_known_values_of_the_paper():
    """E4.2: epsilon = 1, delta = 1e-10, Delta = 10 asks for rho = 0.00899 by the Lemma; what rho = 0.01 gives."""
    root = mp.log(mpf(10) ** 10)
    lemma = lambda rho: rho * 10 + 2 * mp.sqrt(rho * root)  # noqa: E731
    assert lemma(mpf("0.00899")) < 1 < lemma(mpf("0.00900"))
    assert abs(lemma(mpf("0.01")) - mpf("1.060")) < mpf("0.0005")
    exact = {way: concentrated("0.01").as_approximate("1e-10", 10, method=way).epsilon for way in FORMS}
    assert exact["renyi"] == pytest.approx(1.003, abs=5e-4)
    assert exact["gaussian"] == pytest.approx(0.962, abs=5e-4)
    assert exact["renyi"] < exact["paper"] < float(lemma(mpf("0.01")))
    assert concentrated("0.00899").as_approximate("1e-10", 10, method="paper").epsilon <= 1


@pytest.mark.parametrize("parts", [(), [("0.05", 3), ("1/3", 1)]])
def test_orderings(parts):
    g = concentrated("0.02", parts=parts)
    for d, eps in itertools.product(("0.1", 1, 5, 20), ("0.01", "0.3", 1, 4, 20, 100)):
        found = {way: g.delta_at(d, eps, method=way) for way in ("auto", *FORMS)}
        assert found["renyi"] <= found["paper"]
        assert found["auto"] == min(found.values())
        if not parts:
            assert found["gaussian"] <= found["renyi"]


KINDS = {
    "gaussian": concentrated("0.02"),
    "concentrated": concentrated("0.02", noise="other"),
    "with pure": concentrated("0.02", parts=[("0.05", 3), ("1/3", 1)]),
    "pure": 5 * Guarantee.pure("0.05", LINE) + Guarantee.pure("0.2", LINE),
    "approximate": Guarantee.approximate("0.1", "1e-8", LINE) + 3 * Guarantee.pure("0.05", LINE),
    "mixed": concentrated("0.02", parts=[("0.05", 9)]) + Guarantee.approximate("0.1", "1e-8", LINE, radius=50),
}


@pytest.mark.parametrize("kind", KINDS)
def test_monotone_in_distance_and_loss(kind):
    g = KINDS[kind]
    distances = [Fraction(k, 4) for k in (0, 1, 2, 4, 7, 13, 24, 60, 120, 199, 201)]
    for eps in ("0", "0.05", "1", "12"):
        deltas = [g.delta_at(d, eps) for d in distances]
        assert deltas == sorted(deltas)
    for delta in ("1e-7", "0.01"):
        losses = [g.epsilon_at(d, delta) for d in distances]
        assert losses == sorted(losses)
    for d in (1, 20):
        deltas = [g.delta_at(d, Fraction(k, 5)) for k in range(0, 200, 7)]
        assert deltas == sorted(deltas, reverse=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("delta", "radius"), [("1e-7", 3), ("0.05", 40)])
def test_the_radius_is_the_worst_distance(kind, delta, radius):
    g = KINDS[kind]
    for way in ("paper", "renyi", "gaussian") if g.gaussian_rho else ("auto",):
        found = g.as_approximate(delta, radius, method=way)
        epsilon = found.exact_epsilon
        for k in (*range(1, 30), 59, 60):
            d = Fraction(radius * k, 60)
            assert Fraction(g.delta_at(d, epsilon * d, method=way)) <= Fraction(delta) * (1 + Fraction(1, 10**15))
            assert found.loss(d) <= found.loss(radius)
        less = epsilon * radius * (1 - Fraction(1, 10**9))
        assert epsilon == 0 or g.delta_at(radius, less, method=way) > float(delta)


@pytest.mark.parametrize("kind", KINDS)
def test_round_trips(kind):
    g = KINDS[kind]
    for d, delta in itertools.product(("0.5", 10), ("1e-7", "0.001")):
        assert Fraction(g.delta_at(d, Fraction(g.epsilon_at(d, delta)))) <= Fraction(delta) * (1 + Fraction(1, 10**15))
    for d, eps in itertools.product((2, 10), ("1.5", "3")):
        delta = Fraction(g.delta_at(d, eps))
        if 0 < delta < Fraction(1, 2):
            back = g.epsilon_at(d, delta)
            assert back <= float(eps) * (1 + 1e-15)
            assert Fraction(g.delta_at(d, Fraction(back))) <= delta * (1 + Fraction(1, 10**15))


@pytest.mark.parametrize("noise", ["gaussian", "other"])
@pytest.mark.parametrize(("eps", "rho"), [("0.2", "1e-9"), (1000, "1e-12"), (20, 1), (5, "0.1")])
def test_a_delta_too_small_for_floats_is_the_smallest_float_and_quick(noise, eps, rho):
    start = time.perf_counter()
    delta = concentrated(rho, noise=noise).delta_at(1, eps)
    assert delta > 0
    assert delta == 5e-324 or delta > 1e-300
    assert time.perf_counter() - start < 0.5


def test_long_compositions_are_quick():
    start = time.perf_counter()
    many = sum((Guarantee.pure(Fraction(1, 999 + k), LINE) for k in range(300)), Guarantee.concentrated("1e-6", LINE))
    assert 0 < many.delta_at(1, "0.5") < many.delta_at(2, "0.5")
    assert many.epsilon_at(1, "1e-6") < many.epsilon_at(1, "1e-9")
    assert time.perf_counter() - start < 1
