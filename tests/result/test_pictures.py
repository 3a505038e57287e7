"""Pictures: the panels that a result calls for are there and hold the numbers."""

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.result import plot_result, plot_snapshot
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


def test_the_recording_is_drawn_when_it_is_known(found):
    x = np.linspace(0, 6, 40)
    recording = hp.Snapshots(hp.Snapshot(t=t, x=x, u=heat(t, x)) for t in np.linspace(0, 0.1, 11))
    figure = plot_result(found.with_recording(recording))
    assert "u(t, x)" in figure.axes[0].get_title()
    assert [line.get_xdata()[0] for line in figure.axes[0].lines] == [0.0, 0.05]


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
