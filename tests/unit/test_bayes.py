"""Observers and remapping against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import metricdp as md
from metricdp import bayes, design

SPACE = md.FiniteSpace.from_points(np.random.default_rng(2).random((10, 2)))


def channel_of(seed):
    rng = np.random.default_rng(seed)
    rows = rng.random((10, 10)) + 0.05
    return md.Channel.from_matrix(SPACE, rows / rows.sum(axis=1, keepdims=True)).certify()


@given(st.integers(0, 10**6))
def test_the_adversary_is_what_enumeration_gives(seed):
    channel, prior = channel_of(seed), np.random.default_rng(seed).dirichlet(np.ones(10))
    report = bayes.adversary(channel, prior)
    m, d = channel.matrix(), SPACE.matrix()
    error = success = unknown = 0.0
    for k in range(10):
        joint = [prior[i] * m[i, k] for i in range(10)]
        error += min(sum(joint[i] * d[i, g] for i in range(10)) for g in range(10))
        success += max(joint)
        unknown -= sum(q * np.log2(q / sum(joint)) for q in joint)
    assert report.expected_error == pytest.approx(error)
    assert report.success == pytest.approx(success)
    assert report.min_entropy_leakage == pytest.approx(np.log2(success / prior.max()))
    assert report.conditional_entropy == pytest.approx(unknown)
    assert report.stay == pytest.approx(float(prior @ np.diag(m)))
    assert report.conditional_entropy <= report.prior_entropy + 1e-9
    assert report.expected_error <= report.prior_error + 1e-12
    assert "min-entropy" in str(report)


@given(st.integers(0, 10**6))
def test_remapping_never_costs_more_nor_loses_more(seed):
    channel, prior = channel_of(seed), np.random.default_rng(seed).dirichlet(np.ones(10))
    better = bayes.remap(channel, prior)
    assert better.certificate.epsilon <= channel.certificate.epsilon
    assert better.loss(prior=prior) <= channel.loss(prior=prior) * (1 + 1e-12)
    assert better.loss(prior=prior) == pytest.approx(bayes.adversary(channel, prior).expected_error)
    again = bayes.remap(better, prior)
    assert again.loss(prior=prior) == pytest.approx(better.loss(prior=prior))


def test_remap_to_other_outputs_by_cost():
    channel = channel_of(1)
    cost = np.random.default_rng(0).random((10, 2))
    mapped = bayes.remap(channel, cost=cost, outputs=["yes", "no"])
    assert set(mapped.outputs) <= {"yes", "no"}
    with pytest.raises(md.IncompatibleError):
        bayes.remap(channel, outputs=["yes", "no"])
    with pytest.raises(md.InvalidParameterError):
        bayes.adversary(channel, [0.5] * 10)


def test_an_optimal_channel_needs_no_remap():
    channel = design.solve(design.Problem(SPACE, 3), "optimal").certify()
    assert bayes.remap(channel).loss() == pytest.approx(channel.loss(), rel=1e-9)


def test_losses_by_every_objective():
    channel = channel_of(4)
    each = (channel.matrix() * SPACE.matrix()).sum(axis=1)
    assert channel.loss() == pytest.approx(each.mean())
    assert channel.loss("worst") == pytest.approx(each.max())
    assert channel.loss(("quantile", 0.95)) == pytest.approx(np.quantile(each, 0.95))
    prior = np.r_[0.9, np.full(9, 0.1 / 9)]
    assert channel.loss(("quantile", 0.5), prior=prior) == pytest.approx(each[0])
    with pytest.raises(md.InvalidParameterError):
        channel.loss("best")
