"""Is this mechanism what it says? White-box audits of matrices."""

from metricdp.audit._exact import exact
from metricdp.audit._report import AuditReport

__all__ = ["AuditReport", "exact"]
