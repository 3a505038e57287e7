"""Named arrays to snapshots: tell long data from gridded data."""

from __future__ import annotations

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots.checks import Missing
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.readers.grid import Convention, oriented, snapshots_on_grid
from hiddenphysics.snapshots.readers.long import snapshots_of_rows
from hiddenphysics.snapshots.readers.naming import Arrays, Named, classify, is_vector, shapes
from hiddenphysics.snapshots.words import names

TIME_FIRST: Convention = "time first"
TIME_LAST: Convention = "time last"


def snapshots_from(
    arrays: Arrays, missing: Missing, convention: Convention, *, all_fit: bool = True
) -> Snapshots:
    """Build snapshots from arrays with names.

    Parameters
    ----------
    arrays
        Numeric arrays by name: time, coordinates, fields.
    missing
        The policy for NaN and infinity.
    convention
        Order of the axes of a field where the lengths do not tell.
    all_fit
        Whether an array that fits nowhere is an error (the user listed it), or passed over (a file's extra).
    """
    named = classify(arrays)
    lengths = {"t": len(named.t)} | {name: len(axis) for name, axis in named.coordinates.items()}
    fields = {name: oriented(name, array, lengths, convention) for name, array in named.others.items()}
    gridded = {name: array for name, array in fields.items() if array is not None}
    if gridded:
        _all_fit(named, lengths, list(gridded), all_fit)
        return snapshots_on_grid(named.t, named.coordinates, gridded, missing)
    rows = _rows(named, lengths)
    _all_fit(named, lengths, list(rows), all_fit)
    return snapshots_of_rows(named.t, named.coordinates, rows, missing)


def _rows(named: Named, lengths: dict[str, int]) -> Arrays:
    if len(set(lengths.values())) > 1:
        return {}
    count = lengths["t"]
    return {name: a.reshape(-1) for name, a in named.others.items() if is_vector(a) and a.size == count}


def _all_fit(named: Named, lengths: dict[str, int], fitting: list[str], every_one: bool) -> None:
    unfit = {name: array for name, array in named.others.items() if name not in fitting}
    if fitting and not (unfit and every_one):
        return
    if not unfit:
        raise DataError(
            f"only time and coordinates were found ({names(lengths)}), no field; add the measured values, u."
        )
    axes = names(f"{name} has {length}" for name, length in lengths.items())
    raise DataError(
        f"{axes} values, but the other arrays do not fit: {shapes(unfit)}. A field needs one axis for each of"
        f" {names(lengths)}, here {tuple(lengths.values())} in some order; or give all arrays one length n,"
        " one row per measurement."
    )
