"""For tests and reproducible runs only: seeded and scripted sources of bytes."""

from metricdp.testing._entropy import RecordingEntropy, ScriptedEntropy, SeededEntropy

__all__ = ["RecordingEntropy", "ScriptedEntropy", "SeededEntropy"]
