"""Fields as waves on periodic boxes: grids, features, integrators, and the motion of an equation."""

from hiddenphysics.spectral.driving import Driving
from hiddenphysics.spectral.features import Features, Gauge, Mirror, seen_through, values_at, wave_matrix
from hiddenphysics.spectral.freedom import Group, basis, groups_of, process_count
from hiddenphysics.spectral.grid import MIN_POINTS, Box, Fields, Grid, Modes, fast_length, padded_shape
from hiddenphysics.spectral.integrator import INTEGRATORS, KROGSTAD, Integrator
from hiddenphysics.spectral.motion import Motion, Unready
from hiddenphysics.spectral.projection import projection
from hiddenphysics.spectral.solvability import check_solvable

__all__ = [
    "INTEGRATORS",
    "KROGSTAD",
    "MIN_POINTS",
    "Box",
    "Driving",
    "Features",
    "Fields",
    "Gauge",
    "Grid",
    "Group",
    "Integrator",
    "Mirror",
    "Modes",
    "Motion",
    "Unready",
    "basis",
    "check_solvable",
    "fast_length",
    "groups_of",
    "padded_shape",
    "process_count",
    "projection",
    "seen_through",
    "values_at",
    "wave_matrix",
]
