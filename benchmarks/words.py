"""Words of GloVe (100 dimensions): loss and stay share of three designs at the same verified epsilon.

Command: python benchmarks/words.py --data FOLDER [--sizes 1000,3000] [--epsilons 1,2] [--shares] [--sample]

FOLDER holds glove_6B_100d_40k.npz (words by frequency). `--sample` draws words at random instead of taking the most frequent.
`--shares` adds the epsilon at which each method keeps 30 % and 50 % of words. Every line is certified on its integers.
"""

import argparse
import resource
import time
from pathlib import Path

import numpy as np

import metricdp as md
from metricdp import design

METHODS = ("exponential", "calibrated", "kernel")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--sizes", default="1000,3000,6000,20000,40000")
    parser.add_argument("--epsilons", default="1,1.5,2,3,4")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--shares", action="store_true")
    options = parser.parse_args()
    with np.load(Path(options.data) / "glove_6B_100d_40k.npz") as file:
        vectors = file["vectors"].astype(np.float64)
    methods = options.methods.split(",")
    print("| n | epsilon | method | mean loss | stay | verified epsilon | design s | certify s | CPU s | peak MB |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for n in map(int, options.sizes.split(",")):
        rows = np.random.default_rng(0).choice(len(vectors), n, replace=False) if options.sample else np.arange(n)
        space = md.FiniteSpace.from_points(vectors[rows], unit="GloVe")
        for epsilon in options.epsilons.split(","):
            for method in methods:
                start, cpu = time.perf_counter(), time.process_time()
                solution = design.solve(design.Problem(space, epsilon), method)
                middle = time.perf_counter()
                channel = solution.certify()
                end, used = time.perf_counter(), time.process_time() - cpu
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
                print(
                    f"| {n:,} | {epsilon} | {method} | {solution.value:.4g} | {solution.stay:.2%} | "
                    f"{channel.certificate.epsilon:.6f} | {middle - start:.1f} | {end - middle:.1f} | {used:.1f} | {peak:,} |",
                    flush=True,
                )
        if options.shares:
            for share in ("0.3", "0.5"):
                found = [design.epsilon_for(space, stay=share, method=m, tolerance=5e-3) for m in methods]
                print(
                    f"| {n:,} | keeps {share} | "
                    + ", ".join(f"{m} {e:.3f}" for m, e in zip(methods, found, strict=True))
                    + " |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
