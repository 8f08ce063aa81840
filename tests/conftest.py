"""Shared by all tests: hypothesis runs the same examples every time unless METRICDP_FRESH is set."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fixed", derandomize=True, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("fresh", deadline=None, print_blob=True)
settings.load_profile("fresh" if os.environ.get("METRICDP_FRESH") else "fixed")
