"""Release a table of positions under a budget, read the receipt, and see the budget refuse the second time."""

import tempfile
from pathlib import Path

import metricdp
from metricdp import Geographic, Laplace, Ledger, LossLimitExceeded, receipts, release

TRIPS = Path(metricdp.__file__).parent / "data" / "demo_positions.csv"


def main() -> None:
    """Run the example in a temporary folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ledger = Ledger(folder / "budget.ledger", limit="4000 at 1 km")
        mechanism = Laplace(Geographic("m"), epsilon="0.01")
        plan = release.plan(TRIPS, mechanism, ["latitude", "longitude"], subject="person")
        print(plan.describe())
        release.run(plan, folder / "private.csv", ledger=ledger)
        print(receipts.in_words(receipts.read(folder / "private.csv"), folder / "private.csv"))
        try:
            release.run(plan, folder / "again.csv", ledger=ledger)
        except LossLimitExceeded as refusal:
            print("The second release was refused:", refusal)
        print("Left:", ledger.remaining())


if __name__ == "__main__":
    main()
