import hashlib
from dataclasses import replace

import numpy as np
import pytest

from hiddenphysics.errors import DataError
from hiddenphysics.reproduction import STUDIES, Library
from hiddenphysics.reproduction.fit_plan import Plan, Unit, starts
from hiddenphysics.reproduction.paper_tables import Published
from tests.reproduction.small import TIMES, X, heat, small_study, write_recording


@pytest.fixture
def plan(tmp_path):
    return Plan((small_study(models=("paper", "flow")),), Library(write_recording(tmp_path)))


def test_pairs_are_all_or_evenly_spaced():
    assert starts(101, 1, None) == list(range(100))
    assert starts(101, 1, 100) == starts(101, 1, 1000) == list(range(100))
    assert starts(101, 1, 1) == [50]
    assert np.ptp(np.diff(starts(201, 5, 13))) <= 1
    assert max(starts(12, 5, None)) + 5 == 11
    assert starts(3, 5, None) == starts(3, 5, 4) == []


def test_every_fit_is_planned_once_and_shapes_stand_together(plan):
    keys = [u.key for u in plan.units]
    assert len(keys) == len(set(keys))
    # 6 pairs, 2 noise levels, 2 models; the figure's pair is drawn once more, clean.
    assert len(keys) == 6 * 2 * 2 + 2
    shapes = [u.shape for u in plan.units]
    assert shapes == sorted(shapes, key=[("heat", "paper"), ("heat", "flow")].index)


def test_all_models_see_the_same_draw_and_other_pairs_another(plan):
    def drawn(model, first, noise, seed=0):
        pair = plan.draw(Unit("heat", "heat.npz", 1, noise, model, first, seed))
        return np.concatenate([np.concatenate([s["x"], s["u"]]) for s in pair])

    assert np.array_equal(drawn("paper", 2, 0.01), drawn("flow", 2, 0.01))
    assert not np.array_equal(drawn("paper", 2, 0.01), drawn("paper", 3, 0.01))
    assert not np.array_equal(drawn("paper", 2, 0.0), drawn("paper", 2, 0.0, seed=1))


def test_noise_has_its_level_and_the_points_are_the_same_at_every_level(plan):
    ratios = []
    for first in range(6):
        clean, noisy = (plan.draw(Unit("heat", "heat.npz", 1, n, "paper", first, 0)) for n in (0.0, 0.05))
        field = np.concatenate([heat(t) for t in TIMES[first : first + 2]])
        for a, b in zip(clean, noisy, strict=True):
            assert np.array_equal(a["x"], b["x"])
            ratios.append((b["u"] - a["u"]) / np.std(field))
    # 186 numbers: their standard deviation is known to 5 %, three of which are allowed.
    assert np.std(np.concatenate(ratios)) == pytest.approx(0.05, rel=0.15)


def test_a_clean_draw_is_the_field_at_the_right_times(plan):
    pair = plan.draw(Unit("heat", "heat.npz", 3, 0.0, "paper", 1, 0))
    assert pair.times == pytest.approx(TIMES[[1, 4]])
    assert [len(s) for s in pair] == [16, 15]
    for snapshot in pair:
        assert snapshot["u"] == pytest.approx(np.interp(snapshot["x"], X, heat(snapshot.t)))


def test_known_errors_reach_the_worker_and_are_no_field_to_draw(tmp_path):
    """Histograms have errors that are known; our own data sets and a user's file both bring them along."""
    x = np.linspace(-1, 1, 20)
    np.savez(
        tmp_path / "counted.npz", t=TIMES, x=x, u=np.cos(x + TIMES[:, None]), u_std=np.full((7, 20), 0.1)
    )
    own = STUDIES["brownian"]
    for study, library in (
        (small_study(points=(9, 8)), Library(tmp_path / "counted.npz")),
        (own, Library(folder=tmp_path)),
    ):
        plan = Plan((study,), library)
        unit = next(u for u in plan.units if u.picture)
        task = plan.task(unit)
        for (_, _, columns), snapshot in zip(task.columns, plan.draw(unit), strict=True):
            assert set(columns) == {"u", "u_std"}
            assert np.array_equal(columns["u_std"], snapshot.stds["u"])
        assert task.drawn == ("u",)


def test_a_digest_follows_what_a_fit_depends_on(tmp_path):
    file = write_recording(tmp_path)
    study = small_study()
    data = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    unit = Plan((study,), Library(file)).units[0]
    assert Plan((study,), Library(file)).digest(unit) == study.digest(data)
    assert study.digest(data) != study.digest("other")
    for change in ({"equation": "u_t - b*u_xx = 0 "}, {"points": (15, 15)}, {"fitted": False}):
        assert small_study(**change).digest(data) != study.digest(data)
    assert study.restricted(None, 2).digest(data) == study.digest(data)
    # Other noise levels are other bounds of the clean fits.
    cells = study.tables[0].cells
    quiet = small_study(tables=(replace(study.tables[0], cells=cells[:1]),))
    assert quiet.digest(data) != study.digest(data)
    cells[0].paper.update({"b": Published(9.0)})
    assert study.digest(data) == small_study().digest(data)


def test_original_files_are_found_in_a_folder_and_own_data_otherwise(tmp_path):
    write_recording(tmp_path)
    study = small_study(files=("absent.mat", "heat.npz"))
    recording = Library(tmp_path).open(study)
    assert recording.label == "heat.npz"
    assert recording.times == pytest.approx(TIMES)
    with pytest.raises(DataError, match="There is no data set 'heat'"):
        Library(tmp_path).open(small_study(files=("absent.mat",)))
    with pytest.raises(DataError, match="there is no such file or folder"):
        Library(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"holds the fields u; the study 'heat' needs 2: u, v"):
        Library(tmp_path / "heat.npz").open(small_study(fields=("u", "v")))


def test_the_shipped_extract_stands_in_for_the_long_run(tmp_path):
    study = STUDIES["navier-stokes"]
    library = Library(folder=tmp_path)
    assert library.open(study).label == "cylinder_extract"
    plan = Plan((study.restricted(None, 2),), library)
    assert {u.data for u in plan.units} == {"cylinder_extract"}
    pair = plan.draw(next(u for u in plan.units if not u.chained))
    assert (pair.fields, [len(s) for s in pair]) == (("u", "v"), [251, 249])
    with pytest.raises(DataError, match="has not been made"):
        library.open(study, "cylinder_dt_0.01")
