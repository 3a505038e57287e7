"""Fields as waves on periodic boxes: grids, features, integrators, and the motion of an equation."""

from hiddenphysics.spectral.driving import Driving
from hiddenphysics.spectral.features import Features, Gauge, seen_through, values_at, wave_matrix
from hiddenphysics.spectral.freedom import Group, basis, groups_of, process_count
from hiddenphysics.spectral.grid import MIN_POINTS, Box, Fields, Grid, Modes
from hiddenphysics.spectral.integrator import INTEGRATORS, KROGSTAD, Integrator
from hiddenphysics.spectral.motion import Motion
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
    "Modes",
    "Motion",
    "basis",
    "check_solvable",
    "groups_of",
    "process_count",
    "projection",
    "seen_through",
    "values_at",
    "wave_matrix",
]
