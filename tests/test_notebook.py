"""The notebook of the documentation runs in a kernel and shows what it says; the stop button keeps the best so far."""

from __future__ import annotations

import base64
import io
import json
import time
from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
import matplotlib.image  # noqa: E402
import nbformat  # noqa: E402
from jupyter_client import BlockingKernelClient  # noqa: E402
from nbclient.util import run_sync  # noqa: E402

NOTEBOOK = Path(__file__).parents[1] / "docs" / "tutorials" / "notebook.ipynb"
pytestmark = [
    pytest.mark.xdist_group("notebook"),  # one kernel
    pytest.mark.filterwarnings("ignore::DeprecationWarning:(nbclient|jupyter_client|zmq|traitlets)"),
]

SLOW = """
import time


def slow(stage):
    print(stage, flush=True)
    time.sleep(0.4 if "round" in stage else 0.0)


kept = hp.identify("u_t + a*u*u_x - b*u_xx = 0", data, progress=slow)
print(kept.status, kept.explanation, kept.parameters["a"].estimate, sep="|")
"""


@pytest.fixture(scope="module")
def run() -> Any:
    """Run the notebook; yield its client, whose kernel still knows everything, and the cells with outputs."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3")
    with client.setup_kernel():
        for index, cell in enumerate(notebook.cells):
            client.execute_cell(cell, index)
        yield client


def cell(run: Any, beginning: str) -> Any:
    return next(c for c in run.nb.cells if c.source.startswith(beginning))


def data_of(output: Any) -> dict[str, Any]:
    return output.get("data", {})


def test_it_is_kept_without_outputs() -> None:
    kept = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    code = [c for c in kept["cells"] if c["cell_type"] == "code"]
    assert code
    assert all(c["outputs"] == [] and c["execution_count"] is None for c in code)


def test_a_fit_shows_equation_table_and_picture(run: Any) -> None:
    line, shown = cell(run, "fit = hp.identify").outputs
    assert "progress=False shows nothing" in data_of(line)["text/html"]
    html = data_of(shown)["text/html"]
    assert r"$\displaystyle u_{t} + 0.974(33)\, u u_{x}" in html
    assert "0.974 ± 0.033" in html
    assert "data:image/png;base64," in html
    assert "0.974 ± 0.033" in data_of(shown)["text/plain"]


@pytest.mark.parametrize(
    "beginning", ["fit.with_recording(recording).plot", "fit.plot_residuals", "fit.plot_parameters"]
)
def test_pictures_show_themselves_without_a_magic(run: Any, beginning: str) -> None:
    (shown,) = cell(run, beginning).outputs
    picture = matplotlib.image.imread(io.BytesIO(base64.b64decode(data_of(shown)["image/png"])))
    assert picture.shape[0] > 300
    assert picture.std() > 0.05  # something is drawn


def test_an_interrupt_by_a_function_keeps_the_best(run: Any) -> None:
    (printed,) = cell(run, "import _thread").outputs
    assert "not_converged: Interrupted." in printed["text"]


def test_the_stop_button_keeps_the_best_within_a_second(run: Any) -> None:
    """As a notebook does it: a signal to the kernel, from outside, while the fit is in a round."""
    client = BlockingKernelClient(connection_file=run.km.connection_file)
    client.load_connection_file()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    asked = client.execute(SLOW)
    pressed, text = 0.0, ""
    while True:
        message = client.get_iopub_msg(timeout=120)
        if message["parent_header"].get("msg_id") != asked:
            continue
        text += message["content"].get("text", "")
        if not pressed and "round 2" in text:
            run_sync(run.km.interrupt_kernel)()
            pressed = time.monotonic()
        if message["msg_type"] == "error":
            pytest.fail("\n".join(message["content"]["traceback"]))
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            break
    took = time.monotonic() - pressed
    client.stop_channels()
    status, explanation, estimate = text.strip().splitlines()[-1].split("|")
    assert status == "not_converged"
    assert explanation.startswith("Interrupted.")
    assert float(estimate) == pytest.approx(1.0, abs=0.15)
    assert took < 5.0  # 0.5 s on a free machine, of which 0.4 are asleep; many tests may run beside this one
