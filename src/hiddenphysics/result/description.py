"""What the description of a saved result must look like, and its numbers: checked before a result is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiddenphysics.errors import DataError
from hiddenphysics.learning import WORDS, Status
from hiddenphysics.loader import (
    Mismatch,
    finite,
    integer,
    listing,
    mapping,
    number,
    one_of,
    optional,
    record,
    text,
)
from hiddenphysics.models import MODELS, Arrays
from hiddenphysics.priors import NOISE

FORMAT = 6
SEALED = (5, 6)
EARLIER = (3, 4, 5)
"""Format 5 knew one experiment. Formats 3 and 4 have no seal. Format 3 also repeated the verdict and the kernels among
what the flow has learned."""


CRITICISM = record(
    {
        "p_value": finite,
        "checks": listing(record({"name": one_of(tuple(WORDS)), "p_value": finite, "alike": finite})),
        "missing": optional(text),
        "structure": finite,
        "of_change": finite,
        "widening": finite,
    },
    {"allowed": finite, "far_off": finite, "moved": finite},
)
"""See `Criticism`."""


HETEROGENEITY = record(
    {
        "p_value": finite,
        "statistic": finite,
        "degrees": integer,
        "apart": finite,
        "shares": listing(
            record({"name": text, "estimate": mapping(number), "std": mapping(number), "statistic": finite})
        ),
    }
)
"""See `Heterogeneity`."""

PROVENANCE = record({"units": mapping(text), "start": text, "notes": listing(text)})
"""See `Provenance`; of formats before 6 there is one for the only experiment."""


def check_description(told: dict[str, Any]) -> None:
    """Refuse a description that no result of ours has."""
    if told.get("format") not in (*EARLIER, FORMAT):
        known = ", ".join(map(str, (*EARLIER, FORMAT)))
        raise DataError(
            f"its format is {told.get('format')!r:.20}; this version reads {known}. Identify again."
        )
    record(
        {
            "text": text,
            "constants": mapping(finite),
            "bounds": mapping(listing(number, length=2)),
            "coordinates": listing(one_of(("x", "y", "z"))),
            "fields": listing(text),
            "columns": listing(text),
            "model": one_of(tuple(MODELS)),
            "values": mapping(number),
            "reason": text,
            "evidence": number,
            "status": one_of([str(status) for status in Status]),
            "explanation": text,
            "jitter": number,
            "evaluations": integer,
            "seconds": number,
            "learned": mapping(lambda value, place: None),
        },
        {
            "criticism": optional(CRITICISM),
            "heterogeneity": optional(HETEROGENEITY),
            "provenance": PROVENANCE,
            "experiments": listing(record({"name": text, "provenance": PROVENANCE})),
            "chains": optional(record({"names": listing(text), "draws": listing(listing(listing(finite)))})),
        },
    )(told, "the description")
    names = [one["name"] for one in told.get("experiments", [{"name": ""}])]
    if not names or len(set(names)) < len(names):
        raise Mismatch(names, "the description.experiments", "a list of experiments with names of their own")
    if not told["fields"]:
        raise Mismatch(told["fields"], "the description.fields", "a list of some names")


def check_numbers(told: dict[str, Any], columns: Arrays, covariance: np.ndarray) -> None:
    """Refuse arrays of other shapes than the description says, and a covariance that is none.

    Of fits whose numbers are not to be used the numbers may be missing.
    """
    shapes = {array.shape for array in columns.values()}
    if len(shapes) != 1 or len(next(iter(shapes))) != 1:
        raise DataError(
            f"its columns have the shapes {sorted(shapes)!s:.100}; each needs one value for every point."
        )
    size, values = len(told["values"]), np.array([*told["values"].values()], float)
    if covariance.shape != (size, size) or covariance.dtype.kind != "f":
        raise DataError(f"its covariance has the shape {covariance.shape}; {(size, size)} is needed.")
    if not told["values"].get(NOISE, -1.0) >= 0:
        raise DataError(f"its {NOISE} is {told['values'].get(NOISE)}; a number, 0 or more, is needed.")
    usable = not Status(told["status"]).is_bad
    if usable and not (np.isfinite(values).all() and not np.isnan(covariance).any()):
        raise DataError("it says that its numbers can be used, and some of them are not finite.")
    if (np.diagonal(covariance) < 0).any():
        raise DataError("its covariance has negative variances.")
