"""Pictures: the panels that a result calls for are there and hold the numbers."""

from dataclasses import replace

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.result import plot_result, plot_snapshot
from tests.result.test_saved import SAVED
from tests.test_identification import HEAT, heat, heat_snapshots

pytestmark = pytest.mark.xdist_group("plots")  # one process: the tests share fits


@pytest.fixture(scope="module")
def found():
    return hp.identify(HEAT, heat_snapshots(gap=0.05, noise=0.01), model="paper")


def test_a_panel_for_each_snapshot_and_the_equation(found):
    figure = plot_result(found)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[:2] == ["u at t = 0: 25 points", "u at t = 0.05: 25 points"]
    written = [text.get_text() for text in figure.axes[-1].texts]
    assert found.identified() in written


def test_the_data_are_drawn_where_they_are(found):
    axes = plot_result(found).axes[0]
    drawn = next(line.get_xydata() for line in axes.lines if line.get_label() == "data")
    first = found.snapshots[0]
    assert np.array_equal(drawn, np.stack([first["x"], first["u"]], axis=1))


def heat_recording(count, last):
    x = np.linspace(0, 6, 40)
    return hp.Snapshots(hp.Snapshot(t=t, x=x, u=heat(t, x)) for t in np.linspace(0, last, count))


def test_the_recording_is_drawn_when_it_is_known(found):
    """The one-step models know the field between their snapshots only: no model beside a longer recording."""
    recording = heat_recording(11, 0.1)
    figure = plot_result(found.with_recording(recording))
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == ["u: the recording", "u at t = 0: 25 points", "u at t = 0.05: 25 points"]
    assert [line.get_xdata()[0] for line in figure.axes[0].lines] == [0.0, 0.05]
    drawn = figure.axes[0].collections[0].get_array()
    assert np.array_equal(np.asarray(drawn).T, recording.field_grid("u")[2])


@pytest.fixture(scope="module")
def flow():
    return hp.load(SAVED / "flow.nc")


@pytest.mark.parametrize(("count", "scattered"), [(2, False), (11, True), (101, False)])
def test_pictures_with_many_snapshots_stay_small(flow, count, scattered):
    """Up to three snapshots have a panel each; of more there is an image beside the model's, and three of them."""
    snapshots = heat_recording(count, 0.1)
    if scattered:
        snapshots = snapshots.subsample(12, seed=0)
    figure = plot_result(replace(flow, runs=hp.Experiments.single(snapshots)))
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    panels = [title for title in titles if " at t = " in title]
    assert len(panels) == min(count, 3)
    assert panels[0].startswith("u at t = 0:")
    assert panels[-1].startswith("u at t = 0.1:")
    data = "u: the data" if scattered else "u: the recording"
    images = [title for title in titles if title not in panels]
    assert images == ([] if count == 2 else [data, "u: the model", f"{data[7:]} − model"])
    width, height = figure.get_size_inches()
    assert (width, height < 7) == (10, True)


def test_the_models_image_is_its_mean(flow):
    snapshots = heat_recording(11, 0.1)
    figure = plot_result(replace(flow, runs=hp.Experiments.single(snapshots)))
    axes = next(axes for axes in figure.axes if axes.get_title() == "u: the model")
    drawn = np.asarray(axes.collections[0].get_array())
    mean, _ = flow.predict("u", snapshots[5]["x"], t=snapshots[5].t)
    np.testing.assert_allclose(drawn[:, 5], mean, atol=1e-5)


def test_of_very_many_values_an_even_part_is_drawn(found):
    x = np.linspace(0.1, 5.9, 10_001)
    many = hp.Snapshots(hp.Snapshot(t=t, x=x, u=heat(t, x)) for t in (0.0, 0.05))
    axes = plot_result(replace(found, runs=hp.Experiments.single(many))).axes[0]
    drawn = next(line.get_xdata() for line in axes.lines if line.get_label() == "data")
    assert (len(drawn), drawn[0], drawn[-1]) == (2000, x[0], x[-1])


def test_known_deviations_are_error_bars(found):
    exact = [hp.Snapshot(s.t, s["x"], u=s["u"], u_std=np.linspace(0.1, 0.2, len(s))) for s in found.snapshots]
    axes = plot_result(replace(found, runs=hp.Experiments.single(hp.Snapshots(exact)))).axes[0]
    (bars,) = [c for c in axes.collections if len(c.get_paths()) == 25]
    lengths = [np.ptp(path.vertices[:, 1]) for path in bars.get_paths()]
    np.testing.assert_allclose(lengths, 4 * np.linspace(0.1, 0.2, 25))
    assert "data ± 2 std" in [text.get_text() for text in axes.get_legend().get_texts()]


def test_no_legend_lies_on_what_is_drawn(found):
    axes = plot_result(found).axes[0]
    axes.figure.draw_without_rendering()
    box = axes.get_legend().get_window_extent()
    curve = next(line for line in axes.lines if line.get_label() == "posterior mean")
    drawn = axes.transData.transform(curve.get_xydata())
    assert drawn[:, 1].max() < box.y0


def test_a_history_is_every_mean(flow):
    """All times in one run, each at its own points, as one time after the other."""
    times = np.array([*flow.snapshots.times, flow.snapshots.times[-1] + 0.3])
    places = [np.linspace(-1.0, 1.0, count)[:, None] for count in range(3, 3 + len(times))]
    for t, points, mean in zip(times, places, flow.history("u", times, places), strict=True):
        np.testing.assert_allclose(mean, flow.mean("u", points, t), atol=1e-6)
    two = hp.load(SAVED / "midpoint.nc")
    (mean,) = two.history("u", two.snapshots.times[:1], places[:1])
    np.testing.assert_array_equal(mean, two.mean("u", places[0], two.snapshots.times[0]))


def test_residuals_are_what_the_model_leaves(found):
    table = found.residuals()
    first = found.snapshots[0]
    mean, _ = found.predict("u", first["x"], t=0.0)
    np.testing.assert_allclose(table["u"][:25], first["u"] - mean, atol=1e-12)
    figure = found.plot_residuals()
    drawn = figure.axes[0].collections[-1].get_offsets()
    expected = np.clip(table["u"] / found.noise_std, -4, 4)
    np.testing.assert_allclose(drawn, np.stack([table["x"], expected], axis=1))
    (histogram,) = [axes for axes in figure.axes if axes.get_title() == "50 values"]
    areas = [patch.get_height() * patch.get_width() for patch in histogram.patches]
    assert sum(areas) == pytest.approx(1.0)  # a density


def test_the_correlation_of_the_parameters_is_written(found):
    two = hp.load(SAVED / "midpoint.nc")
    (number,) = [float(text.get_text()) for axes in two.plot_parameters().axes for text in axes.texts]
    assert number == pytest.approx(np.corrcoef(two.draws(20_000, 0).T)[0, 1], abs=0.02)
    titles = [axes.get_title() for axes in two.plot_parameters().axes]
    assert f"a = {two.parameters['a']}" in titles
    (one,) = found.plot_parameters().axes
    assert one.get_title() == f"b = {found.parameters['b']}"


def test_many_parameters_are_a_matrix(found):
    equation = hp.Equation.parse("u_t + " + " + ".join(f"c{k}*d(u, x, {k})" for k in range(1, 7)) + " = 0")
    values = dict.fromkeys(equation.parameters, 1.0) | {"noise.variance": 1.0}
    many = replace(found, equation=equation, values=values, covariance=np.eye(7))
    axes = many.plot_parameters().axes[0]
    assert np.array_equal(axes.images[0].get_array(), np.eye(6))
    assert axes.get_yticklabels()[0].get_text() == "c1 = 1.0 ± 1.0"


def test_without_deviations_there_is_no_picture_of_the_parameters(found):
    unknown = replace(found, covariance=np.full((4, 4), np.inf))
    with pytest.raises(hp.ModelError, match="no finite covariance: the fit ended converged"):
        unknown.plot_parameters()
    held = replace(found, covariance=np.zeros((4, 4)))
    with pytest.raises(hp.ModelError, match="needs a deviation of each"):
        held.plot_parameters()


def test_two_dimensions_are_drawn_as_maps():
    rng = np.random.default_rng(0)
    snapshots = []
    for t in (0.0, 0.02):
        x, y = rng.uniform(0, 4, (2, 40))
        snapshots.append(hp.Snapshot(t, x, y, u=np.exp(-0.6 * t) * np.sin(x + y)))
    figure = plot_result(hp.identify("u_t - b*lap(u) = 0", snapshots, model="paper"))
    panels = [axes for axes in figure.axes if axes.get_title().startswith("u at t")]
    assert [axes.get_ylabel() for axes in panels] == ["y", "y"]
    drawn = panels[1].collections[0].get_array()
    assert np.max(np.abs(drawn)) == pytest.approx(np.exp(-0.012), rel=0.02)  # the wave's amplitude


def test_panels_return_their_axes(found):
    axes = plot_result(found).axes[0]
    assert plot_snapshot(found, "u", 1, axes) is axes


def test_files_are_written_and_not_overwritten(found, tmp_path):
    path = tmp_path / "new" / "heat.png"
    found.plot(path)
    assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(hp.DataError, match="exists and is not overwritten"):
        found.plot(path)
    with pytest.raises(hp.DataError, match="Use an ending such as"):
        found.plot(tmp_path / "heat.gif9")
