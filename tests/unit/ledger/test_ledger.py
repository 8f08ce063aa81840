"""The ledger: exact sums, refusals before anything is written, several processes, and crashes."""

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import time
from fractions import Fraction

import pytest

import metricdp as md

KM = md.Geographic("km")
CRASHES = int(os.environ.get("METRICDP_CRASHES", "50"))


def pure(epsilon, space=KM):
    return md.Guarantee.pure(epsilon, space)


def test_charges_add_exactly_and_refuse_at_the_limit(tmp_path):
    ledger = md.Ledger(tmp_path / "l", limit=pure(1))
    for _ in range(10):
        ledger.charge(pure("0.1"), "tenth")
    assert ledger.spent().exact_epsilon == 1
    assert ledger.remaining() is None
    with pytest.raises(md.LossLimitExceeded):
        ledger.charge(pure("1e-30"), "a hair")
    assert len(ledger.history()) == 10
    assert ledger.history()[0].what == "tenth"
    assert ledger.history()[0].subject is None


def test_subjects_have_accounts_of_their_own(tmp_path):
    ledger = md.Ledger(tmp_path / "l", limit="2 at 1 km")
    ledger.charge(pure(2), "all of it", subject="ann")
    ledger.charge(pure(2), "all of it", subject="bob")
    ledger.charge(pure(2), "all of it")
    with pytest.raises(md.LossLimitExceeded):
        ledger.charge(pure("0.001"), "more", subject="ann")
    assert ledger.subjects() == [None, "ann", "bob"]
    assert ledger.remaining("carl").epsilon == 2
    assert ledger.spent("carl") is None


def test_the_limit_is_fixed_when_the_file_is_made(tmp_path):
    path = tmp_path / "l"
    md.Ledger(path, limit=pure(1)).charge(pure("0.5"), "half")
    assert md.Ledger(path, limit=pure("1.0")).remaining().exact_epsilon == Fraction(1, 2)
    assert md.Ledger(path).limit.exact_epsilon == 1
    for other in (pure(2), pure(1, md.Geographic("m")), md.Guarantee.concentrated(1, KM)):
        with pytest.raises(md.FileRefusedError, match="another limit"):
            md.Ledger(path, limit=other)
    assert path.stat().st_mode & 0o777 == 0o600


def test_limits_are_equal_by_their_numbers(tmp_path):
    half = pure("0.5")
    md.Ledger(tmp_path / "a", limit=half + half)
    assert md.Ledger(tmp_path / "a", limit=pure(1)).limit.exact_epsilon == 1
    md.Ledger(tmp_path / "b", limit=md.Guarantee.concentrated("0.1", KM, gaussian=True))
    assert md.Ledger(tmp_path / "b", limit=md.Guarantee.concentrated("0.1", KM)).history() == []


def test_a_check_writes_nothing(tmp_path):
    ledger = md.Ledger(tmp_path / "l", limit=pure(1))
    ledger.check(pure(1))
    with pytest.raises(md.LossLimitExceeded):
        ledger.check(pure(2))
    assert ledger.history() == []


def test_kinds_of_limits(tmp_path):
    rho = md.Guarantee.concentrated("0.01", KM, gaussian=True)
    strict = md.Ledger(tmp_path / "pure", limit=pure(1))
    with pytest.raises(md.IncompatibleError, match="delta"):
        strict.charge(rho, "gaussian")
    assert strict.history() == []
    concentrated = md.Ledger(tmp_path / "rho", limit=md.Guarantee.concentrated("0.05", KM))
    concentrated.charge(pure("0.2"), "pure counts epsilon²/2")
    assert concentrated.spent().as_concentrated().exact_rho == Fraction(2, 100)
    assert concentrated.remaining().exact_rho == Fraction(3, 100)
    concentrated.charge(rho, "gaussian")
    assert concentrated.remaining().exact_rho == Fraction(2, 100)
    with pytest.raises(md.LossLimitExceeded):
        concentrated.charge(pure("0.3"), "too much")
    with pytest.raises(md.IncompatibleError):
        concentrated.charge(md.Guarantee.approximate("0.01", "1e-9", KM), "no rho follows")
    both = md.Ledger(tmp_path / "both", limit=md.Guarantee.approximate(1, "1e-6", KM, radius=5))
    both.charge(rho, "gaussian")
    both.charge(pure("0.1"), "pure")
    both.charge(md.Guarantee.approximate("0.1", "1e-7", KM), "approximate")
    assert 0 < both.remaining().epsilon < 0.8
    with pytest.raises(md.LossLimitExceeded):
        both.charge(pure("0.9"), "too much")
    with pytest.raises(md.LossLimitExceeded):
        both.charge(md.Guarantee.approximate("0.1", "1e-6", KM), "too much delta")
    with pytest.raises(md.LossLimitExceeded):
        both.charge(md.Guarantee.approximate("0.1", "1e-7", KM, radius=1), "too short a reach")


def test_wrong_charges_are_refused(tmp_path):
    ledger = md.Ledger(tmp_path / "l", limit=pure(1))
    with pytest.raises(md.IncompatibleError, match="in_unit"):
        ledger.charge(pure("0.001", md.Geographic("m")), "other unit")
    with pytest.raises(md.IncompatibleError):
        ledger.charge(pure("0.001", md.Euclidean(2)), "other space")
    for bad in (0.5, None, "0.5"):
        with pytest.raises(md.IncompatibleError):
            ledger.charge(bad, "no guarantee")
    for bad in ("", "  ", None, 5):
        with pytest.raises(md.InvalidParameterError):
            ledger.charge(pure("0.1"), bad)
    for bad in ("", 5):
        with pytest.raises(md.IncompatibleError):
            ledger.charge(pure("0.1"), "x", subject=bad)
    assert ledger.history() == []


def test_wrong_limits_and_files_are_refused(tmp_path):
    for bad in ("2", "2 at", "2 at 1", "two at 1 km", "2 at 1 word", "-2 at 1 km", "2 at 0 km"):
        with pytest.raises(md.InvalidParameterError):
            md.Ledger(tmp_path / "l", limit=bad)
    for bad in (5, 0.5, ["2 at 1 km"]):
        with pytest.raises(md.IncompatibleError):
            md.Ledger(tmp_path / "l", limit=bad)
    with pytest.raises(md.IncompatibleError, match="mixed"):
        md.Ledger(tmp_path / "l", limit=md.Guarantee.approximate(1, 0, KM) + md.Guarantee.concentrated(1, KM))
    with pytest.raises(md.FileRefusedError, match="no such ledger"):
        md.Ledger(tmp_path / "none")
    (tmp_path / "text").write_text("this is not a data base, but it is longer than its header of a hundred bytes" * 9)
    with pytest.raises(md.FileRefusedError) as caught:
        md.Ledger(tmp_path / "text", limit=pure(1))
    assert isinstance(caught.value, OSError)
    with pytest.raises(md.FileRefusedError):
        md.Ledger(tmp_path / "missing folder" / "l", limit=pure(1))
    with pytest.raises(md.FileRefusedError):
        md.Ledger(tmp_path, limit=pure(1))
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE x (y)")
    other.commit()
    other.close()
    with pytest.raises(md.FileRefusedError, match="not a ledger"):
        md.Ledger(tmp_path / "other.db", limit=pure(1))


def test_finite_spaces_are_known_by_content(tmp_path):
    space = md.Discrete(["a", "b"])
    ledger = md.Ledger(tmp_path / "l", limit=pure(3, space))
    ledger.charge(pure(1, md.Discrete(["a", "b"])), "same content")
    with pytest.raises(md.IncompatibleError):
        ledger.charge(pure(1, md.Discrete(["a", "c"])), "other content")
    stored = md.Ledger(tmp_path / "l").limit.space
    for use in (lambda: stored.distance("a", "b"), lambda: stored.contains("a"), lambda: stored.with_unit("m")):
        with pytest.raises(md.IncompatibleError):
            use()


def _spend(path, barrier, results):
    barrier.wait()
    ledger = md.Ledger(path, limit=pure(1))
    done = 0
    for _ in range(200):
        try:
            ledger.charge(pure("0.002"), "one of many")
            done += 1
        except md.LossLimitExceeded:
            pass
    results.put(done)


def test_many_processes_make_and_spend_one_ledger(tmp_path):
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(8), context.Queue()
    workers = [context.Process(target=_spend, args=(tmp_path / "l", barrier, results)) for _ in range(8)]
    for worker in workers:
        worker.start()
    total = sum(results.get(timeout=120) for _ in workers)
    for worker in workers:
        worker.join()
    assert total == 500
    assert md.Ledger(tmp_path / "l").spent().exact_epsilon == 1
    assert len(md.Ledger(tmp_path / "l").history()) == 500


LOOP = """
import sys
import metricdp as md
ledger = md.Ledger(sys.argv[1], limit=md.Guarantee.pure(1000000, md.Geographic("km")))
charge = md.Guarantee.pure(1, md.Geographic("km"))
print("ready", flush=True)
while True:
    ledger.charge(charge, "before the release")
    print("released", flush=True)  # stands for the release
"""


def crash_once(path, delay):
    """How many releases a process made before it was killed."""
    process = subprocess.Popen([sys.executable, "-c", LOOP, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    output = process.stdout.read()
    process.wait()
    process.stdout.close()
    return output.count("released")


def test_killed_processes_never_release_without_a_charge(tmp_path):
    path, released = tmp_path / "l", 0
    for k in range(CRASHES):
        released += crash_once(path, (k % 17) * 0.003)
        charged = int(md.Ledger(path).spent().exact_epsilon) if md.Ledger(path).spent() else 0
        assert released <= charged <= released + k + 1
        assert len(md.Ledger(path).history()) == charged
