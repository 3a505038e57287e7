"""One inference problem: a linear model, its kernels and the data, with the likelihood by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hiddenphysics.errors import ModelError
from hiddenphysics.forward import LinearModel
from hiddenphysics.inference import likelihood
from hiddenphysics.inference.data import Data
from hiddenphysics.inference.parameters import Layout
from hiddenphysics.kernels import Kernel


@dataclass(frozen=True)
class Problem:
    """The negative log marginal likelihood of data under a model, as a function of named numbers in natural units.

    Names are the equation's parameters, then ``u.variance``, ``u.length_x``, … for each latent, then
    ``noise.variance``.
    """

    layout: Layout
    data: Data

    @classmethod
    def of(cls, model: LinearModel, kernels: Mapping[str, Kernel], data: Data) -> Problem:
        """Put a problem together, refusing kernels that cannot be differentiated as the model's operators do."""
        for latent in model.latents:
            kernels[latent].check_smooth_enough(model.highest_order(latent), latent)
            if any(o.quantity.operator.fractional(latent) for o in model.observations):
                kernels[latent].check_fractional(latent)
        return cls(Layout(model, tuple((latent, kernels[latent]) for latent in model.latents)), data)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all unknowns."""
        return self.layout.names

    @property
    def size(self) -> int:
        """How many values were observed."""
        return sum(values.shape[0] for values in self.data.values)

    def negative_log_likelihood(self, values: Mapping[str, float]) -> float:
        """Return −log p(y | values)."""
        return float(likelihood.value(self.layout, self._vector(values), self.data))

    def gradient(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return the derivative of `negative_log_likelihood` in every named number, in natural units."""
        _, gradient = self.objective(self._vector(values))
        natural = gradient / self.layout.slopes(values)
        return dict(zip(self.names, natural.tolist(), strict=True))

    def objective(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        """Return value and gradient at an unconstrained vector: what an optimiser minimises."""
        value, gradient = likelihood.value_and_gradient(self.layout, vector, self.data)
        return float(value), np.asarray(gradient)

    def _vector(self, values: Mapping[str, float]) -> np.ndarray:
        missing, extra = set(self.names) - set(values), set(values) - set(self.names)
        if missing or extra:
            raise ModelError(
                f"Values were given for {', '.join(sorted(values)) or 'nothing'}; needed are exactly "
                f"{', '.join(self.names)}."
            )
        not_positive = [n for n in self.layout.positive if not values[n] > 0]
        if not_positive:
            raise ModelError(f"{not_positive[0]} = {values[not_positive[0]]} was given; it must be positive.")
        return self.layout.vector(values)
