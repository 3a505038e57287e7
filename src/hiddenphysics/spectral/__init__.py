"""Fields as waves on periodic boxes: grids, features, integrators, and the motion of an equation."""

from hiddenphysics.spectral.driving import Driving
from hiddenphysics.spectral.features import Features, Gauge, seen_through, values_at, wave_matrix
from hiddenphysics.spectral.grid import MIN_POINTS, Box, Fields, Grid, Modes
from hiddenphysics.spectral.integrator import INTEGRATORS, KROGSTAD, Integrator
from hiddenphysics.spectral.motion import Motion
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
    "Integrator",
    "Modes",
    "Motion",
    "check_solvable",
    "seen_through",
    "values_at",
    "wave_matrix",
]
