"""Linear programs by HiGHS: one call, and nothing but an optimum counts as an answer."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from metricdp.design._problem import Floats
from metricdp.errors import MissingExtraError, SolverFailed

TOLERANCE = 1e-10
"""Primal and dual feasibility, on programs scaled to sizes near 1."""


def linear_program(
    table: csr_array, objective: Floats, lower: Floats, upper: Floats, seconds: float, free: list[int] | None = None
) -> tuple[Floats, Floats] | None:
    """Minimise objective·x over x >= 0 (but `free`) and lower <= table·x <= upper: x and row duals; None out of time.

    Raises:
        SolverFailed: any end but an optimum or the time limit.
    """
    try:
        import highspy
    except ImportError:
        raise MissingExtraError(
            "HiGHS cannot be imported (it cannot share a process with OR-Tools).",
            "highspy in a process without ortools.",
            "Import metricdp.design before ortools goes in, or use another process; method='kernel' needs no solver.",
        ) from None
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = table.shape[1], table.shape[0]
    least = np.zeros(table.shape[1])
    least[free or []] = -np.inf
    model.col_cost_, model.col_lower_ = objective, least
    model.col_upper_ = np.full(table.shape[1], np.inf)
    model.row_lower_, model.row_upper_ = lower, upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = table.indptr
    model.a_matrix_.index_ = table.indices
    model.a_matrix_.value_ = table.data
    tried = []
    for solver in ("ipm", "simplex"):
        highs = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in (
            ("output_flag", False),
            ("threads", 1),
            ("solver", solver),
            ("small_matrix_value", 1e-12),
            ("primal_feasibility_tolerance", TOLERANCE),
            ("dual_feasibility_tolerance", TOLERANCE),
            ("time_limit", seconds),
        ):
            highs.setOptionValue(name, value)
        highs.passModel(model)
        highs.run()
        status = highs.getModelStatus()
        if status == highspy.HighsModelStatus.kTimeLimit:
            return None
        solution = highs.getSolution()
        x, duals = np.array(solution.col_value), np.array(solution.row_dual)
        if status == highspy.HighsModelStatus.kOptimal and np.isfinite(x).all() and np.isfinite(duals).all():
            return x, duals
        tried.append(f"{solver}: {highs.modelStatusToString(status)}")
    raise SolverFailed(
        f"HiGHS found no optimum ({'; '.join(tried)}).",
        "A program within its tolerances.",
        "Use method='kernel', or another unit of cost.",
    )
