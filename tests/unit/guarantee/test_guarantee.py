"""The algebra of promises: every identity exact, every float and every text on the safe side."""

from __future__ import annotations

import dataclasses
import math
import pickle
import random
import re
import time
from decimal import Decimal
from fractions import Fraction

import pytest
from mpmath import mp, mpf

from metricdp import Euclidean, FiniteSpace, Geographic, Guarantee, Product, epsilon_for
from metricdp.errors import IncompatibleError, InvalidParameterError, MetricDPError
from metricdp.spaces import Discrete, Hamming, SymmetricDifference
from metricdp.units import METRES

PLANE = Euclidean(2, unit="m")
GLOBE = Geographic("m")
NOT_NUMBERS = [True, None, [1], "", "abc", "0.1m", 1j, "nan", math.nan, math.inf, Decimal("nan"), "-inf", "1/0"]


def random_fraction(rng):
    return Fraction(rng.randint(1, 10**6), rng.choice([1, 7, 10**4, 10**9, 3**20, rng.randint(1, 10**12)]))


def random_guarantee(rng, space=PLANE):
    about = {"status": rng.choice(["proved", "certified", "assumed"]), "assumptions": (rng.choice("abc"),)}
    number, kind = random_fraction(rng), rng.randrange(4)
    if kind == 0:
        return Guarantee.pure(number, space, **about)
    if kind < 3:
        return Guarantee.concentrated(number, space, gaussian=kind == 1, **about)
    delta = Fraction(rng.randint(0, 1000), 10 ** rng.randint(5, 30))
    return Guarantee.approximate(number * rng.randint(0, 1), delta, space, radius=rng.choice([None, number]), **about)


def test_composition_is_associative_and_commutative_to_the_last_digit():
    rng = random.Random(5)
    for _ in range(10_000):
        a, b, c = (random_guarantee(rng) * rng.choice([1, 1, 2, 5]) for _ in range(3))
        assert (a + b) + c == a + (b + c)
        assert a + b == b + a
        assert hash(a + b) == hash(b + a)


def test_what_adds():
    pure = Guarantee.pure("0.1", PLANE) + Guarantee.pure(0.2, PLANE)
    assert (pure.kind, pure.exact_epsilon, pure.delta, pure.rho) == ("pure", Fraction(3, 10), 0.0, None)
    assert pure.epsilon_at(10, 0) == pure.loss(10) == 3.0
    spread = Guarantee.concentrated("1/3", PLANE) + Guarantee.concentrated(0.1, PLANE, gaussian=True)
    assert (spread.kind, spread.exact_rho, spread.epsilon) == ("concentrated", Fraction(13, 30), None)
    assert (spread + Guarantee.pure("0.2", PLANE)).exact_rho == Fraction(13, 30) + Fraction(1, 50)
    near = Guarantee.approximate(1, "1e-9", PLANE, radius=5) + Guarantee.approximate("0.5", "2e-9", PLANE, radius="2.5")
    assert (near.exact_epsilon, near.approximated.delta) == (Fraction(3, 2), Fraction(3, 10**9))
    assert near.radius == (near + Guarantee.approximate(0, 0, PLANE)).radius == 2.5
    assert near.loss("2.51") == near.epsilon_at("2.51", "0.5") == math.inf
    assert (near.loss("2.5"), near.delta_at("2.51", 1000)) == (3.75, 1.0)
    mixed = near + spread
    assert (mixed.kind, mixed.epsilon, mixed.rho) == ("mixed", None, None)
    with pytest.raises(IncompatibleError):
        mixed.loss(1)


def test_n_times_is_the_sum_of_n():
    rng = random.Random(6)
    for _ in range(500):
        g = random_guarantee(rng) + random_guarantee(rng)
        n = rng.randint(2, 9)
        assert n * g == g * n == sum([g] * n)
        assert 1 * g == g
    half = Guarantee.approximate(1, "0.5", PLANE)
    for wrong in (lambda: half + half, lambda: 2 * half, lambda: 0 * half, lambda: -1 * half):
        with pytest.raises(InvalidParameterError):
            wrong()
    for n in (2.0, "2", True, None):
        with pytest.raises(TypeError):
            n * half


def test_units_rescale_exactly_and_come_back():
    assert Guarantee.pure("0.01", GLOBE).in_unit("km").exact_epsilon == 10
    assert Guarantee.concentrated("0.01", GLOBE).in_unit("km").exact_rho == 10_000
    near = Guarantee.approximate("0.01", "1e-9", GLOBE, radius=500).in_unit("km")
    assert near == Guarantee.approximate(10, "1e-9", Geographic("km"), radius="0.5")
    rng = random.Random(7)
    for space in (GLOBE, PLANE, Product(GLOBE, 3, "l2"), Euclidean(3, 1, "ft")):
        for unit in ("km", "mi", "nmi", "ft", "cm", "mm", "m"):
            g = random_guarantee(rng, space) + random_guarantee(rng, space)
            there = g.in_unit(unit)
            assert there.unit == there.space.unit == unit
            assert there.in_unit(space.unit) == g
            assert (g + g).in_unit(unit) == there + there
    for space, unit in ((PLANE, "furlong"), (PLANE, ""), (PLANE, None), (PLANE, ["m"]), (Hamming(3), "m")):
        with pytest.raises(MetricDPError):
            Guarantee.pure(1, space).in_unit(unit)


def test_distances_of_a_finite_space_follow_the_unit():
    g = Guarantee.pure(1, FiniteSpace(["a", "b"], [[0, 2], [2, 0]], unit="km")).in_unit("m")
    assert g.loss(g.space.distance("a", "b")) == 2


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 10**6, 10**12 + 1])
def test_other_product_metrics(n):
    rng = random.Random(n)
    for combine, target, power in (("sum", "max", 2), ("sum", "l2", 1), ("l2", "max", 1)):
        g = random_guarantee(rng, Product(GLOBE, n, combine)) + random_guarantee(rng, Product(GLOBE, n, combine))
        h = g.under(target)
        assert h.space == Product(GLOBE, n, target)
        assert (h.gaussian_rho, h.other_rho) == (g.gaussian_rho * n**power, g.other_rho * n**power)
        epsilons = [(a, b) for (a, _), (b, _) in zip(g.parts, h.parts, strict=True)]
        if g.approximated and g.approximated.radius:
            epsilons.append((1 / g.approximated.radius, 1 / h.approximated.radius))
        for before, after in epsilons:
            factor = after / before
            assert n**power <= factor**2 < n**power * (1 + Fraction(1, 2**62))
            assert factor == n or power == 1
        assert h.under("sum") == dataclasses.replace(h, space=Product(GLOBE, n, "sum"))  # free
    free = Guarantee.pure(1, Product(GLOBE, None)).under("l2").under("sum").under("sum")
    assert free == Guarantee.pure(1, Product(GLOBE, None, "sum"))
    for combine, target in (("sum", "max"), ("sum", "l2"), ("l2", "max"), ("max", "median")):
        with pytest.raises(MetricDPError):
            Guarantee.pure(1, Product(GLOBE, None, combine)).under(target)
    with pytest.raises(IncompatibleError):
        Guarantee.pure(1, GLOBE).under("max")


DIFFERENT = [PLANE, Euclidean(3, unit="m"), Euclidean(2), Euclidean(2, 1, "m"), Euclidean(2, unit="km"), GLOBE]
DIFFERENT += [Geographic("km"), Hamming(3), SymmetricDifference(), Discrete(["a", "b"]), Product(GLOBE, 2)]


@pytest.mark.parametrize("one", DIFFERENT, ids=repr)
def test_other_spaces_and_units_do_not_add(one):
    for other in DIFFERENT:
        if other == one:
            assert (Guarantee.pure(1, one) + Guarantee.pure(1, pickle.loads(pickle.dumps(other)))).epsilon == 2
            continue
        with pytest.raises(TypeError) as caught:
            Guarantee.pure(1, one) + Guarantee.pure(1, other)
        assert isinstance(caught.value, IncompatibleError)


def test_the_weakest_status_and_all_assumptions_stay():
    for statuses in (("proved", "certified"), ("certified", "assumed"), ("assumed", "proved"), ("proved", "proved")):
        a, b = (Guarantee.pure(1, PLANE, status=s, assumptions=(s, "x"), proof="p") for s in statuses)
        assert (a + b).status == (b + a).status == max(statuses, key=("proved", "certified", "assumed").index)
        assert set((a + b).assumptions) == {*statuses, "x"}
        assert {(3 * a).status, a.in_unit("km").status, a.as_concentrated().status} == {statuses[0]}
        assert a.as_approximate(0).assumptions == a.assumptions


def test_to_concentrated():
    g = 3 * Guarantee.pure("0.1", PLANE) + Guarantee.concentrated("0.01", PLANE, gaussian=True)
    h = g.as_concentrated()
    assert (h.parts, h.gaussian_rho, h.other_rho) == ((), Fraction(1, 100), Fraction(3, 200))
    assert h.as_concentrated() == h
    with pytest.raises(IncompatibleError):
        Guarantee.approximate(1, "1e-9", PLANE).as_concentrated()


def test_the_exact_gaussian_form_is_for_gaussian_noise_only():
    for wrong in (Guarantee.pure("0.1", PLANE), Guarantee.concentrated(1, GLOBE)):
        with pytest.raises(IncompatibleError):
            wrong.as_approximate("1e-6", 1, method="gaussian")
    noise = Guarantee.concentrated("0.01", PLANE, gaussian=True)
    other = Guarantee.concentrated("0.01", PLANE)
    exact, bound = (g.as_approximate("1e-10", 10).exact_epsilon for g in (noise, other))
    assert exact == noise.as_approximate("1e-10", 10, method="gaussian").exact_epsilon < bound
    assert bound == other.as_approximate("1e-10", 10, method="renyi").exact_epsilon
    assert noise.in_unit("km").as_approximate("1e-10", "0.01").exact_epsilon == pytest.approx(float(exact) * 1000)


def test_radius_of_unbounded_and_bounded_spaces():
    for space in (PLANE, Product(GLOBE, None), SymmetricDifference()):
        with pytest.raises(InvalidParameterError):
            Guarantee.concentrated(1, space).as_approximate("1e-6")
        assert Guarantee.pure(1, space).as_approximate("1e-6").radius is None
    whole = Guarantee.concentrated("1e-14", GLOBE).as_approximate("1e-6")
    assert whole.radius == GLOBE.diameter
    with mp.workdps(40):
        assert mpf(repr(whole.radius)) >= mp.pi * mpf("6371008.8")
    assert Guarantee.concentrated("0.1", Hamming(4)).as_approximate("1e-6").radius == 4
    assert (1000 * Guarantee.pure("0.01", Discrete([0, 1]))).as_approximate("1e-6", 1).epsilon < 1.5
    near = Guarantee.approximate(1, "1e-9", PLANE, radius=2)
    for g, delta, radius in ((Guarantee.concentrated(1, PLANE), 0, 1), (near, "1e-8", 3), (near, "1e-10", 1)):
        with pytest.raises(MetricDPError):
            g.as_approximate(delta, radius)


def test_floats_are_rounded_up_however_they_are_read():
    """A float is read as the decimal it prints as, so both the binary number and that decimal must be safe."""
    rng = random.Random(8)
    for _ in range(3000):
        x, y = random_fraction(rng), random_fraction(rng)
        g, h = Guarantee.pure(x, PLANE), Guarantee.concentrated(x, PLANE)
        delta = Fraction(rng.randint(1, 10**9), rng.randint(10**9 + 1, 10**15))
        near = Guarantee.approximate(x, delta, PLANE, radius=y)
        views = (g.epsilon, x), (h.rho, x), (near.delta, delta), (g.loss(y), x * y), (h.loss(y), x * y * y)
        for view, exact in views:
            assert exact <= Fraction(repr(view)) <= exact * (1 + Fraction(1, 2**51))
            assert Fraction(view) >= exact
        assert Fraction(repr(near.radius)) <= y
    just_above = Fraction(1, 2) + Fraction(1, 10**80)
    assert Guarantee.pure(just_above, PLANE).epsilon_at(1, 0) > 0.5
    assert Guarantee.approximate(1, just_above, PLANE).delta_at(1, 1) > 0.5
    assert Guarantee.pure("1e-70", PLANE).delta_at(1, 0) > 0


@pytest.mark.parametrize("bad", [*NOT_NUMBERS, 0, -1, -0.5, "0", Fraction(-1, 3)], ids=repr)
def test_bad_parameters(bad):
    g = Guarantee.pure(1, PLANE)
    makers = [lambda: Guarantee.pure(bad, PLANE), lambda: Guarantee.concentrated(bad, PLANE)]
    makers += [lambda: epsilon_for(loss=bad, radius=1), lambda: epsilon_for(loss=1, radius=bad)]
    if bad is not None:
        makers += [lambda: epsilon_for(odds=bad, radius=1), lambda: g.as_approximate("1e-9", bad)]
        makers += [lambda: Guarantee.approximate(1, "1e-9", PLANE, radius=bad)]
    if bad not in (0, "0"):
        makers += [lambda: Guarantee.approximate(bad, "1e-9", PLANE), lambda: Guarantee.approximate(1, bad, PLANE)]
        makers += [lambda: g.loss(bad), lambda: g.delta_at(bad, 1), lambda: g.delta_at(1, bad)]
        makers += [lambda: g.epsilon_at(bad, "0.1"), lambda: g.epsilon_at(1, bad), lambda: g.as_approximate(bad)]
    for make in makers:
        with pytest.raises(MetricDPError):
            make()


def test_more_bad_parameters():
    g = Guarantee.pure(1, PLANE)
    calls = [lambda s=s: Guarantee.pure(1, s) for s in (None, "m", {}, Euclidean)] + [lambda: Guarantee.pure(PLANE, 1)]
    calls += [lambda d=d: Guarantee.approximate(1, d, PLANE) for d in (1, "1.5")] + [lambda: g.as_approximate(1)]
    calls += [lambda k=k: epsilon_for(radius=1, **k) for k in ({}, {"loss": 1, "odds": 2}, {"odds": 1}, {"odds": 0.5})]
    calls += [lambda k=k: Guarantee.pure(1, PLANE, **k) for k in ({"status": "true"}, {"assumptions": "abc"})]
    for call in [*calls, lambda: g.delta_at(1, 1, method="best"), lambda: g.as_approximate(0, 1, method="gaussian")]:
        with pytest.raises(MetricDPError):
            call()


def test_frozen_and_picklable():
    rng = random.Random(9)
    for _ in range(50):
        g = random_guarantee(rng) + random_guarantee(rng)
        assert pickle.loads(pickle.dumps(g)) == g
    for name in ("parts", "space", "epsilon", "other"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(g, name, None)


class Costly(FiniteSpace):
    diameter = property(lambda _: 1 / 0)


def test_a_promise_asks_its_space_for_no_diameter():
    assert (3 * Guarantee.pure(1, Costly(["a", "b"], [[0, 1], [1, 0]]))).epsilon == 3


def test_epsilon_for_is_rounded_down():
    rng = random.Random(10)
    for _ in range(3000):
        loss, radius = random_fraction(rng), random_fraction(rng)
        epsilon = epsilon_for(loss=loss, radius=radius)
        assert loss * (1 - Fraction(1, 2**50)) <= Fraction(repr(epsilon)) * radius <= loss
        assert Guarantee.pure(epsilon, PLANE).exact_epsilon * radius <= loss
    for odds in (2, "1.2", math.e, 1e6, "1.0000001"):
        epsilon = epsilon_for(odds=odds, radius=3)
        assert mpf(0) <= mp.log(mpf(repr(odds).strip("'"))) - 3 * mpf(repr(epsilon)) < mpf(10) ** -14


EXPLAINED = [Guarantee.pure("0.01", GLOBE), Guarantee.pure("1/3", Geographic("km")), Guarantee.pure("7", Hamming(9))]
EXPLAINED += [Guarantee.pure("1.1e-7", Euclidean(2)), Guarantee.approximate("0.01", "1.0000004e-9", GLOBE, radius=4)]
EXPLAINED += [Guarantee.approximate(100, "1e-9", PLANE, radius="0.001"), Guarantee.approximate(0, "1e-9", GLOBE)]
EXPLAINED += [Guarantee.approximate("1e-5", "1e-9", GLOBE, radius="1234567.81"), Guarantee.concentrated("2e-5", GLOBE)]
EXPLAINED += [Guarantee.concentrated("0.5", PLANE, gaussian=True), 30 * Guarantee.pure("3e-8", PLANE) + EXPLAINED[5]]


@pytest.mark.parametrize("g", EXPLAINED, ids=lambda g: g.summary())
def test_explain_says_nothing_too_good(g):
    start = time.perf_counter()
    text = str(g)
    assert time.perf_counter() - start < 1
    assert text == g.explain()
    assert all(part in text for part in ("Not promised", g.summary(), f"per {g.unit}" if g.unit else ""))
    number = r"([\d.]+(?:e[+-]\d+)?)"
    what = "(?: an observer's odds can change at most| the probability of any outcome grows at most)?"
    found = re.findall(rf"ithin {number} ?(\w*?){what} {number}-fold", text)
    assert found or g.exact_epsilon == 0
    for d, unit, odds in found:
        distance = Fraction(d) * (METRES[unit] / METRES[g.unit] if unit in METRES else 1)
        loss = g.loss(distance) if g.rho is None else g.epsilon_at(distance, "1e-6")
        assert loss <= math.log(float(odds))
    for delta in re.findall(rf"with probability {number}", text):
        assert g.approximated is None or Fraction(delta) >= g.approximated.delta
    if g.radius is not None:
        assert Fraction(re.search(rf", within {number}", text)[1]) <= g.approximated.radius
    if g.space == GLOBE:
        stretch = Fraction("6371008.8") / Fraction("6335439.327")  # smallest radius of curvature of WGS84
        assert Fraction(re.search(rf"at most {number} times", text)[1]) >= stretch ** (1 if g.rho is None else 2)
