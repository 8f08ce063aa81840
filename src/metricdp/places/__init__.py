"""Places and traces: releasing all points of one subject, and what may be done with releases for free."""

from metricdp.places._after import cloak, remap, snap
from metricdp.places._trace import release_trace

__all__ = ["cloak", "release_trace", "remap", "snap"]
