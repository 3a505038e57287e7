"""Hundreds of small fits by `identify_many`: Burgers (71 + 69 points) and Kuramoto–Sivashinsky (151 + 149), 1 % noise.

`python -m benchmarks.many --count 100 --to RESULTS` answers a batch twice, by the call as it is and with an executor
whose processes live on; the second time nothing has to be compiled where a process has lived on. A few are fitted one
by one, too, and compared.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from typing import Any

from benchmarks.cases import Case, Row, answered, arguments, carry_out, counted, table, write
from hiddenphysics.reproduction import STUDIES, Library
from hiddenphysics.snapshots import Snapshots

POINTS = {"burgers": (71, 69), "ks": (151, 149)}
COUNT, COMPARED, NOISE = 100, 3, 0.01
"""Pairs, how many of them are fitted alone, too, and noise in parts of the field's spread."""
PROCESSES, EXECUTOR = "processes of each call", "processes that live on"


def pairs(name: str, count: int) -> list[Snapshots]:
    """Return neighbouring snapshots of our own recording, evenly spaced, at random points."""
    data = Library().open(STUDIES[name])
    starts = [k * (len(data.times) - 2) // max(count - 1, 1) for k in range(count)]
    # Points and noise come from different streams, or the noise would depend on where it is seen.
    return [
        data.take([first, first + 1]).with_noise(NOISE, 10_000 + k).subsample(POINTS[name], k)
        for k, first in enumerate(starts)
    ]


def answer(case: Case) -> Row:
    """Answer a batch twice, and some of it one by one."""
    import hiddenphysics as hp

    equation, data = STUDIES[case["equation"]].equation, pairs(case["equation"], case["count"])
    workers = case["workers"]
    if case["by"] == EXECUTOR:
        opened: Any = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    else:
        opened = nullcontext()
    seconds = []
    with opened as executor:
        for _ in range(2):
            began = time.perf_counter()
            many = hp.identify_many(equation, data, workers=workers, executor=executor)
            seconds.append(time.perf_counter() - began)
    same, apart = 0, 0.0
    for one, fit in list(zip(data, many, strict=True))[:COMPARED]:
        alone = hp.identify(equation, one)
        same += isinstance(fit, hp.Result) and alone.values == fit.values
        if isinstance(fit, hp.Result):
            distances = [
                abs(e.estimate - alone.parameters[name].estimate) / alone.parameters[name].std
                for name, e in fit.parameters.items()
            ]
            apart = max([apart, *distances])
    return {
        "status": counted(str(fit.status) for fit in many),
        "first": seconds[0],
        "second": seconds[1],
        "compared": min(COMPARED, len(data)),
        "same": same,
        "apart": apart,
    }


def report(rows: Sequence[Row]) -> str:
    """Return the table."""
    head = "equation, pairs, workers, by, seconds (first batch), second batch, one fit of it, "
    head += "equal to single fits, farthest in sd, status"
    return "## Many\n\n" + table(head.split(", "), (_line(row["case"], row) for row in rows))


def _line(case: Case, row: Row) -> list[object]:
    asked = [case["equation"], case["count"], case["workers"], case["by"]]
    if "second" not in row:
        return [*asked, None, None, None, None, None, row["status"]]
    same = f"{row['same']} of {row['compared']}"
    one = row["second"] / case["count"]
    return [*asked, row["first"], row["second"], one, same, row["apart"], row["status"]]


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line, run what is left, write the table."""
    parser = arguments(__doc__)
    parser.add_argument("--count", type=int, help=f"pairs of each equation; {COUNT}")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="of `identify_many`")
    parser.add_argument("--only", nargs="+", choices=POINTS)
    given = parser.parse_args(words)
    if given.case:
        return answered(answer, given.case)
    chosen = (
        {
            "equation": name,
            "count": given.count or (2 if given.small else COUNT),
            "workers": workers,
            "by": by,
        }
        for name in given.only or (["burgers"] if given.small else POINTS)
        for workers, by in ((given.processes, PROCESSES), (given.processes, EXECUTOR))
        if not (given.small and by == EXECUTOR)
    )
    rows = carry_out("benchmarks.many", chosen, given.to, retry=given.retry, workers=given.workers)
    return write(given.to, "many", report(rows))


if __name__ == "__main__":
    main()
