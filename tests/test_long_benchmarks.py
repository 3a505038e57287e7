"""The benchmarks that run for hours, in seconds: their data, their tables, and that they go on where they stopped."""

from importlib import import_module

import numpy as np
import pytest

import hiddenphysics as hp
from benchmarks import cases, driven, many, points, recordings, stops
from benchmarks.neighbours.problems import PROBLEMS
from hiddenphysics.simulate.exact import burgers, gaussian_pulse

pytestmark = pytest.mark.xdist_group("long benchmarks")  # one process: the tests share compiled code


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("recordings", ["| burgers | 10 % | a | 1 |", "| burgers | 10 % | 0 | b |"]),
        ("points", ["| 2 × 60 |", "| 2 × 70 |"]),
        ("stops", ["| 3 | 1 | a |", "| 3 | 1 | b |"]),
        ("driven", ["| 1 | ", "flow 1"]),
        ("many", ["| burgers | 2 | 1 | processes of each call |", "2 of 2 | 0 |"]),
    ],
)
def test_small_versions_run_once(name, words, tmp_path, monkeypatch, capsys):
    """In this process, which has compiled code; the second time nothing is left to do."""
    ran = []

    def here(module, case):
        ran.append(case)
        return import_module(module).answer(case)

    class Kept:
        def __init__(self, module):
            self.module = module

        def answer(self, case):
            return here(self.module, case)

        def end(self):
            pass

    monkeypatch.setattr(cases, "_in_a_process", here)
    monkeypatch.setattr(cases, "_Kept", Kept)
    given = ["--small", "--to", str(tmp_path), *(["--processes", "1"] if name == "many" else [])]
    for _ in range(2):
        import_module(f"benchmarks.{name}").main(given)
    page = (tmp_path / f"{name}.md").read_text()
    assert len(ran) == (2 if name == "points" else 1)
    assert all(w in page for w in [*words, "converged"]), page
    assert capsys.readouterr().out.count(page.strip()) == 2
    assert (tmp_path / "points.svg").exists() == (name == "points")


def test_a_case_has_a_process_of_its_own_and_one_that_dies_is_a_row(tmp_path):
    """The memory that counts is not that of the parent. As many points as above: its code is compiled already."""
    ballast = bytearray(2**30)
    wanted = [{"points": 60, "seed": 0}, {"points": -1, "seed": 0}]
    rows = cases.carry_out("benchmarks.points", wanted, tmp_path)
    assert rows[0]["status"] == "converged"
    assert 0.2 < rows[0]["peak"] < 1.0 < cases.peak_gib()
    assert 0 < rows[0]["round_seconds"] < rows[0]["seconds"] < rows[0]["cold"]
    assert rows[1]["status"] == cases.DIED
    assert rows[1]["explanation"].startswith("exit code 1: ValueError")
    assert "| 2 × -1 | – |" in points.report(rows)
    assert cases.carry_out("benchmarks.points", wanted, tmp_path) == rows
    assert len(ballast) == 2**30


def test_errors_by_hand():
    """Off by −1, 2 and 3 deviations of 1 % each; the last has no deviation."""
    fits = [
        {"estimates": {"a": 2.0 + 0.02 * k}, "stds": {"a": std}}
        for k, std in ((-1, 0.02), (2, 0.02), (3, 0.0))
    ]
    found = cases.errors([*fits, {"status": "refused"}], "a", 2.0)
    assert found == pytest.approx((100 * np.sqrt(14e-4 / 3), 2.5, 2.0, 0.5))
    assert cases.errors([], "a", 2.0) == (None, None, None, None)


@pytest.mark.parametrize("name", ["burgers", "schrodinger"])
def test_noise_is_relative_to_the_root_mean_square(name):
    """Of a complex field, each part has √½ of it."""
    problem = PROBLEMS[name]
    clean, nothing = recordings.noisy(problem, None, 0.0, 0, (1, 1))
    noisy, std = recordings.noisy(problem, None, 0.5, 3, (1, 1))
    size = np.sum(clean.values**2, axis=-1).mean()
    assert (nothing, std) == pytest.approx((0.0, 0.5 * np.sqrt(size / len(problem.fields))))
    assert np.std(noisy.values - clean.values, axis=(0, 1)) == pytest.approx(std, rel=0.02)
    for i, field in enumerate(problem.fields):
        np.testing.assert_array_equal(noisy.snapshots[5][field], noisy.values[:, 5, i])


def test_the_table_of_recordings_by_hand():
    """Two draws; of PySINDy's settings the better one over both counts."""

    def row(seed, by, **found):
        case = {"recording": "burgers", "noise": 1.0, "seed": seed, "by": by}
        return {"case": case, "status": "converged", "seconds": 2.0, "peak": 0.5} | found

    rows = []
    for seed, a in ((0, 1.02), (1, 0.96)):
        found = {"estimates": {"a": a, "b": 0.1}, "stds": {"a": 0.02, "b": 0.01}}
        rows.append(row(seed, recordings.OURS, **found, bounds={"a": 0.01}))
        good, bad = {"a": 1.1, "b": 0.1}, {"a": 1.0, "b": 0.2}
        rows.append(row(seed, recordings.WEAK_FORM, settings={"bad": bad, "good": good}))
    rows.append(row(2, recordings.OURS, status="refused"))
    page = recordings.report(rows)
    # √((2² + 4²)/2) %, (1² + 2²)/2 deviations.
    summary = (
        "| burgers | 100 % | a | 2 | 3.16 | 10 | good | 2.5 | 2 | 2 | 2 | 0.5 | converged 2, refused 1 |"
    )
    assert summary in page
    assert "| burgers | 100 % | 1 | a | -4 | 2 | 1 | 10 | 2 | 0.5 | converged |" in page
    assert "| burgers | 100 % | 2 | b | – | – | – | – | 2 | 0.5 | refused |" in page


def test_the_weak_form_gets_the_same_array():
    pytest.importorskip("pysindy")
    case = {
        "recording": "burgers",
        "noise": 0.01,
        "seed": 0,
        "by": recordings.WEAK_FORM,
        "folder": None,
        "every": [1, 1],
    }
    row = recordings.answer(case)
    assert len(row["settings"]) == 4
    assert recordings.best_setting([row], {"a": 1.0, "b": 0.1}) in row["settings"]
    assert min(abs(found["a"] - 1.0) for found in row["settings"].values()) < 0.05


def test_points_are_those_of_the_exact_solution():
    """In parts or at once; noise is 1 % of the spread."""
    pair = points.pair(2500, seed=0)
    assert [len(s) for s in pair] == [2500, 2500]
    for snapshot in pair:
        exact = burgers(gaussian_pulse, snapshot.t, snapshot["x"], 0.1)
        assert np.std(snapshot["u"] - exact) == pytest.approx(0.01 * np.std(exact), rel=0.05)


def test_a_stored_recording_is_that_of_the_exact_solution(tmp_path):
    points.store(tmp_path / "recording.nc", 3000, seed=0)
    recording = hp.read(tmp_path / "recording.nc")
    assert [len(s) for s in recording] == [3000] * points.SNAPSHOTS
    for snapshot in recording:
        exact = burgers(gaussian_pulse, snapshot.t, snapshot["x"], 0.1)
        assert np.std(snapshot["u"] - exact) == pytest.approx(0.01 * np.std(exact), rel=0.05)


def test_stops_are_drawn_with_other_points_in_other_stretches():
    first, again, other = (stops.drawn(None, 8, seed) for seed in (0, 0, 1))
    assert [len(s) for s in first] == [60] * 8
    np.testing.assert_allclose(np.diff(first.times), 0.2)
    np.testing.assert_array_equal(first[3]["u"], again[3]["u"])
    assert first.times[0] != other.times[0]
    assert not first.is_gridded


@pytest.mark.parametrize("period", driven.PERIODS)
def test_the_driven_field_against_one_wave(period):
    """Below a surface cos ωt the field is e^{−κx} cos(ωt − κx), κ = √(ω/2D): Carslaw & Jaeger (1959), § 2.6."""
    rate = 2 * np.pi / period
    decay = np.sqrt(rate / (2 * driven.TRUTH))

    def wave(t, x):
        return np.exp(-decay * x) * np.cos(rate * t - decay * x)

    grid = np.linspace(0, driven.BOTTOM, driven.CELLS + 1)
    times = driven.GAP * np.arange(driven.PROFILES)
    found = driven.simulate(lambda t: wave(t, 0.0), driven.TRUTH, times, wave(-driven.BEFORE, grid))
    assert np.abs(found - wave(times[:, None], driven.DEPTHS)).max() < 2e-5


def test_a_driven_draw_is_what_nine_sensors_tell():
    data = driven.profiles(0)
    assert (len(data), len(data[0])) == (60, 9)
    surface = driven.random_surface(0)(data.times)
    assert surface.std() > 2 * np.std([s["u"][-1] for s in data])  # the deepest sensor feels little of it


def test_pairs_have_their_numbers_of_points():
    assert [[len(s) for s in pair] for pair in many.pairs("burgers", 3)] == [[71, 69]] * 3
    first, _, last = many.pairs("ks", 3)
    assert [len(s) for s in first] == [151, 149]
    np.testing.assert_allclose(np.diff(last.times), 0.4)


def test_the_page_shows_the_rows_that_are_kept(tmp_path):
    """Seconds, memory and errors of the table on many points, and the picture made of the same rows."""
    page = (cases.ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    for power, row in zip("³⁴⁵⁶", points.kept(), strict=True):
        errors = ((row["estimates"][n] - truth) / row["stds"][n] for n, truth in points.TRUTH.items())
        words = ", ".join(f"{error:.1f}".replace("-", "−") for error in errors)
        assert f"| 2 × 10{power} | {row['seconds']:.0f} | {row['peak']:.2f} | {words} |" in page
        assert row["case"]["points"] == 10 ** (3 + "³⁴⁵⁶".index(power))
    points.main(["--draw", str(tmp_path / "points.svg")])
    assert (tmp_path / "points.svg").stat().st_size > 5_000
    assert "images/points.svg" in page
