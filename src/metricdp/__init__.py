"""metricdp: metric differential privacy, private as returned.

    import metricdp as md

    mechanism = md.Laplace(md.Geographic("m"), epsilon=0.01)
    private = mechanism.release([[48.8566, 2.3522]])
    print(mechanism.guarantee)

Names resolve on first use, so that importing the package loads NumPy and SciPy only.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Certificate": "channel",
    "Channel": "channel",
    "Discrete": "spaces",
    "Entropy": "entropy",
    "EntropyError": "errors",
    "Euclidean": "spaces",
    "FileRefusedError": "errors",
    "FiniteSpace": "spaces",
    "Gaussian": "mechanisms",
    "Geographic": "spaces",
    "Guarantee": "guarantee",
    "Hamming": "spaces",
    "IncompatibleError": "errors",
    "InvalidParameterError": "errors",
    "KeyedEntropy": "entropy",
    "Laplace": "mechanisms",
    "Ledger": "ledger",
    "LossLimitExceeded": "errors",
    "Mechanism": "mechanisms",
    "MetricDPError": "errors",
    "MissingExtraError": "errors",
    "NotAMetricError": "errors",
    "NotCertified": "errors",
    "OutOfSpaceError": "errors",
    "Product": "spaces",
    "SolverFailed": "errors",
    "Space": "spaces",
    "SymmetricDifference": "spaces",
    "SystemEntropy": "entropy",
    "epsilon_for": "guarantee",
    "metric_closure": "spaces",
}
_ROOMS = (
    "audit",
    "bayes",
    "channel",
    "design",
    "entropy",
    "errors",
    "guarantee",
    "ledger",
    "mechanisms",
    "places",
    "plots",
    "queries",
    "receipts",
    "spaces",
    "testing",
)

__all__ = [
    "Certificate",
    "Channel",
    "Discrete",
    "Entropy",
    "EntropyError",
    "Euclidean",
    "FileRefusedError",
    "FiniteSpace",
    "Gaussian",
    "Geographic",
    "Guarantee",
    "Hamming",
    "IncompatibleError",
    "InvalidParameterError",
    "KeyedEntropy",
    "Laplace",
    "Ledger",
    "LossLimitExceeded",
    "Mechanism",
    "MetricDPError",
    "MissingExtraError",
    "NotAMetricError",
    "NotCertified",
    "OutOfSpaceError",
    "Product",
    "SolverFailed",
    "Space",
    "SymmetricDifference",
    "SystemEntropy",
    "__version__",
    "epsilon_for",
    "metric_closure",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"metricdp.{_HOMES[name]}"), name)
    elif name in _ROOMS:
        value = import_module(f"metricdp.{name}")
    else:
        raise AttributeError(f"module 'metricdp' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS})
