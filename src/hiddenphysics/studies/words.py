"""Numbers and counts as a reader likes them."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, log10
from typing import Any

from hiddenphysics.studies.study import AUTHORS, FLOW, MIDPOINT, PAPER

MODELS = {
    AUTHORS: "paper’s method and search",
    PAPER: "paper’s method, redone",
    MIDPOINT: "midpoint",
    FLOW: "flow",
}
"""Model -> its name in a report."""
AS_PLANNED = ("converged", "searched")
"""How fits end that need no word."""


def number(value: float) -> str:
    """Write a number with four decimals, or five where it is small: as the paper does, and a digit more."""
    if abs(value) >= 1000 or (value and abs(value) < 1e-4):
        return _minus(f"{value:.2e}")
    return _minus(f"{value:.5f}" if abs(value) < 0.05 else f"{value:.4f}")


def percent(value: float) -> str:
    """Write a share with two digits.

    >>> percent(0.00123), percent(0.0456), percent(1.7)
    ('0.12 %', '4.6 %', '170 %')
    """
    hundred = 100 * value
    if hundred < 0.0095:
        return "< 0.01 %" if hundred else "0 %"
    for limit, digits in ((0.995, 2), (9.95, 1)):
        if hundred < limit:
            return f"{hundred:.{digits}f} %"
    return f"{hundred:.0f} %" if hundred < 1000 else "> 1000 %"


def digits(value: float) -> str:
    """Write a positive number with two digits that count, however small.

    >>> digits(0.000912), digits(0.31), digits(12.34)
    ('0.00091', '0.31', '12')
    """
    places = 0 if value >= 10 or not value else 1 - floor(log10(value))
    return f"{value:.{places}f}"


def signed(value: float) -> str:
    """Write a number with its sign and two decimals.

    >>> signed(0.456), signed(-1.0)
    ('+0.46', '−1.00')
    """
    return _minus(f"{value:+.2f}")


def quartiles(value: Mapping[str, Any]) -> str:
    """Write the two quartiles in brackets, or nothing where there are none."""
    if value["first"] is None:
        return ""
    return f"[{number(value['first'])}, {number(value['third'])}]"


def coverage(value: Mapping[str, Any]) -> str:
    """Say how many of the 95 % intervals hold the truth."""
    return f"{100 * value['coverage']:.0f} % covered"


def counted(found: Mapping[str, Any]) -> str:
    """Say how many fits were made and how they ended, where not all as they should."""
    return ", ".join([str(found["asked"]), *ended(found, "still to do")])


def ended(found: Mapping[str, Any], left: str) -> list[str]:
    """Say how many fits ended otherwise than they should, in each way, and how many are `left`."""
    others = [f"{n} {s.replace('_', ' ')}" for s, n in found["statuses"].items() if s not in AS_PLANNED]
    missing = found["asked"] - sum(found["statuses"].values())
    return others + ([f"{missing} {left}"] if missing else [])


def score_sentence(model: str, counts: Mapping[str, int]) -> str:
    """Say how a model compares with the paper."""
    name = MODELS.get(model, model)
    if model == AUTHORS:  # it is there to meet the paper, not to do better
        return (
            f"{name[0].upper()}{name[1:]}: {counts['within']} of {counts['quartiles']} medians between the paper’s "
            "quartiles."
        )
    text = f"{name[0].upper()}{name[1:]}: {counts['closer']} of {counts['numbers']} medians"
    text += " closer to the truth than the paper’s"
    if counts["quartiles"]:
        text += f", {counts['narrower']} of {counts['quartiles']} ranges between the quartiles narrower"
    return text + "."


def duration(seconds: float) -> str:
    """Write a time span.

    >>> duration(42.0), duration(150.0), duration(8000.0)
    ('42 s', '2.5 min', '2.2 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _minus(text: str) -> str:
    return text.replace("-", "−")
