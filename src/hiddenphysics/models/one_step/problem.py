"""One inference problem: one step in time, its priors and the data, with the likelihood by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from hiddenphysics.errors import ModelError
from hiddenphysics.models.one_step import likelihood
from hiddenphysics.models.one_step.places import Data
from hiddenphysics.models.one_step.step import OneStep
from hiddenphysics.priors import Kernel, Prior, Unknowns


@dataclass(frozen=True)
class Problem:
    """The negative log marginal likelihood of data under a model, as a function of named numbers in natural units.

    Names are the equation's parameters, then ``u.variance``, ``u.length_x``, … for each latent, then
    ``noise.variance``.
    """

    step: OneStep
    unknowns: Unknowns
    data: Data

    @classmethod
    def of(cls, step: OneStep, kernels: Mapping[str, Kernel], data: Data) -> Problem:
        """Put a problem together, refusing kernels that cannot be differentiated as the step's operators do."""
        for latent in step.latents:
            kernels[latent].check_smooth_enough(step.highest_order(latent), latent)
            if any(o.quantity.operator.fractional(latent) for o in step.observations):
                kernels[latent].check_fractional(latent)
        prior = Prior(tuple((latent, kernels[latent]) for latent in step.latents), step.coordinates)
        return cls(step, Unknowns(step.parameters, prior), data)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all unknowns."""
        return self.unknowns.names

    @property
    def size(self) -> int:
        """How many values were observed."""
        return sum(values.shape[0] for values in self.data.values)

    @property
    def log_units(self) -> float:
        """Σ log of its field's standard deviation over all values: e^this times a density of values has no units."""
        by_field: dict[str, list[np.ndarray]] = {}
        for observation, values in zip(self.step.observations, self.data.values, strict=True):
            by_field.setdefault(observation.field, []).append(np.asarray(values))
        every = [np.concatenate(values) for values in by_field.values()]
        return float(sum(values.size * np.log(np.std(values)) for values in every))

    def negative_log_likelihood(self, values: Mapping[str, float]) -> float:
        """Return −log p(y | values)."""
        return float(likelihood.value(self.step, self.unknowns, self._vector(values), self.data))

    def gradient(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return the derivative of `negative_log_likelihood` in every named number, in natural units."""
        _, gradient = self.objective(self._vector(values))
        natural = gradient / self.unknowns.slopes(values)
        return dict(zip(self.names, natural.tolist(), strict=True))

    def objective(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        """Return value and gradient at an unconstrained vector: what an optimiser minimises."""
        value, gradient = likelihood.value_and_gradient(self.step, self.unknowns, vector, self.data)
        return float(value), np.asarray(gradient)

    def inverse_and_weights(self, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return K⁻¹ (N, N) and K⁻¹r (N,) of the residuals r, at an unconstrained vector."""
        return likelihood.inverse_and_weights(self.step, self.unknowns, vector, self.data)

    def hessian(
        self, vector: np.ndarray, scale: np.ndarray, check: Callable[[], None] = lambda: None
    ) -> tuple[np.ndarray, float]:
        """Return second derivatives at an unconstrained vector, and the jitter; see `likelihood.hessian`."""
        return likelihood.hessian(self.step, self.unknowns, vector, self.data, scale, check)

    def _vector(self, values: Mapping[str, float]) -> np.ndarray:
        missing, extra = set(self.names) - set(values), set(values) - set(self.names)
        if missing or extra:
            raise ModelError(
                f"Values were given for {', '.join(sorted(values)) or 'nothing'}; needed are exactly "
                f"{', '.join(self.names)}."
            )
        not_positive = [n for n in self.unknowns.prior.names if not values[n] > 0]
        if not_positive:
            raise ModelError(f"{not_positive[0]} = {values[not_positive[0]]} was given; it must be positive.")
        return self.unknowns.vector(values)
