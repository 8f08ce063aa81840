"""Sources of randomness."""

import numpy as np
import pytest

from metricdp import Entropy, Euclidean, Laplace, entropy
from metricdp.errors import EntropyError, IncompatibleError, InvalidParameterError
from metricdp.testing import RecordingEntropy, ScriptedEntropy, SeededEntropy


def test_sources_follow_the_protocol_and_say_whether_they_repeat():
    sources = [entropy.SystemEntropy(), entropy.KeyedEntropy(b"k" * 32), SeededEntropy(1), ScriptedEntropy(b"abc")]
    assert all(isinstance(source, Entropy) and len(source.read(5)) == 5 for source in sources)
    assert [source.reproducible for source in sources] == [False, True, True, True]
    assert RecordingEntropy().reproducible is False
    assert "k" * 8 not in repr(sources[1])


def test_keyed_streams_repeat_and_differ_by_secret_label_and_position():
    first = entropy.KeyedEntropy(b"s" * 16, "a")
    again = entropy.KeyedEntropy(b"s" * 16, "a")
    blocks = [first.read(32), first.read(32)]
    assert blocks == [again.read(32), again.read(32)]
    others = [entropy.KeyedEntropy(b"t" * 16, "a"), entropy.KeyedEntropy(b"s" * 16, "b"), again.stream("a")]
    assert len({*blocks, *(other.read(32) for other in others)}) == 5


def test_seeded_runs_are_the_same_and_system_runs_are_not():
    mechanism = Laplace(Euclidean(2), 1)
    x = np.zeros((50, 2))
    runs = [mechanism.release(x, entropy=SeededEntropy(seed)) for seed in (1, 1, 2)]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])
    assert not np.array_equal(mechanism.release(x), mechanism.release(x))


def test_bytes_are_spread_evenly():
    counts = np.bincount(np.frombuffer(entropy.KeyedEntropy(b"0" * 16).read(1 << 20), np.uint8), minlength=256)
    assert ((counts - 4096) ** 2 / 4096).sum() < 400  # chi-square with 255 degrees: probability below 1e-8


def test_bad_sources_are_refused():
    class Short:
        reproducible = False

        def read(self, count):
            return b"\1" * (count // 2)

    mechanism = Laplace(Euclidean(1), 1)
    with pytest.raises(EntropyError):
        mechanism.release([[0.0]], entropy=Short())
    with pytest.raises(IncompatibleError):
        mechanism.release([[0.0]], entropy=7)
    with pytest.raises(IncompatibleError):
        mechanism.release([[0.0]], entropy=np.random.default_rng(1))
    with pytest.raises(InvalidParameterError):
        entropy.KeyedEntropy(b"short")
    with pytest.raises(IncompatibleError):
        entropy.KeyedEntropy("text of sixteen b")
    for seed in (-1, 2**64, True, 1.5):
        with pytest.raises(InvalidParameterError):
            SeededEntropy(seed)
    for seed in (-1, "1", True):
        with pytest.raises(InvalidParameterError):
            entropy.public(seed)


def test_public_choices_repeat():
    assert entropy.public(3).integers(1 << 40) == entropy.public(3).integers(1 << 40)


def test_recording_counts_what_was_read():
    recorder = RecordingEntropy(SeededEntropy(5))
    Laplace(Euclidean(1), 1).release(np.zeros((100, 1)), entropy=recorder)
    assert recorder.count >= 400
    assert recorder.reproducible


def test_threads_share_a_stream_without_repeats():
    import threading

    stream = entropy.KeyedEntropy(b"t" * 16)
    blocks: list[bytes] = []
    workers = [threading.Thread(target=lambda: blocks.extend(stream.read(16) for _ in range(20_000))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(set(blocks)) == len(blocks) == 80_000
    with pytest.raises(InvalidParameterError):
        stream.read(-1)
    with pytest.raises(IncompatibleError):
        stream.stream(None)
