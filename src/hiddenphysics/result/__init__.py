"""Results: parameters with uncertainty, identified equation, posterior fields, files."""

from hiddenphysics.result.estimate import Estimate
from hiddenphysics.result.result import Result

__all__ = ["Estimate", "Result"]
