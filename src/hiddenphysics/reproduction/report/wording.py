"""What the report says, in Markdown and in HTML alike: numbers, counts, distances to the bound, shortfalls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import floor, log10
from typing import Any

from hiddenphysics.reproduction.study import AUTHORS, FLOW, MIDPOINT, PAPER, Study

MODELS = {
    AUTHORS: "paper’s method and search",
    PAPER: "paper’s method, redone",
    MIDPOINT: "midpoint",
    FLOW: "flow",
}
"""Model -> its name in a report."""
AS_PLANNED = ("converged", "searched")
"""How fits end of which the report says nothing."""

CRAMER_RAO_TITLE = "How close the flow comes to the limit"
CRAMER_RAO_NOTE = (
    "Errors are of the identified pairs; weak are those whose fit says that the data do not determine the parameters, "
    "lost those without success. The bound is that of Cramér and Rao: 1 is as good as the noise allows. It and the "
    "error are root mean squares over pairs; the bias is the median of error over its own stated deviation."
)
CRAMER_RAO_HEAD = (
    "pairs",
    "weak",
    "lost",
    "median error, %",
    "within 1 %",
    "error / bound",
    "bias / deviation",
    "covered by 95 %",
    "median seconds",
)

SHORTFALL_TITLE = "Where the paper is closer"


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


def counted(fits: Mapping[str, Any]) -> str:
    """Say how many fits were made and how they ended, where not all as they should."""
    return ", ".join([str(fits["asked"]), *ended(fits, "still to do")])


def ended(fits: Mapping[str, Any], left: str) -> list[str]:
    """Say how many fits ended otherwise than they should, in each way, and how many are `left`."""
    others = [f"{n} {s.replace('_', ' ')}" for s, n in fits["statuses"].items() if s not in AS_PLANNED]
    missing = fits["asked"] - sum(fits["statuses"].values())
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


def cramer_rao_lines(table: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield noise levels in words and the numbers under `CRAMER_RAO_HEAD`, for statistics that the flow has fitted."""
    if len(table["rows"]) > 1 or not any(cell["noise"] for cell in table["cells"]):
        return
    for cell in table["cells"]:
        if FLOW in cell["models"]:
            yield cell["column"], _cramer_rao_numbers(cell["models"][FLOW]["limit"])


def _cramer_rao_numbers(limit: Mapping[str, Any]) -> list[str]:
    lost = limit["pairs"] - limit["identified"] - limit["weak"]

    def each(key: str, write: Callable[[float], str]) -> str:
        values = [p[key] for p in limit["parameters"].values()]
        return ", ".join(map(write, values)) if values and None not in values else "–"

    return [
        str(limit["pairs"]),
        str(limit["weak"]),
        str(lost),
        each("error", lambda share: digits(100 * share)),
        each("within", percent),
        each("ratio", "{:.2f}".format),
        each("bias", signed),
        each("coverage", percent),
        "–" if limit["seconds"] is None else f"{limit['seconds']:.1f}",
    ]


def shortfall_lead(tables: Mapping[str, Any]) -> str:
    """Say in how many cases our default models do better; nothing where there is none to compare."""
    all_of = [study["default"] for study in tables["studies"]]
    medians, ranges = (sum(each[what] for each in all_of) for what in ("medians", "ranges"))
    if not medians:
        return ""
    missed, wider = (sum(len(each[what]) for each in all_of) for what in ("not_closer", "not_narrower"))
    used = dict.fromkeys(MODELS[each["model"]] for each in all_of if each["medians"])
    names = ", or where it cannot be integrated the ".join(used)
    text = f"Our default model, the {names}: {medians - missed} of {medians} medians are closer to the truth"
    text += " than the paper’s"
    if ranges:
        text += f", {ranges - wider} of {ranges} ranges between the quartiles narrower"
    return text + (". Not so:" if missed + wider else ".")


def shortfalls(tables: Mapping[str, Any], studies: Mapping[str, Study]) -> Iterator[str]:
    """Say one by one where they do no better than the paper."""
    for part in tables["studies"]:
        study = studies[part["name"]]
        for miss in part["default"]["not_closer"]:
            ours, paper = number(miss["ours"]["median"]), number(miss["paper"]["median"])
            truth = number(study.truth[miss["parameter"]])
            yield f"{_where(study, miss)}: {ours} against {paper}; the truth is {truth}."
        for miss in part["default"]["not_narrower"]:
            ours, paper = (number(miss[by]["third"] - miss[by]["first"]) for by in ("ours", "paper"))
            yield f"{_where(study, miss)}: quartiles {ours} apart against {paper}."


def _where(study: Study, miss: Mapping[str, Any]) -> str:
    return f"{study.title}, {miss['place']}, {study.symbols[miss['parameter']]}"


def _minus(text: str) -> str:
    return text.replace("-", "−")
