"""Every method over every kind of space: certified at the epsilon asked, by an independent rational audit as well."""

import numpy as np
import pytest

import metricdp as md
from metricdp import audit, design
from oracles import edits, exact_epsilon

RNG = np.random.default_rng(7)
WORDS = sorted({"".join(RNG.choice(list("abc"), size=RNG.integers(2, 5))) for _ in range(30)})[:12]


SPACES = {
    "plane": md.FiniteSpace.from_points(RNG.random((11, 2))),
    "100 dimensions": md.FiniteSpace.from_points(RNG.normal(size=(10, 100))),
    "norm 1": md.FiniteSpace.from_points(RNG.random((9, 2)), norm=1),
    "line of 10s": md.FiniteSpace.from_points(np.arange(8)[:, None] * 10.0),
    "ring": md.FiniteSpace.from_graph([(i, (i + 1) % 9, 1.0) for i in range(9)]),
    "discrete": md.Discrete(range(7)),
    "edit distance": md.FiniteSpace(WORDS, [[edits(a, b) for b in WORDS] for a in WORDS]),
    "a near pair": md.FiniteSpace.from_points(np.vstack([RNG.random((6, 2)), [[0.5, 0.5], [0.5, 0.5 + 1e-9]]])),
    "one": md.FiniteSpace.from_points([[3.0]]),
    "two": md.FiniteSpace.from_points([[3.0], [4.0]]),
}


@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
@pytest.mark.parametrize("method", design.METHODS)
@pytest.mark.parametrize("name", SPACES)
def test_it_is_certified_at_the_epsilon_asked(name, method, epsilon):
    space = SPACES[name]
    problem = design.Problem(space, epsilon)
    try:
        solution = design.solve(problem, method)
    except md.NotCertified:
        assert method == "tight"
        return
    channel = solution.certify()
    matrix = channel.matrix()
    assert channel.certificate.epsilon <= float(epsilon)
    assert exact_epsilon(channel.weights, space.matrix()) <= channel.certificate.epsilon * (1 + 1e-14)
    assert audit.exact(matrix, space).epsilon <= float(epsilon) * (1 + 1e-9) + 1e-4 * (name == "a near pair")
    assert abs(matrix.sum(axis=1) - 1).max() < 1e-12
    assert matrix.min() > 0
    assert solution.lower_bound <= solution.value
    assert channel.loss() == pytest.approx(solution.value, rel=1e-2, abs=1e-9)
    assert channel.release(space.labels[0]) in space.labels
