"""The comparison with the neighbours: its data, its table, ours on one pair; PySINDy where it is installed."""

import numpy as np
import pytest

from benchmarks.neighbours import library, ours, peers, pinn, plan, sindy, table
from benchmarks.neighbours.extra import load_neighbour
from benchmarks.neighbours.fit import Fit, Job, append, load
from benchmarks.neighbours.problems import PROBLEMS
from benchmarks.neighbours.recording import record
from hiddenphysics.errors import MissingExtraError


@pytest.fixture(scope="module")
def clean():
    """Our own recording of Burgers' equation."""
    return record(PROBLEMS["burgers"], None, 0.0)


def a_fit(method="PySINDy weak", form="told", setting="s", a=1.0, b=0.1, gap=0, index=0, **other):
    job = Job("burgers", 0.0, method, gap, index)
    return Fit(job, form, setting, 100, {"a": a, "b": b}, seconds=1.0, **{"extra": (), "missing": ()} | other)


def feature(name, fields, k):
    """Evaluate one of PySINDy's names by FFT: products of powers, times one derivative."""
    derivative = next((f for f in fields if f"{f}_1" in name), None)
    powers = name
    value = 1.0
    if derivative:
        powers, order = name.split(f"{derivative}_1")[0], name.count("1")
        value = np.fft.ifft((1j * k[:, None]) ** order * np.fft.fft(fields[derivative], axis=0), axis=0).real
    for factor in powers.replace("hh", "h h").split():
        base, _, power = factor.partition("^")
        value = value * fields[base] ** int(power or 1)
    return value


@pytest.mark.parametrize("name", list(PROBLEMS))
def test_the_terms_are_the_equation(name):
    """With the true parameters, the terms add up to the time derivative of the recording."""
    problem = PROBLEMS[name]
    recording = record(problem, None, 0.0)
    k = 2 * np.pi * np.fft.fftfreq(len(recording.x), recording.x[1] - recording.x[0])
    fields = {f: recording.values[..., i] for i, f in enumerate(problem.fields)}
    inner = slice(len(recording.times) // 2, len(recording.times) // 2 + 9)
    for target, field in enumerate(problem.fields):
        right = sum(
            t.factor * problem.truth[t.parameter] * feature(t.feature, fields, k)
            for t in problem.terms
            if t.target == target
        )
        # Centred differences of fourth order in time.
        u, h = fields[field], recording.times[1] - recording.times[0]
        left = (u[:, :-4] - 8 * u[:, 1:-3] + 8 * u[:, 3:-1] - u[:, 4:]) / (12 * h)
        # Only waves that differences in time resolve: KdV's data carry short ripples with rates of hundreds.
        slow = np.abs(k) < 2.5
        left, wrong = (np.fft.fft(part[:, inner], axis=0)[slow] for part in (left, left - right[:, 2:-2]))
        assert np.linalg.norm(wrong) < 0.02 * np.linalg.norm(left)


def test_noise_is_in_proportion_and_drawn_once(clean):
    noisy = record(PROBLEMS["burgers"], None, 0.05)
    assert np.std(noisy.values - clean.values) == pytest.approx(0.05 * np.std(clean.values), rel=0.03)
    np.testing.assert_array_equal(noisy.values, record(PROBLEMS["burgers"], None, 0.05).values)
    # The pair that ours sees is cut from what the others see.
    np.testing.assert_array_equal(noisy.pair(10, 15)[1]["u"], noisy.values[:, 25, 0])


def test_pairs_are_spread_over_the_recording(clean):
    assert clean.starts(1, 10)[::9] == [0, len(clean.times) - 2]
    assert clean.starts(15, 1) == [0]


def test_the_original_files_are_the_same_recordings(shared, clean):
    original = record(PROBLEMS["burgers"], shared("data"), 0.0)
    np.testing.assert_allclose(original.values, clean.values, atol=1e-7)


def test_each_program_gets_what_it_can_use(clean):
    asked = plan.Plan(None, ("burgers",), tuple(plan.METHODS), (0.0,), ("short", "long"), 3)
    gaps = {m: [j.gap for j in plan.jobs(asked, "burgers", m, 0.0, clean)] for m in plan.METHODS}
    assert gaps["hiddenphysics"] == [1, 1, 1, 15, 15, 15]
    assert gaps["PySINDy strong"] == [0, 1, 1, 1, 15, 15, 15]
    assert gaps["PySINDy weak"] == [0]
    assert gaps["DeepXDE"] == [0, 1, 15]
    assert not list(plan.jobs(asked, "schrodinger", "DeepXDE", 0.0, clean))


def test_ours_on_one_pair(clean):
    (fit,) = ours.fit(Job("burgers", 0.0, "hiddenphysics", 1, 30), clean)
    assert fit.answered
    assert fit.values == 140
    assert table.best_lines([fit])[0].errors.max() < 0.1


def test_a_stopped_run_goes_on(tmp_path, monkeypatch):
    """Fits that stand in the file are not made again, and come back equal."""
    made = []

    def counted(job, recording):
        made.append(job)
        return [Fit(job, "told", "s", 2, {"a": 1.0, "b": 0.2}, ("x",), (), 0.5)]

    monkeypatch.setattr(ours, "fit", counted)
    rows = tmp_path / "rows.jsonl"
    half = plan.Plan(None, ("burgers",), ("hiddenphysics",), (0.0,), ("short",), 2, rows)
    first = plan.carry_out(half, lambda words: None)
    both = plan.Plan(None, ("burgers",), ("hiddenphysics",), (0.0,), ("short", "long"), 2, rows)
    said = []
    second = plan.carry_out(both, said.append)
    assert len(first) == len(said) == 2
    assert second[:2] == first
    assert len(made) == len(second) == len(load(rows)) == 4


def test_fits_survive_a_file(tmp_path):
    fits = [a_fit(extra=("u_t: u",)), a_fit(answered=False)]
    append(tmp_path / "fits", fits)
    assert load(tmp_path / "fits") == fits
    assert load(tmp_path / "none") == []


def test_the_best_setting_has_the_right_terms_first_and_then_the_smallest_error():
    fits = [
        a_fit(form="found", setting="close", a=1.001, extra=("u_t: u",)),
        a_fit(form="found", setting="right", a=1.02),
        a_fit(form="found", setting="worse", a=1.03),
        a_fit(form="found", setting="broken", a=np.nan),
    ]
    (line,) = table.best_lines(fits)
    assert line.setting == "right"
    assert "| 2, 0 | none | 1 | right |" in table.table(fits)


def test_quartiles_count_answers_and_say_how_many_were_silent():
    fits = [a_fit("hiddenphysics", a=1 + e / 100, gap=1, index=i) for i, e in enumerate((1, 2, 3, 4, 5))]
    fits.append(a_fit("hiddenphysics", a=9.0, gap=1, index=9, answered=False))
    text = table.table(fits)
    assert "3 [2–4], 0 [0–0]; 6 pairs, 1 without an answer" in text
    assert "no answer (1 pairs)" in table.table(fits[-1:])


def test_a_missing_neighbour_says_what_to_type():
    with pytest.raises(MissingExtraError, match=r'pip install "hiddenphysics\[neighbours\]"'):
        load_neighbour("no_such_neighbour")


def test_the_network_sees_the_points_that_ours_sees(clean):
    problem = PROBLEMS["burgers"]
    places, values = pinn.measured(Job("burgers", 0.0, "DeepXDE", 1, 30), problem, clean)
    pair = clean.pair(30, 1).subsample(list(problem.points), seed=30)
    np.testing.assert_array_equal(places[:71, 0], pair[0]["x"])
    np.testing.assert_array_equal(values[71:], pair[1]["u"])
    assert len(pinn.measured(Job("burgers", 0.0, "DeepXDE", 0, 0), problem, clean)[1]) == pinn.MEASURED


@pytest.mark.parametrize(
    "how", [library.Strong(False, window_x=21, window_t=11), library.Strong(True, waves=25, window_t=11)]
)
def test_smoothing_takes_noise_away_and_leaves_the_field(clean, how):
    noisy = record(PROBLEMS["burgers"], None, 0.05)
    assert np.std(library.smoothed(clean.values, how) - clean.values) < 0.01 * np.std(clean.values)
    assert np.std(library.smoothed(noisy.values, how) - clean.values) < 0.02 * np.std(clean.values)


def test_coefficients_are_read_off_by_name():
    names = ("u", "uu_1", "u_11")
    estimates, extra, missing = sindy.read_off(PROBLEMS["burgers"], names, np.array([[0.3, -1.1, 0.0]]))
    assert estimates == {"a": 1.1, "b": 0.0}
    assert (extra, missing) == (("u_t: u",), ("u_t: u_11",))


def test_pysindy_finds_the_true_coefficients(clean):
    """Strong, weak and from a pair: the true terms on clean data, and the sparse form of the weak one."""
    pytest.importorskip("pysindy")
    problem = PROBLEMS["burgers"]
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    weak = library.weak_regression(problem, clean, library.Weak(200, 0.05, 0.05))
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    exact = library.Strong(spectral=True)
    for regression, bar in (
        (library.strong_regression(problem, clean, exact), 0.02),
        (library.pair_regression(problem, clean, 30, 1, exact), 0.02),
        (weak, 0.02),
    ):
        estimates, extra, missing = sindy.read_off(problem, regression.names, sindy.told(problem, regression))
        assert not extra + missing
        assert estimates == pytest.approx(problem.truth, rel=bar)
    sparse = sindy.found(weak, sindy.Sparse(0.1, unit_columns=True))
    estimates, extra, missing = sindy.read_off(problem, weak.names, sparse)
    assert not extra + missing


# ---- the table of peers --------------------


PAGE = f"# Words\n\n{peers.BEGIN}\n| old |\n\n{peers.END}\nMore words.\n"


def test_the_page_holds_the_table_of_the_fits_that_are_kept():
    page = peers.PAGE.read_text(encoding="utf-8")
    assert page == peers.renewed(page, peers.table(load(peers.ROWS)))
    assert {fit.job.problem for fit in load(peers.ROWS)} == set(peers.DATA)
    assert {fit.job.method for fit in load(peers.ROWS)} == set(plan.METHODS)
    assert {fit.job.noise for fit in load(peers.ROWS)} == {peers.NOISE}


def test_peers_are_run_where_they_are_installed(tmp_path, monkeypatch, capsys):
    """All snapshots for each; of several settings the best is kept; a program that is missing is named."""
    asked = []

    def stand_in(job, recording):
        asked.append((job.method, job.problem, job.gap))
        return [
            Fit(job, "told", setting, 9, {"a": 1.0 + off, "b": 0.1}, (), (), 2.0)
            for setting, off in (("near", 0.01), ("far", 0.1))
        ]

    for module in (ours, sindy, pinn):
        monkeypatch.setattr(module, "fit", stand_in)
    monkeypatch.setattr(
        peers, "in_a_process", lambda method, name, rows, limit: peers.make(method, name, rows)
    )
    monkeypatch.setattr(peers, "find_spec", lambda name: None if name == "deepxde" else name)
    rows, page = tmp_path / "rows.jsonl", tmp_path / "page.md"
    page.write_text(PAGE)
    words = ["--rows", str(rows), "--page", str(page), "--problems", "burgers"]
    peers.main(words)
    assert asked == [(m, "burgers", 0) for m in ("hiddenphysics", "PySINDy strong", "PySINDy weak")]
    assert (
        'DeepXDE: deepxde is not installed. Type: pip install "hiddenphysics[neighbours]"'
        in capsys.readouterr().err
    )
    assert "| weak SINDy (PySINDy) | told | 1, 0 | 2 | – | – | – | – |" in page.read_text()
    assert page.read_text().startswith("# Words\n")
    assert page.read_text().endswith("More words.\n")
    assert {fit.setting for fit in load(rows) if fit.job.method.startswith("PySINDy")} == {"near"}
    monkeypatch.setattr(peers, "find_spec", lambda name: name)
    peers.main(words)
    assert asked[3:] == [("DeepXDE", "burgers", 0)]  # what is kept is not made again
    peers.main([*words, "--table"])
    assert len(asked) == 4


@pytest.mark.parametrize(
    ("given", "limit", "how"), [("burgers", 0.1, "ended after 0.1 s"), ("nothing", 60.0, "code 1")]
)
def test_a_program_that_does_not_end_or_dies_is_a_row(given, limit, how, tmp_path):
    rows = tmp_path / "rows.jsonl"
    peers.in_a_process("hiddenphysics", given, rows, limit)
    (fit,) = load(rows)
    assert how in fit.setting
    assert not fit.answered
    assert fit.seconds >= 0.1
    if given in peers.DATA:
        assert "| **ours** | told | no answer | " in peers.table([fit])


def test_wrong_terms_and_silence_are_said():
    fits = [
        a_fit(form="found", extra=("u_t: u", "u_t: uu")),
        a_fit("hiddenphysics", answered=False),
    ]
    text = peers.table(fits)
    assert "| weak SINDy (PySINDy) | found | wrong: 2 too many, 0 missing | 1 |" in text
    assert "| **ours** | told | no answer | 1 |" in text
    with pytest.raises(ValueError, match="has no <!-- made by"):
        peers.renewed("# Words", text)
