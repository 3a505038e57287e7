"""Dates and durations: the unit of time is chosen, and said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import hiddenphysics as hp
from hiddenphysics.errors import DataError
from hiddenphysics.snapshots import read
from hiddenphysics.snapshots.readers.times import SECONDS, UNIT_OF, unit_for

X = np.linspace(0.0, 1.0, 4)


def recording(times: object, **attributes: str) -> xr.Dataset:
    count = len(np.asarray(times))
    data = xr.Dataset({"u": (("t", "x"), np.arange(4.0 * count).reshape(count, 4))}, {"t": times, "x": X})
    data["t"].attrs = attributes
    return data


@pytest.mark.parametrize(
    ("span", "unit"),
    [(0.0, "s"), (1e-7, "ns"), (0.05, "ms"), (90, "s"), (120, "min"), (7200, "h"), (2 * 86400, "d"), (1e9, "d")],
)  # fmt: skip
def test_the_largest_unit_of_which_the_span_holds_two(span: float, unit: str) -> None:
    assert unit_for(span) == unit


def test_units_agree_with_pint() -> None:
    pint = pytest.importorskip("pint")
    registry = pint.UnitRegistry()
    for word, unit in UNIT_OF.items():
        if word != "wk":  # which pint does not know
            assert registry(word).to("s").magnitude == pytest.approx(SECONDS[unit]), word


@pytest.mark.parametrize(
    ("step", "unit", "t"), [("15s", "s", 15.0), ("6min", "min", 6.0), ("1D", "h", 24.0), ("30D", "d", 30.0)]
)
def test_dates_of_every_kind_agree(tmp_path: Path, step: str, unit: str, t: float) -> None:
    """xarray, its files in whatever unit it has chosen for them, pandas and NumPy: one clock."""
    dates = pd.date_range("2024-02-28 12:00", periods=2, freq=step)
    data = recording(dates)
    data.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    frame = data.to_dataframe().reset_index()
    for source in (
        data,
        tmp_path / "a.nc",
        frame,
        {"t": dates.to_numpy(), "x": X, "u": data["u"].to_numpy()},
    ):
        found = read(source)
        assert found.times.tolist() == [0.0, t]
        assert found.units == {"t": unit}
        assert found.provenance.start == "2024-02-28 12:00:00"
        assert found.notes[0].startswith(
            f"t is in {unit} since 2024-02-28 12:00:00; the span chose this unit"
        )
        assert f"t from 0 to {t:g} {unit}," in repr(found)
    assert read(data, time_unit="seconds").times[1] == t * SECONDS[unit]


def test_a_year_of_another_calendar_and_a_date_before_the_others() -> None:
    """365-day years, which NumPy's dates do not know: only the elapsed time is used."""
    found = read(recording([700.0, 730.0], units="days since 0001-02-30", calendar="360_day"))
    assert found.times.tolist() == [0.0, 30.0]
    assert "60480000 s after" in found.provenance.start.replace("6.048e+07", "60480000")


def test_numbers_with_a_unit_keep_it_unless_asked() -> None:
    found = read(recording([1.0, 1.5], units="hours"))
    assert (found.times.tolist(), found.units, found.notes) == ([1.0, 1.5], {"t": "h"}, ())
    minutes = read(recording([1.0, 1.5], units="hours"), time_unit="min")
    assert (minutes.times.tolist(), minutes.units) == ([60.0, 90.0], {"t": "min"})
    assert minutes.notes == ("t was converted from h to min.",)
    again = read(minutes, time_unit="s")
    assert again.times.tolist() == [3600.0, 5400.0]
    strange = read(recording([1.0, 1.5], units="fortnights"))
    assert strange.units == {"t": "fortnights"}


def test_several_records_are_brought_to_one_clock() -> None:
    """Each would count from its own first date, and the second would lie on the first."""
    first = recording(pd.to_datetime(["2024-01-01 00:00", "2024-01-01 00:01"]))
    second = recording(pd.to_datetime(["2024-01-01 12:00", "2024-01-01 15:00"]))
    found = read([second, first])
    assert found.times.tolist() == [0.0, 1 / 60, 12.0, 15.0]
    assert found.units == {"t": "h"}
    assert found.provenance.start == "2024-01-01 00:00:00"
    assert [note for note in found.notes if note.startswith("t is in")] == [found.notes[-1]]
    with pytest.raises(
        DataError, match=r"cannot be brought together: they are s since 2024.* and plain numbers"
    ):
        read([first, recording([3.0, 4.0])])


@pytest.mark.parametrize(
    ("words", "times"),
    [
        (("2024-01-01", "2024-01-05"), [0.0, 4.0]),
        (("2024-01-01T00:00:00Z", "2024-01-05T01:00:00+01:00"), [0.0, 4.0]),
        (("20240101", "20240105"), [0.0, 4.0]),
        (("01.02.2024", "05.02.2024"), [0.0, 4.0]),
        (("1/28/2024 6:00", "2/1/2024 6:00"), [0.0, 4.0]),
        (("28/1/2024", "1/2/2024"), [0.0, 4.0]),
        (("24:00:00", "120:00:00.0"), [1.0, 5.0]),
    ],
)
def test_dates_as_text(tmp_path: Path, words: tuple[str, str], times: list[float]) -> None:
    rows = "".join(f"{word},{x},{x + k}\n" for k, word in enumerate(words) for x in X)
    (tmp_path / "a.csv").write_text(f"time,x,u\n{rows}")
    if words[0].isdigit():  # a number is a number, whatever it may look like
        assert read(tmp_path / "a.csv").times.tolist() == [20240101.0, 20240105.0]
        return
    assert read(tmp_path / "a.csv").times.tolist() == times


@pytest.mark.parametrize(
    ("match", "words", "typed"),
    [
        (r"holds 01/02/2024, where day and month cannot be told apart", ("01/02/2024", "05/02/2024"), {}),
        (r"the day first in some dates and the month in others", ("13/02/2024", "02/13/2024"), {}),
        (r"the column time holds 'noon' in row 0 .*no time\. Write numbers, or dates", ("noon", "midnight"), {}),
        (r"holds '12:30' in row 0 .*no time", ("12:30", "12:40"), {}),
        (r"'fortnight' is no unit of time .*ns, .* and year", ("0", "1"), {"time_unit": "fortnight"}),
        (r"times in h were asked for, .* plain numbers without a unit", ("1.0", "2.0"), {"time_unit": "h"}),
    ],
)  # fmt: skip
def test_times_that_cannot_be_told(
    tmp_path: Path, match: str, words: tuple[str, str], typed: dict[str, str]
) -> None:
    rows = "".join(f"{word},{x},{x + k}\n" for k, word in enumerate(words) for x in X)
    (tmp_path / "a.csv").write_text(f"time,x,u\n{rows}")
    with pytest.raises(DataError, match=match):
        read(tmp_path / "a.csv", **typed)


def test_snapshots_without_a_unit_have_none_to_convert() -> None:
    plain = [hp.Snapshot(t=t, x=X, u=X + t) for t in (0.0, 1.0)]
    with pytest.raises(DataError, match="plain numbers without a unit"):
        read(plain, time_unit="h")


def test_missing_dates(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"t": pd.to_datetime(["2024-01-01"] * 4 + ["2024-01-04"] * 4 + [None]), "x": [*X, *X, 0.5]}
    )
    frame["u"] = np.arange(9.0)
    with pytest.raises(DataError, match=r"t is NaN or infinite in 1 rows, first in row 8"):
        read(frame)
    assert read(frame, missing="drop").times.tolist() == [0.0, 3.0]


def test_day_and_hour_in_two_columns(tmp_path: Path) -> None:
    """Read apart, noon of two days would be one time."""
    text = "date,time,x,u\n" + "".join(
        f"{d:02}.03.2024,{h}:00:00,{x},{x + d}\n" for d in (1, 2) for h in (6, 12) for x in X
    )
    (tmp_path / "a.csv").write_text(text)
    found = read(tmp_path / "a.csv")
    assert (found.times.tolist(), found.provenance.start) == ([0.0, 6.0, 24.0, 30.0], "2024-03-01 06:00:00")
    assert "date and time together are the time." in found.notes
    table = pd.read_csv(tmp_path / "a.csv")
    days = pd.to_datetime(table["date"], format="%d.%m.%Y")
    hours = pd.to_datetime(table["time"], format="%H:%M:%S").dt.time
    pd.DataFrame({"Day": days, "Time": hours, "x": table["x"], "u": table["u"]}).to_excel(tmp_path / "a.xlsx")
    assert read(tmp_path / "a.xlsx", columns={"u": "u"}).times.tolist() == [0.0, 6.0, 24.0, 30.0]
    (tmp_path / "a.csv").write_text(
        text.replace("date,", "date,made,").replace(".2024,", ".2024,2024-04-01,")
    )
    with pytest.raises(DataError, match=r"time holds times of day, and date and made hold dates"):
        read(tmp_path / "a.csv")


def test_dates_in_an_index_without_a_name() -> None:
    dates = pd.to_datetime(np.repeat(["2024-01-01", "2024-01-04"], 4))
    frame = pd.DataFrame({"x": np.tile(X, 2), "u": np.arange(8.0)}, index=dates)
    assert read(frame).times.tolist() == [0.0, 3.0]


def test_a_date_in_a_snapshot_is_told_where_dates_are_read() -> None:
    """The advice helps: what it says to type gives the times."""
    days = [pd.Timestamp("2024-03-01"), pd.Timestamp("2024-03-03")]
    for day in (days[0], days[0].to_datetime64(), days[0].to_pydatetime(), days[1] - days[0]):
        with pytest.raises(DataError, match=r"write read\(\[\{'t': date, 'x': x, 'u': u\}"):
            hp.Snapshot(t=day, x=X, u=X)
    found = read([{"t": day, "x": X, "u": X} for day in days])
    assert (found.times.tolist(), found.units) == ([0.0, 2.0], {"t": "d"})


def test_a_unit_that_is_no_word_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("t,x,u\n0,0,1\n0,1,2\n")
    with pytest.raises(DataError, match=r"60 is no unit of time known here"):
        read(tmp_path / "a.csv", time_unit=60)
