"""Rows stored as exceptions."""

import pickle

import numpy as np
import pytest

import metricdp as md
from metricdp.channel import Sparse
from metricdp.testing import SeededEntropy

SPACE = md.FiniteSpace.from_points(np.arange(40)[:, None] * 1.0)


def banded():
    rows = np.where(abs(np.subtract.outer(np.arange(40), np.arange(40))) < 4, 0.0, 2.0**-12)
    np.fill_diagonal(rows, 1.0)
    rows[rows == 0] = 2.0**-5
    np.fill_diagonal(rows, 0)
    np.fill_diagonal(rows, 1 - rows.sum(axis=1))
    return md.Channel.from_matrix(SPACE, rows).certify()


def test_it_is_the_same_channel_in_fewer_numbers(tmp_path):
    table = banded()
    sparse = table.compressed()
    assert isinstance(sparse.law, Sparse)
    assert np.array_equal(sparse.weights, table.weights)
    assert len(sparse.law.values) < 300
    assert sparse.certificate.epsilon == table.certificate.epsilon
    assert sparse.loss() == table.loss()
    table.save(tmp_path / "t.npz")
    sparse.save(tmp_path / "s.npz")
    assert (tmp_path / "s.npz").stat().st_size < (tmp_path / "t.npz").stat().st_size
    assert md.Channel.load(tmp_path / "s.npz") == sparse == pickle.loads(pickle.dumps(sparse))


@pytest.mark.parametrize("count", [5, 39, 40, 500])
def test_it_draws_as_the_table_does(count):
    table = banded()
    x = np.random.default_rng(0).integers(40, size=count)
    if count >= 40:
        x = np.sort(x)
    drawn = table.compressed().release(x.tolist(), entropy=SeededEntropy(1))
    assert drawn == table.release(x.tolist(), entropy=SeededEntropy(1))


@pytest.mark.parametrize(
    "change",
    [
        {"starts": np.array([0, 5])},
        {"columns": np.array([0, 0])},
        {"columns": np.array([0, 9])},
        {"columns": np.array([-1, 1])},
        {"values": np.array([1, 2])},
        {"tail": np.array([], dtype=np.uint64)},
    ],
)
def test_malformed_rows_are_refused(change):
    good = {
        "starts": np.array([0, 2]),
        "columns": np.array([0, 1]),
        "values": np.array([1, 2], dtype=np.uint64),
        "tail": np.array([0, 0], dtype=np.uint64),
    }
    assert Sparse(**good).shape == (1, 2)
    with pytest.raises(md.IncompatibleError):
        Sparse(**good | change)
