"""The flow model: the equation's own motion carries a latent field through all snapshots."""

from hiddenphysics.models.flow.flow import FlowModel
from hiddenphysics.models.flow.learned import LearnedFlow

__all__ = ["FlowModel", "LearnedFlow"]
