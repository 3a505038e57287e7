"""Models of one gap: two snapshots as observations of latent processes at one time, linked by one step."""

from hiddenphysics.models.one_step.one_step import OneStepModel
from hiddenphysics.models.one_step.problem import Problem
from hiddenphysics.models.one_step.start import Sizes
from hiddenphysics.models.one_step.step import LAG, Observation, OneStep, Quantity, derived

__all__ = ["LAG", "Observation", "OneStep", "OneStepModel", "Problem", "Quantity", "Sizes", "derived"]
