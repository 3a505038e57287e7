"""Several records as one recording: their times are brought to one clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.provenance import Provenance, common
from hiddenphysics.snapshots.readers import times
from hiddenphysics.snapshots.readers.naming import AXES, new_names
from hiddenphysics.snapshots.sentences import names


def joined(
    records: Sequence[Snapshots], time_unit: str | None, columns: Mapping[str, str] | None = None
) -> Snapshots:
    """Put snapshots into one collection, in one unit of time, counted from one date; name the fields as asked."""
    clocks = [record.provenance.clock for record in records]
    about = common(record.provenance for record in records)
    if len(set(clocks)) == 1 and (time_unit is None or about.units.get("t") == times.unit_named(time_unit)):
        whole = Snapshots((s for record in records for s in record), about)
    else:
        whole = _on_one_clock(records, about, time_unit)
    return _chosen(whole, columns) if columns else whole


def _on_one_clock(records: Sequence[Snapshots], about: Provenance, time_unit: str | None) -> Snapshots:
    if len({record.provenance.clock for record in records}) == 1 and time_unit is not None:
        times.check_convertible(records[0].units.get("t", ""), time_unit)
    dated = [bool(record.provenance.start) for record in records]
    units = [record.units.get("t", "") for record in records]
    if any(dated) != all(dated) or not all(unit in times.SECONDS for unit in units):
        told = names(record.provenance.clock or "plain numbers" for record in records)
        raise DataError(
            f"the times of the records cannot be brought together: they are {told}. Give all of them dates,"
            " or one unit."
        )
    seconds = [r.times * times.SECONDS[unit] for r, unit in zip(records, units, strict=True)]
    if all(dated):
        starts = [np.datetime64(r.provenance.start.replace(" ", "T"), "ns") for r in records]
        every = np.concatenate(
            [
                start + np.round(s * 1e9).astype("timedelta64[ns]")
                for start, s in zip(starts, seconds, strict=True)
            ]
        )
    else:
        every = np.round(np.concatenate(seconds) * 1e9).astype("timedelta64[ns]")
    clock = times.decoded(every, "", time_unit)
    snapshots = (s for record in records for s in record)
    notes = tuple(note for note in about.notes if not note.startswith("t is in "))
    return Snapshots(
        (s.replace(t=t) for s, t in zip(snapshots, clock.values, strict=True)),
        Provenance({**about.units, "t": clock.unit}, clock.start, (*notes, clock.note)),
    )


def _chosen(snapshots: Snapshots, columns: Mapping[str, str]) -> Snapshots:
    """Name the fields of snapshots that are there already."""
    axes = [name for name in columns if name in AXES]
    if axes:
        raise DataError(
            f"columns names {names(axes)}, but Snapshot objects have their times and coordinates already."
            " Name fields only."
        )
    chosen = new_names(snapshots.fields, columns)
    return snapshots.select({old: new for old, new in chosen.items() if old in snapshots.fields})
