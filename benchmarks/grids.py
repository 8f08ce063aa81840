"""78 small designs against qif: private as returned? at which loss? in which time?

Command: python benchmarks/grids.py [--quick] [--large]      (qif 1.6.0 joins where it is installed; it need not be)

Unit grids 3x3, 4x4, 5x5; 13 values of epsilon; uniform and Dirichlet(1) priors. "Private as returned" compares the exact loss of the
returned matrix, in rationals, with epsilon(1 + 1e-9): rounding of a last bit is forgiven to both.
"""

import argparse
import itertools
import math
import time
from fractions import Fraction

import numpy as np

import metricdp as md
from metricdp import audit, design

EPSILONS = ("0.1", "0.25", "0.5", "1", "1.5", "2", "3", "4", "5", "6", "8", "10", "12")


def settings(quick):
    for side in (3,) if quick else (3, 4, 5):
        space = md.FiniteSpace.from_points(list(itertools.product(range(side), repeat=2)))
        n = len(space)
        for prior in (np.full(n, 1 / n), np.random.default_rng(0).dirichlet(np.ones(n))):
            for epsilon in EPSILONS:
                yield space, epsilon, prior


def by_qif(space, epsilon, prior):
    import qif

    d, e = space.matrix(), float(epsilon)
    return np.asarray(
        qif.mechanism.d_privacy.min_loss_given_d(prior, len(space), lambda a, b: e * d[a, b], lambda a, b: d[a, b])
    )


def large():
    for side in (6, 7):
        space = md.FiniteSpace.from_points(list(itertools.product(range(side), repeat=2)))
        prior = np.full(len(space), 1 / len(space))
        start = time.process_time()
        channel = design.solve(design.Problem(space, 1), "optimal").certify()
        middle = time.process_time()
        matrix = by_qif(space, "1", prior)
        end = time.process_time()
        cost = float(prior @ (matrix * space.matrix()).sum(axis=1))
        print(
            f"{side}x{side}: metricdp {channel.loss():.10f} in {middle - start:.1f} CPU s (certified), qif {cost:.10f} in "
            f"{end - middle:.1f} CPU s, ratio {(end - middle) / (middle - start):.1f}; "
            f"qif's loss is {audit.exact(np.maximum(matrix, 0), space).epsilon:.6g}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--large", action="store_true", help="instead: 6x6 and 7x7 at epsilon 1, seconds of both")
    options = parser.parse_args()
    if options.large:
        large()
        return
    try:
        import qif  # noqa: F401

        peer = True
    except ImportError:
        peer = False
    ours = {"private": 0, "gap": 0.0, "seconds": 0.0}
    theirs = {"private": 0, "infinite": 0, "above": 0, "failed": 0, "seconds": 0.0}
    count, cheaper = 0, 0.0
    for space, epsilon, prior in settings(options.quick):
        count += 1
        start = time.process_time()
        solution = design.solve(design.Problem(space, Fraction(epsilon), prior=prior), "optimal")
        channel = solution.certify()
        ours["seconds"] += time.process_time() - start
        ours["private"] += audit.exact(channel.matrix(), space).epsilon <= float(epsilon) * (1 + 1e-9)
        assert channel.certificate.epsilon <= float(epsilon)
        ours["gap"] = max(ours["gap"], solution.gap)
        if not peer:
            continue
        start = time.process_time()
        try:
            matrix = by_qif(space, epsilon, prior)
        except Exception:  # noqa: BLE001  (RuntimeError, or whatever its solver raises)
            theirs["failed"] += 1
            continue
        finally:
            theirs["seconds"] += time.process_time() - start
        loss = audit.exact(np.maximum(matrix, 0), space).epsilon
        kind = "private" if loss <= float(epsilon) * (1 + 1e-9) else "infinite" if math.isinf(loss) else "above"
        theirs[kind] += 1
        if kind == "private":
            cost = float(prior @ (matrix * space.matrix()).sum(axis=1))
            cheaper = max(cheaper, channel.expected_cost(space.matrix(), prior) / cost - 1)
    print(f"{count} settings.")
    print(
        f"metricdp: {ours['private']} private as returned, largest certified gap {ours['gap']:.1e}, {ours['seconds']:.1f} CPU s"
    )
    if peer:
        print(
            f"qif: {theirs['private']} private as returned, {theirs['infinite']} infinite, {theirs['above']} above, "
            f"{theirs['failed']} failed, {theirs['seconds']:.1f} CPU s; where private, ours costs at most {cheaper:.1e} more"
        )


if __name__ == "__main__":
    main()
