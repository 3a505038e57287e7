"""The flow model: the equation's own motion carries a latent field through all snapshots.

The latent lives at the first snapshot, as Fourier features on a box somewhat larger than the data; the flow is
linearised in state and parameters, these come by generalised least squares, the prior by restricted likelihood.
"""

from hiddenphysics.flow.applies import applies
from hiddenphysics.flow.fitted import FlowFit
from hiddenphysics.flow.identify import fit_flow

__all__ = ["FlowFit", "applies", "fit_flow"]
