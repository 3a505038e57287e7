"""The table of a run: one line per case, and what all of them say together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]

APART = 3.0
"""Deviations of the noise by which a wrong equation's fit has to differ from the data to be told without fail."""

LATE = 10.0
"""Seconds by which a fit may outlast its limit: what compiles then is not interrupted."""


def errors(row: Row) -> list[float]:
    """Errors of all parameters in standard deviations; none where there is no truth or no finite deviation."""
    told, truth = row.get("parameters", {}), row.get("truth", {})
    return [
        (told[p]["estimate"] - value) / told[p]["std"]
        for p, value in truth.items()
        if p in told and told[p]["std"] and math.isfinite(told[p]["std"])
    ]


def markdown(rows: Sequence[Row]) -> str:
    """Return the summary and the table as markdown."""
    lines = [
        summary(rows),
        "",
        "| case | status | answer | truth | error in sd | s |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        answer = ", ".join(f"{p} {_shown(e)}" for p, e in row.get("parameters", {}).items())
        truth = ", ".join(f"{value:.4g}" for value in row.get("truth", {}).values())
        sds = ", ".join(f"{e:+.1f}" for e in errors(row))
        said = answer or str(row.get("said", "")).replace("|", "\\|").replace("\n", " ")[:90]
        lines.append(f"| {row['key']} | {row['status']} | {said} | {truth} | {sds} | {row['seconds']:.0f} |")
    return "\n".join(lines) + "\n"


def summary(rows: Sequence[Row]) -> str:
    """Return what all rows say together, as a paragraph."""
    counts = Counter(str(row["status"]) for row in rows)
    sure = [e for row in rows if row["status"] == "converged" for e in errors(row)]
    far, very = sum(abs(e) > 2.5 for e in sure), sum(abs(e) > 5 for e in sure)
    late = [row["key"] for row in rows if row["seconds"] > row["limit"] + LATE]
    wrong = [row for row in rows if row["key"].split("/")[1] == "wrong"]
    believed = sum(row["status"] == "converged" for row in wrong)
    plain = [row for row in wrong if (row.get("apart") or 0.0) > APART]
    called = sum(row["status"] == "misfit" for row in plain)
    right = [row for row in rows if row["key"].split("/")[1] not in ("wrong", "outliers")]
    blamed = [row["key"] for row in right if row["status"] == "misfit"]
    told = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    return (
        f"{len(rows)} fits: {told}. Of {len(sure)} numbers called converged {far} are more than 2.5 standard "
        f"deviations off, {very} more than 5. {len(late)} fits outlasted their limit by more than {LATE:g} s"
        f"{': ' + ', '.join(late) if late else ''}. Of {len(wrong)} wrong equations {believed} were called converged; "
        f"{called} of the {len(plain)} whose fit differs from some group of points by more than {APART:g} times the "
        f"noise were called misfit. Of {len(right)} right ones {len(blamed)} were called misfit"
        f"{': ' + ', '.join(blamed) if blamed else ''}."
    )


def _shown(estimate: Mapping[str, float | None]) -> str:
    std = estimate["std"]
    return f"{estimate['estimate']:.4g} ± " + ("?" if std is None else f"{std:.2g}")
