"""Elements of the HTML page: tags, equations with their subscripts, and tables coloured by their errors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from hiddenphysics.reproduction.report.wording import (
    CRAMER_RAO_HEAD,
    CRAMER_RAO_NOTE,
    CRAMER_RAO_TITLE,
    MODELS,
    coverage,
    cramer_rao_lines,
    ended,
    number,
    percent,
    quartiles,
)
from hiddenphysics.reproduction.study import Study

_NUMBER = r"[−\-]?\d[\d.]*(?:e[−\-+]?\d+)?(?:\(\d+(?:\.\d+)?\))?"
_GREEK = {"psi": "ψ", "alpha": "α", "lambda": "λ"}

SHADES = ((0.001, "within 0.1 %"), (0.01, "within 1 %"), (0.05, "within 5 %"), (0.2, "within 20 %"))
BEYOND = "further off"


def tag(name: str, content: str, **attributes: str) -> str:
    """Return an element; `content` is HTML already, attributes are escaped. A trailing _ keeps a word off Python's."""
    words = "".join(f' {k.rstrip("_").replace("_", "-")}="{escape(v)}"' for k, v in attributes.items())
    return f"<{name}{words}>{content}</{name}>"


def equation(text: str) -> str:
    """Return equations, one to a line, with italic letters, subscripts and proper signs.

    >>> equation("u_t - 0.1 u_xx = 0")
    '<i>u</i><sub>t</sub> − 0.1 <i>u</i><sub>xx</sub> = 0'
    """
    lines = [line.strip() for line in re.split(r"[;\n]", text) if line.strip()]
    return "<br>".join(_typeset(line) for line in lines)


def _typeset(text: str) -> str:
    text = escape(text.replace("*", " "), quote=False)
    text = re.sub(rf"frac_lap\((\w+), ({_NUMBER}|\w+)\)", r"(−Δ)^{\2/2} \1", text)
    text = re.sub(rf"D\((\w+), (\w+), ({_NUMBER}|\w+)\)", r"𝒟_\2^{\3} \1", text)
    text = re.sub(r"abs\((\w+)\)", r"|\1|", text)
    text = re.sub(r"(?<!\w)([A-Za-z]+)(?:_(\w+))?", _symbol, text)
    text = re.sub(r"𝒟_(\w+)", r"𝒟<sub>\1</sub>", text)
    text = re.sub(r"\^\{([^}]*)\}|\^(\d+)", lambda m: f"<sup>{m[1] or m[2]}</sup>", text)
    return text.replace("-", "−")


def _symbol(match: re.Match[str]) -> str:
    base = _GREEK.get(match[1], match[1])
    return f"<i>{base}</i>" + (f"<sub>{match[2]}</sub>" if match[2] else "")


def shade(error: float) -> str:
    """Return the class of a relative error: e0, the best, to e4."""
    return f"e{next((k for k, (limit, _) in enumerate(SHADES) if error <= limit), len(SHADES))}"


def legend() -> str:
    """Return what the colours mean."""
    words = [*(word for _, word in SHADES), BEYOND]
    chips = "".join(tag("span", escape(w), class_=f"chip e{k}") for k, w in enumerate(words))
    tick = tag("span", "✓ closer to the truth than the paper", class_="chip")
    return tag("p", f"Error of the median: {chips} {tick}", class_="legend")


def comparison_table(table: Mapping[str, Any], study: Study) -> str:
    """Return a table, the paper's numbers and ours below them, with its caption and its footnotes."""
    counted = len(table["rows"]) == 1
    body = "".join(_group(table, study, row, counted) for row in table["rows"])
    caption = tag("h3", f"<b>{escape(table['place'])} of the paper.</b> {escape(table['title'])}.")
    inside = tag("thead", _head(table, study, counted)) + body
    notes = "".join(tag("li", escape(note)) for note in _notes(table, counted))
    notes = tag("ul", notes, class_="notes") if notes else ""
    frame = tag(
        "div", tag("table", inside), class_="scroll", tabindex="0", role="region", aria_label=table["place"]
    )
    return caption + frame + notes


def cramer_rao_table(table: Mapping[str, Any], study: Study) -> str:
    """Return how close the flow comes to the Cramér–Rao bound, for a table of statistics; nothing for another."""
    lines = [
        tag(
            "tr",
            tag("th", escape(noise), class_="method", scope="row") + "".join(tag("td", n) for n in numbers),
        )
        for noise, numbers in cramer_rao_lines(table)
    ]
    if not lines:
        return ""
    head = tag(
        "tr", tag("th", ", ".join(study.symbols.values())) + "".join(tag("th", w) for w in CRAMER_RAO_HEAD)
    )
    inside = tag("thead", head) + tag("tbody", "".join(lines))
    label = f"{CRAMER_RAO_TITLE}, {table['place']}"
    frame = tag("div", tag("table", inside), class_="scroll", tabindex="0", role="region", aria_label=label)
    return (
        tag("h3", f"<b>{CRAMER_RAO_TITLE}.</b>") + frame + tag("p", escape(CRAMER_RAO_NOTE), class_="notes")
    )


def _head(table: Mapping[str, Any], study: Study, counted: bool) -> str:
    span = str(len(study.truth) + counted)
    top = tag("th", "") + "".join(tag("th", escape(c), colspan=span, class_="top") for c in table["columns"])
    names = "".join(
        tag(
            "th",
            f"{escape(study.symbols[p])}<small>{number(v).rstrip('0').rstrip('.')}</small>",
            title="truth",
        )
        for p, v in study.truth.items()
    )
    names += tag("th", "fits") if counted else ""
    return tag("tr", top) + tag("tr", tag("th", "truth", class_="method") + names * len(table["columns"]))


def _group(table: Mapping[str, Any], study: Study, row: str, counted: bool) -> str:
    cells = [_at(table, row, column) for column in table["columns"]]
    lines = []
    if row:
        span = str(1 + len(cells) * len(study.truth))
        lines.append(tag("tr", tag("th", escape(row), colspan=span, class_="group")))
    lines.append(_line("paper", "".join(_published(cell, study, counted) for cell in cells), "published"))
    run = {model for cell in cells if cell for model in cell["models"]}
    absent = all(cell["missing"] for cell in cells if cell)
    for model in (m for m in study.models if m in run or absent):
        line = "".join(_model(cell, model, study, counted) for cell in cells)
        lines.append(_line(MODELS.get(model, model), line, model))
    return tag("tbody", "".join(lines))


def _line(name: str, cells: str, kind: str) -> str:
    return tag("tr", tag("th", escape(name), class_="method", scope="row") + cells, class_=kind)


def _published(cell: Mapping[str, Any] | None, study: Study, counted: bool) -> str:
    if cell is None:
        return "<td></td>" * (len(study.truth) + counted)
    line = "".join(_number(cell["paper"][p], "") for p in study.truth)
    return line + ("<td></td>" if counted else "")


def _model(cell: Mapping[str, Any] | None, model: str, study: Study, counted: bool) -> str:
    width = len(study.truth) + counted
    if cell is None:
        return "<td></td>" * width
    if cell["missing"]:
        return tag("td", "no recording", colspan=str(width), class_="none")
    fits = cell["models"][model]
    if not fits["parameters"]:
        return tag("td", _ended(fits) or "–", colspan=str(width), class_="none")
    line = "".join(_ours(fits["parameters"][p]) for p in study.truth)
    return line + (tag("td", _fits(fits), class_="fits") if counted else "")


def _ours(value: Mapping[str, Any]) -> str:
    more = "" if value["coverage"] is None else tag("small", coverage(value))
    return _number(value, more, " ✓" if value["closer"] else "")


def _number(value: Mapping[str, Any], more: str, mark: str = "") -> str:
    between = tag("small", quartiles(value)) if value["first"] is not None else ""
    title = f"{percent(value['error'])} from the truth"
    return tag(
        "td",
        f"<b>{number(value['median'])}</b>{mark}{between}{more}",
        class_=shade(value["error"]),
        title=title,
    )


def _fits(fits: Mapping[str, Any]) -> str:
    how = _ended(fits)
    return f"{fits['answered']}" + (tag("small", how) if how else "")


def _ended(fits: Mapping[str, Any]) -> str:
    """Say how fits ended that did not end as they should."""
    return escape(", ".join(ended(fits, "to do")))


def _notes(table: Mapping[str, Any], counted: bool) -> Iterator[str]:
    """Say what the table has no room for: pairs, doubtful ends, missing recordings."""
    asked = sorted({m["asked"] for c in table["cells"] for m in c["models"].values()})
    if asked and not counted:
        pairs = f"{asked[0]} to {asked[-1]}" if len(asked) > 1 else f"{asked[0]}"
        plural = "s" if asked[-1] > 1 else ""
        yield f"The paper fits one pair; ours are medians over {pairs} pair{plural}, evenly spaced in time."
        for cell in table["cells"]:
            for model, ours in cell["models"].items():
                how = _ended(ours)
                if how and ours["parameters"]:
                    yield f"{MODELS.get(model, model)}, {cell['row']}, {cell['column']}: {how} of {ours['asked']}."
    yield from _missing(table["cells"])


def _missing(cells: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for reason in dict.fromkeys(c["missing"] for c in cells if c["missing"]):
        yield f"No recording: {reason}"


def _at(table: Mapping[str, Any], row: str, column: str) -> Mapping[str, Any] | None:
    return next((c for c in table["cells"] if (c["row"], c["column"]) == (row, column)), None)
