"""Tables as people have them: comments, marks, letters, columns of no business of ours; ambiguity is a sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots import Snapshots, read

ROWS = "0,0,1\n0,1,2\n1,0,3\n1,1,4.5\n"


def written(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "a.csv"
    path.write_bytes(text.encode(encoding))
    return path


def values(snapshots: Snapshots, field: str = "u") -> list[list[float]]:
    return [s[field].tolist() for s in snapshots]


@pytest.mark.parametrize(
    "text",
    [
        "t,x,u\n" + ROWS,
        "T,X,u\n" + ROWS,
        "TIME,x,u\n" + ROWS,
        "# a\n% b\n\nt,x,u\n" + ROWS,
        "% a\n# t,x,u\n" + ROWS,
        "t,x,u\n" + ROWS.replace("0,1,2\n", "# gone\n\n0,1,2 # good\n"),
        '"t","x","u"\n' + ROWS,
        "t,x,u,\n" + ROWS.replace("\n", ",\n"),
        "t,x,u\n" + ROWS.replace("\n", ",\n"),
        "sep=,\nt,x,u\n" + ROWS,
        "t;x;u\n" + ROWS.replace(",", ";").replace(".", ","),
        "t x u\n" + ROWS.replace(",", "  ").replace(".", ","),
        "t\tx\tu\r" + ROWS.replace(",", "\t").replace("\n", "\r"),
        't,x,u,"sensor, place"\n' + "".join(f'{row},"A, hall 7"\n' for row in ROWS.split()),
        "t,x,u,sensor,ok,note\n" + "".join(f"{row},A,True,\n" for row in ROWS.split()),
        ",t,x,u\n" + "".join(f"{k},{row}\n" for k, row in enumerate(ROWS.split())),
        ",x,u\n" + ROWS,
        "t [s],x (m),u [°C]\n" + ROWS,
        "t,x,u,air; °C\n" + "".join(f"{row},\n" for row in ROWS.split()),
        "t/x,0,1\n0,1,2\n1,3,4.5\n",
        ",0,1\n0,1,2\n1,3,4.5\n",
        "t;0,0;1,0\n0;1;2\n1;3;4,5\n",
        "t,0 m,1 m\n0,1,2\n1,3,4.5\n",
        "t [s],x=0,x=1\n0,1,2\n1,3,4.5\n",
        "x,0,1\n0,1,3\n1,2,4.5\n",
        "Position [m];0,0;1,0\n0;1;3\n1;2;4,5\n",
        "x/t,0 s,1 s\n0,1,3\n1,2,4.5\n",
    ],
)
def test_no_obstacles(tmp_path: Path, text: str) -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        found = read(written(tmp_path, text, encoding))
        assert (found.fields, values(found)) == (("u",), [[1.0, 2.0], [3.0, 4.5]])
        assert found[0]["x"].tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("match", "text"),
    [
        (r"1,234 could be 1\.234 or 1234: every comma", "t;x;u\n0;0;1,234\n0;1;5,678\n"),
        (r"decimal comma \(1,5\) and some a point \(2\.5\)", "t;x;u\n0;0;1,5\n0;1;2.5\n"),
        (r"Time and TIME could each be the time\. Type --column t=Time", "Time,TIME,x,u\n0,0,0,1\n0,0,1,2\n"),
        (
            r"the column u holds 'err' in row 1 .*name the columns to use, as in --column",
            "t,x,u\n0,0,1\n0,1,err\n",
        ),
        (r"There is no coordinate x among .*type --column t=YOURS", "t,position,u\n0,0,1\n0,1,2\n"),
        (r"the first line holds numbers", "0,1,2\n0,1,2\n"),
        (
            r"the column 1 of a wide table, whose title is a position, holds no numbers",
            "t,0,1\n0,1,a\n1,1,b\n",
        ),
        (
            r"the column 1 of a wide table, whose title is a time, holds no numbers",
            "x,0,1\n0,1,a\n1,1,b\n",
        ),
        (r"01/02/2024, where day and month cannot be told apart", "x,01/02/2024,03/02/2024\n0,1,1\n1,2,2\n"),
        (r"the column x, which is to be x, holds no numbers\. Name another", "t,x,u\n0,a,1\n0,b,2\n"),
        (r"no time t and coordinate x .* // and remarks hold no numbers", "// remarks\nt,x,u\n" + ROWS),
    ],
)
def test_ambiguity_is_a_sentence(tmp_path: Path, match: str, text: str) -> None:
    with pytest.raises(DataError, match=rf"^a\.csv: .*{match}"):
        read(written(tmp_path, text))


def test_three_digits_behind_a_comma_are_no_thousands_where_others_tell(tmp_path: Path) -> None:
    found = read(written(tmp_path, "t;x;u\n0;0,500;1,234\n0;1,000;5,678\n"))
    assert values(found) == [[1.234, 5.678]]


def test_names_that_the_user_gives(tmp_path: Path) -> None:
    path = written(tmp_path, "When,Where,Temperature [K],temperature_std,humidity\n0,0,1,2,nan\n0,1,3,4,7\n")
    found = read(path, columns={"t": "when", "x": "WHERE", "u": "temperature"})
    assert found[0].columns == ("u", "u_std")
    assert (found.units, values(found, "u_std")) == ({"u": "K"}, [[2.0, 4.0]])
    assert read(path, columns={"t": "when", "x": "where", "u": "Temperature [K]"}).units == {"u": "K"}
    with pytest.raises(DataError, match=r"humidity at t = 0 is NaN"):
        read(path, columns={"t": "when", "x": "where"})
    with pytest.raises(
        DataError, match=r"u is to be the column 'temp', but the names found are When, .*--column u=NAME"
    ):
        read(path, columns={"u": "temp"})
    alike = written(tmp_path, "t,x,U,u\n0,0,1,5\n0,1,2,6\n")
    assert values(read(alike, columns={"v": "U"}), "v") == [[1.0, 2.0]]
    with pytest.raises(DataError, match=r"'W', which could be W1 and w1|which could be"):
        read(written(tmp_path, "t,x,aB,Ab\n0,0,1,5\n0,1,2,6\n"), columns={"v": "AB"})


def test_both_parts_of_a_complex_field_follow_its_name(tmp_path: Path) -> None:
    path = written(tmp_path, "t,x,Psi_re,Psi_im,q\n0,0,1,2,3\n0,1,3,4,5\n")
    assert read(path, columns={"h": "psi"}).fields == ("h_re", "h_im")


def test_a_capital_t_is_a_temperature_beside_a_time(tmp_path: Path) -> None:
    assert read(written(tmp_path, "Time,x,T\n0,0,1\n0,1,2\n")).fields == ("T",)


def test_what_was_passed_over_is_told(tmp_path: Path) -> None:
    found = read(written(tmp_path, "t,x,u,sensor,empty\n0,0,1,A,\n0,1,2,B,\n"))
    assert found.notes == ("sensor and empty hold no numbers: not used.",)
    wide = read(written(tmp_path, "clock,0,0.5,2\n0,1,2,3\n1,3,4,5\n"))
    assert wide.notes == (
        "The table is wide: clock is the time, and the titles of 3 columns are positions x from 0 to 2.",
    )


def test_a_wide_table_is_turned_where_its_first_column_is_the_position(tmp_path: Path) -> None:
    """Read the usual way round, x would have been the time: without a word, and with another diffusivity."""
    path = written(tmp_path, "depth [m],0 min,10 min,30 min\n0,1,2,3\n0.5,4,5,6\n")
    found = read(path, columns={"x": "Depth"}, time_unit="h")
    np.testing.assert_allclose(found.times, [0.0, 1 / 6, 0.5])
    assert found[2]["x"].tolist() == [0.0, 0.5]
    assert values(found) == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    assert found.units == {"t": "h", "x": "m"}
    note = "The table is wide: depth is the position x, and the titles of 3 columns are times from 0 to 30."
    assert note in found.notes
    turned = read(path, columns={"t": "depth", "v": "u"})
    assert (len(turned), turned.fields, turned.units) == (2, ("v",), {"t": "m", "x": "min"})


def test_the_titles_of_a_turned_wide_table_may_be_dates(tmp_path: Path) -> None:
    text = read(written(tmp_path, "x,2024-03-01,2024-03-02,2024-03-04\n0,1,2,3\n1,4,5,6\n"))
    dates = pd.to_datetime(["2024-03-01", "2024-03-02", "2024-03-04"])
    frame = read(pd.DataFrame([[1, 2, 3], [4, 5, 6]], index=pd.Index([0, 1], name="x"), columns=dates))
    for found in (text, frame):
        assert (found.times.tolist(), found.units) == ([0.0, 1.0, 3.0], {"t": "d"})
        assert values(found) == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]


def test_the_time_of_a_wide_table_may_be_named(tmp_path: Path) -> None:
    path = written(tmp_path, "When [h],0,1\n0,1,2\n1,3,4.5\n")
    assert read(path, columns={"t": "when"}).units == {"t": "h"}


def test_columns_that_begin_with_a_number_make_no_wide_table(tmp_path: Path) -> None:
    found = read(written(tmp_path, "t,x,2m\n0,0,1\n0,1,2\n"))
    assert (found.fields, found.coordinates) == (("2m",), ("x",))


def test_a_day_that_is_part_of_the_time_is_not_said_to_be_unused(tmp_path: Path) -> None:
    found = read(written(tmp_path, "date,time,x,u\n2024-03-01,06:00:00,0,1\n2024-03-01,06:00:00,1,2\n"))
    assert [note for note in found.notes if "not used" in note] == []
    assert "date and time together are the time." in found.notes


def test_quantities_of_pint_and_attributes_of_frames() -> None:
    pint = pytest.importorskip("pint")
    pytest.importorskip("pint_pandas")
    registry = pint.get_application_registry()
    frame = pd.DataFrame({"t": [0.0, 0, 1, 1], "x": [0.0, 1, 0, 1], "u": [1.0, 2, 3, 4.5]})
    kinds = {"t": "pint[minute]", "x": "pint[cm]", "u": "pint[K]"}
    told = {"t": "min", "x": "centimeter", "u": "kelvin"}
    assert read(frame.astype(kinds)).units == told
    assert values(read(frame.astype(kinds), time_unit="s")) == [[1.0, 2.0], [3.0, 4.5]]
    frame.attrs["units"] = {"x": "cm"}
    assert read(frame).units == {"x": "cm"}
    arrays = {name: frame[name].to_numpy() * registry(kinds[name][5:-1]).units for name in frame}
    assert read(arrays).units == told
    np.testing.assert_array_equal(read(arrays, time_unit="s").times, [0.0, 60.0])
