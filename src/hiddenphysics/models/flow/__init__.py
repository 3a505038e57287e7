"""The flow model: the equation's own motion carries a latent field through all snapshots.

The latent lives at the first snapshot, as Fourier features on a box somewhat larger than the data; the flow is
linearised in state and parameters, these come by generalised least squares, the prior by restricted likelihood.
"""

from hiddenphysics.models.flow.flow import FlowModel
from hiddenphysics.models.flow.learned import LearnedFlow

__all__ = ["FlowModel", "LearnedFlow"]
