"""What a notebook shows of a result, as IPython's own formatters collect it; a kernel does it in `test_notebook`."""

import base64
import re
import sys
from dataclasses import replace

import pytest

import hiddenphysics as hp
from hiddenphysics.learning import Status
from tests.result.test_saved import SAVED

PNG = b"\x89PNG\r\n"


@pytest.fixture(scope="module")
def fit():
    return hp.load(SAVED / "flow.nc")


def test_equation_table_verdict_and_picture(fit):
    shown = fit._repr_html_()
    assert f"$\\displaystyle {fit.latex()}$" in shown
    cells = re.findall(r"<td[^>]*>(.*?)</td>", shown)
    assert cells[:3] == ["b", "0.215 ± 0.031", "[0.153, 0.277]"]
    assert f"<b>converged</b>: {fit.explanation}" in shown
    (picture,) = re.findall(r'src="data:image/png;base64,([^"]+)"', shown)
    assert base64.b64decode(picture).startswith(PNG)
    assert not re.search(r"(src|href)=\"(?!data:)", shown)  # nothing is fetched from elsewhere


def test_what_ipython_collects(fit):
    formatter = pytest.importorskip("IPython.core.formatters").DisplayFormatter()
    shown, _ = formatter.format(fit)
    assert shown["text/plain"] == str(fit)
    assert shown["text/html"] == fit._repr_html_()
    assert shown["text/latex"] == f"$\\displaystyle {fit.latex()}$"
    picture, sizes = formatter.format(fit.plot())
    assert picture["image/png"].startswith(PNG)
    assert sizes["image/png"]["width"] == 840


def test_several_equations_are_one_formula():
    fit = hp.load(SAVED / "midpoint.nc")
    two = hp.Equation.parse("u_t + a*v = 0; v_t + b*u = 0", fields=["u", "v"])
    latex = replace(fit, equation=two)._repr_latex_()
    assert latex.startswith(r"$\displaystyle \begin{gathered}u_{t} - 0.711(71)\, v = 0 \\ v_{t}")


def test_what_a_file_says_is_no_markup(fit):
    told = replace(fit, reason="<script>alert(1)</script>", status=Status.NOT_CONVERGED)._repr_html_()
    assert "<script" not in told
    assert "&lt;script&gt;" in told


def test_without_matplotlib_the_numbers_are_shown(fit, monkeypatch):
    monkeypatch.setitem(sys.modules, "hiddenphysics.result.self_showing", None)
    shown = fit._repr_html_()
    assert "0.215 ± 0.031" in shown
    assert "pip install &quot;hiddenphysics[plot]&quot;" in shown


def test_a_list_of_results_is_readable(fit):
    assert repr([fit]) == f"[<Result, converged: {fit.identified()}>]"
