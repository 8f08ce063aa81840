"""What a concentrated promise means as (epsilon, delta) within a radius, by three conversions."""

from metricdp import Euclidean, Guarantee

SPACE = Euclidean(2, unit="m")


def main() -> None:
    """Print the table."""
    week = Guarantee.concentrated("5e-8", SPACE, gaussian=True) * 140
    print(f"140 releases: {week.summary()}")
    for radius in (100, 300, 1000, 3000):
        row = [week.as_approximate("1e-9", radius, method=method) for method in ("paper", "renyi", "gaussian")]
        print(f"within {radius:5d} m: epsilon per m " + "  ".join(f"{g.epsilon:.6f}" for g in row))
    pure = 140 * Guarantee.pure("0.0003", SPACE)
    print(f"pure: {pure.summary()}; at 100 m {pure.loss(100):.3f}, or {pure.epsilon_at(100, 1e-9):.3f} but for 1e-9")


if __name__ == "__main__":
    main()
