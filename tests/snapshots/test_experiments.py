"""Several experiments: how they are read from lists, folders and columns, and what is refused."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import hiddenphysics as hp
from hiddenphysics.errors import DataError

X = np.linspace(0.0, 1.0, 5)


def run(shift: float, times: tuple[float, ...] = (0.0, 0.5), field: str = "u") -> hp.Snapshots:
    return hp.Snapshots(hp.Snapshot(t, X, **{field: np.sin(X + t + shift)}) for t in times)


def table(shift: float) -> pd.DataFrame:
    return run(shift).to_table()


@pytest.fixture
def dishes() -> pd.DataFrame:
    """Two doses with two dishes each."""
    parts = [
        table(0.1 * dose + 0.01 * number).assign(dose=dose, dish=dish)
        for dose in (3, 1)
        for number, dish in enumerate("ab", start=1)
    ]
    return pd.concat(parts, ignore_index=True)


def test_a_list_of_runs_is_several_and_a_list_of_snapshots_is_one() -> None:
    assert len(hp.read_experiments([run(0.0), run(0.1), run(0.2)])) == 3
    assert len(hp.read_experiments(list(run(0.0)))) == 1
    assert len(hp.read_experiments([list(run(0.0)), table(0.1)])) == 2
    assert hp.read_experiments({"cold": run(0.0), "warm": table(0.1)}).names == ("cold", "warm")


def test_labelled_arrays_are_one_run() -> None:
    """A Dataset is a mapping, too, and its arrays could each be a recording."""
    values = np.sin(X + np.arange(3.0)[:, None])
    labelled = xr.Dataset(
        {"u": (("t", "x"), values), "v": (("t", "x"), 2 * values)}, {"t": np.arange(3.0), "x": X}
    )
    assert hp.read_experiments(labelled).only.fields == ("u", "v")
    arrays = {"t": labelled.t, "x": labelled.x, "u": labelled.u}
    assert len(hp.read_experiments(arrays)) == 1
    assert len(hp.read_experiments([labelled, labelled])) == 2


def test_records_of_one_time_each_are_one_run() -> None:
    """Nothing changes in any of them, so they cannot be experiments: one file per time is a usual way to record."""
    records = [{"t": np.full(5, t), "x": X, "u": np.sin(X + t)} for t in (0.0, 0.5, 1.0)]
    (one,) = hp.read_experiments(records)
    assert one.times.tolist() == [0.0, 0.5, 1.0]


def test_a_column_tells_the_experiments(dishes: pd.DataFrame, tmp_path: Path) -> None:
    dishes.to_csv(tmp_path / "dishes.csv", index=False)
    for source in (dishes, tmp_path / "dishes.csv", dict(dishes)):
        both = hp.read_experiments(source, experiment=("dose", "dish"))
        assert both.names == ("3 a", "3 b", "1 a", "1 b")
        assert both.fields == ("u",)
        np.testing.assert_allclose(both["1 b"][1]["u"], np.sin(X + 0.5 + 0.12), rtol=1e-12)
    parted = [dishes[dishes.dose == dose].drop(columns="dose") for dose in (3, 1)]
    assert hp.read_experiments(parted, experiment="dish").names == ("1 a", "1 b", "2 a", "2 b")


def test_a_folder_of_files_is_several(tmp_path: Path) -> None:
    for name in ("b", "a"):
        table(0.1).to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "notes.md").write_text("not data", encoding="utf-8")
    assert hp.read_experiments(tmp_path).names == ("a", "b")
    assert hp.read_experiments([tmp_path / "b.csv", tmp_path / "a.csv"]).names == ("b", "a")


def test_fields_take_the_first_order() -> None:
    one = hp.Snapshots(hp.Snapshot(t, X, u=X + t, v=X - t) for t in (0.0, 1.0))
    other = hp.Snapshots(hp.Snapshot(t, X, v=X - t, u=X + t) for t in (0.0, 1.0))
    both = hp.Experiments([one, other])
    assert both[1].fields == ("u", "v")
    np.testing.assert_array_equal(both[1][1]["u"], X + 1.0)


@pytest.mark.parametrize(
    ("source", "options", "sentence"),
    [
        ([run(0.0), run(0.1, field="w")], {}, "has the fields u, the experiment 2 has w"),
        (
            table(0.0),
            {"experiment": "dish"},
            "no column dish to tell the experiments; the columns are t, x and u",
        ),
        ([run(0.0), []], {}, "A list stands among the experiments"),
        ([], {}, "empty"),
        ({"one": run(0.0)}, {"experiment": "dish"}, "names a column, and a Snapshots has none"),
        (table(0.0).assign(dish=[1.0] * 9 + [np.nan]), {"experiment": "dish"}, "row 9 .* has no dish"),
    ],
)
def test_what_is_refused(source: object, options: dict[str, str], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        hp.read_experiments(source, **options)


def test_other_units_are_refused() -> None:
    frames = [table(0.0).rename(columns={"t": f"t [{unit}]"}) for unit in ("s", "h")]
    with pytest.raises(DataError, match="t is in s in the experiment 1, and in h in the experiment 2"):
        hp.read_experiments(frames)


def test_one_is_asked_for_by_name_or_number() -> None:
    both = hp.Experiments({"cold": run(0.0), "warm": run(0.1)})
    assert both["warm"] is both[1] is both[-1]
    with pytest.raises(DataError, match="'hot' was asked for; there are cold and warm"):
        both["hot"]
    with pytest.raises(DataError, match=r"There are 2 experiments \(cold and warm\)"):
        _ = both.only


def test_a_run_of_one_snapshot_is_named() -> None:
    with pytest.raises(DataError, match="Experiment warm: one snapshot was given"):
        hp.identify("u_t = D*u_xx", {"cold": run(0.0), "warm": run(0.1, times=(0.0,))})


def test_models_of_one_gap_take_one() -> None:
    with pytest.raises(hp.ModelError, match="paper model does not apply: There are 2 experiments"):
        hp.identify("u_t = D*u_xx", [run(0.0), run(0.1)], model="paper")
