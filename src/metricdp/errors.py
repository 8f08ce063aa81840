"""Every refusal of the library, as one tree.

    MetricDPError
    ├── InvalidParameterError   (ValueError)    a public parameter is out of range
    ├── OutOfSpaceError         (ValueError)    a record does not lie in the space
    ├── NotAMetricError         (ValueError)    a distance breaks the laws of a metric
    ├── IncompatibleError       (TypeError)     spaces, units or kinds do not fit together
    ├── LossLimitExceeded       (RuntimeError)  the ledger refuses a charge
    ├── NotCertified            (RuntimeError)  a table of probabilities is not what was asked for
    ├── SolverFailed            (RuntimeError)  a solver stopped without an answer
    ├── EntropyError            (RuntimeError)  the source of randomness is broken
    ├── FileRefusedError        (OSError)       a file cannot be read, written or trusted
    └── MissingExtraError       (ImportError)   an optional dependency is not installed

A message has three parts: what was refused, what would be accepted, and what to do.
It names the position of a record, never its value.
"""

from __future__ import annotations


class MetricDPError(Exception):
    """Base of all refusals; `refused`, `accepted` and `remedy` are its three parts."""

    def __init__(self, refused: str, accepted: str, remedy: str) -> None:
        super().__init__(refused, accepted, remedy)
        self.refused = refused
        self.accepted = accepted
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.refused} Accepted: {self.accepted} What to do: {self.remedy}"


class InvalidParameterError(MetricDPError, ValueError):
    """A public parameter is out of range, missing, or given twice."""


class OutOfSpaceError(MetricDPError, ValueError):
    """A record does not lie in the public domain; the message names its position only."""


class NotAMetricError(MetricDPError, ValueError):
    """A distance is not symmetric, not positive, or breaks the triangle inequality."""


class IncompatibleError(MetricDPError, TypeError):
    """Two things do not fit: other spaces, other units, other kinds, a wrong type."""


class LossLimitExceeded(MetricDPError, RuntimeError):
    """The ledger refuses a charge; nothing was sampled."""


class NotCertified(MetricDPError, RuntimeError):
    """A table of probabilities has no certificate, or cannot have the one asked for."""


class SolverFailed(MetricDPError, RuntimeError):
    """A solver stopped without an answer that can be used; nothing was released."""


class EntropyError(MetricDPError, RuntimeError):
    """The source of randomness returned too little, or the same bits for ever."""


class FileRefusedError(MetricDPError, OSError):
    """A file is missing, malformed, changed while it was read, or cannot be written."""

    def __str__(self) -> str:
        return MetricDPError.__str__(self)


class MissingExtraError(MetricDPError, ImportError):
    """An optional dependency is needed; the message names the extra to install."""

    def __str__(self) -> str:
        return MetricDPError.__str__(self)
