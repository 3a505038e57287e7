"""Experiments that were fitted together, each as a result of its own: common parameters, own data and fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, overload

from hiddenphysics.models import MODELS
from hiddenphysics.snapshots import Experiments

if TYPE_CHECKING:
    from hiddenphysics.result.result import Result


@dataclass(frozen=True, repr=False)
class FittedExperiments(Sequence["Result"]):
    """Every experiment of a fit by name, or counted from 0."""

    runs: Experiments
    results: tuple[Result, ...]

    @overload
    def __getitem__(self, index: int | str) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Result]: ...
    def __getitem__(self, index: int | str | slice) -> Result | Sequence[Result]:
        if isinstance(index, slice):
            return self.results[index]
        return self.results[self.runs.number(index)]

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the experiments."""
        return self.runs.names

    def __repr__(self) -> str:
        return f"<{len(self)} experiments: {', '.join(self.names)}>"


def fitted_experiments(result: Result) -> FittedExperiments:
    """Take a fit apart: the same numbers for each experiment, with what was learned of its fields."""
    runs, model = result.runs, MODELS[result.model]
    if len(runs) == 1:
        return FittedExperiments(runs, (result,))
    each = (
        replace(
            result,
            runs=Experiments.single(run, name),
            learned=model.part(result.learned, number),
            heterogeneity=None,
            recording=None,
        )
        for number, (name, run) in enumerate(zip(runs.names, runs, strict=True))
    )
    return FittedExperiments(runs, tuple(each))
