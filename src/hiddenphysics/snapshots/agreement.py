"""What snapshots must have in common to stand in one collection."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots.sentences import names, number
from hiddenphysics.snapshots.snapshot import Snapshot
from hiddenphysics.snapshots.validation import SMALLEST


def agreed(snapshots: Iterable[Snapshot]) -> tuple[Snapshot, ...]:
    """Sort by time, give every snapshot the same order of fields, refuse what does not fit together."""
    ordered = sorted(_as_list(snapshots), key=lambda snapshot: snapshot.t)
    for before, after in pairwise(ordered):
        if before.t == after.t:
            raise DataError(
                f"Two snapshots have the same time t = {number(before.t)}; times must differ, because"
                " the equation is learned from the change between them. Join their points into one Snapshot,"
                " or correct a time."
            )
        if after.t - before.t < SMALLEST:
            raise DataError(
                f"The snapshots at t = {number(before.t)} and t = {number(after.t)} are {after.t - before.t:.3g}"
                f" apart; rates over gaps below {SMALLEST:g} overflow in double precision. Use smaller units of"
                " time, so that the gap is near 1."
            )
    complex_somewhere = {name for snapshot in ordered for name in snapshot.complex_fields}
    ordered = [
        snapshot
        if complex_somewhere.isdisjoint(snapshot.fields)
        else snapshot.with_complex(complex_somewhere)
        for snapshot in ordered
    ]
    return tuple(_alike(snapshot, ordered[0]) for snapshot in ordered)


def _as_list(snapshots: Iterable[Snapshot]) -> list[Snapshot]:
    if isinstance(snapshots, Snapshot):
        raise DataError("One bare Snapshot was given where a list is needed; write Snapshots([snapshot]).")
    if not isinstance(snapshots, Iterable):
        raise DataError(
            f"Snapshots takes a list of Snapshot objects; a {type(snapshots).__name__} was given. Write"
            " Snapshots([Snapshot(t=0.0, x=x0, u=u0), Snapshot(t=0.1, x=x1, u=u1)])."
        )
    items = list(snapshots)
    for item in items:
        if not isinstance(item, Snapshot):
            raise DataError(
                f"Snapshots takes Snapshot objects; a {type(item).__name__} was given. Write"
                " Snapshots([Snapshot(t=0.0, x=x0, u=u0), Snapshot(t=0.1, x=x1, u=u1)]),"
                " or read(...) for other data."
            )
    if not items:
        raise DataError("The list of snapshots is empty; give at least one Snapshot(t=..., x=..., u=...).")
    return items


def _alike(snapshot: Snapshot, first: Snapshot) -> Snapshot:
    if snapshot.coordinates != first.coordinates:
        raise DataError(
            f"The snapshot at t = {number(first.t)} has the coordinates {names(first.coordinates)},"
            f" the one at t = {number(snapshot.t)} has {names(snapshot.coordinates)}; they must be"
            " the same in all snapshots. Give every Snapshot the same ones."
        )
    if snapshot.fields == first.fields:
        return snapshot
    if set(snapshot.fields) != set(first.fields):
        raise DataError(
            f"The snapshot at t = {number(first.t)} has the fields {names(first.fields)}, the one at"
            f" t = {number(snapshot.t)} has {names(snapshot.fields)}; they must be the same in all snapshots."
            " Leave out the fields that are not measured at every time."
        )
    stds = [name for name in snapshot.columns if name not in snapshot.fields]
    return snapshot.select({name: name for name in (*first.fields, *stds)})
