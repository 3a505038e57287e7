"""The report of made-up fits: everything is there, well formed, escaped, and in one file."""

import json
from html.parser import HTMLParser

import pytest

from hiddenphysics.reproduction import STUDIES, Outcome, report, tabulate
from hiddenphysics.reproduction.fit_plan import Plan
from hiddenphysics.reproduction.report.html_elements import comparison_table, equation, shade, tag
from hiddenphysics.reproduction.report.wording import CRAMER_RAO_HEAD, CRAMER_RAO_NOTE, CRAMER_RAO_TITLE
from tests.reproduction.small import MadeUp, made_up_row

pytestmark = pytest.mark.xdist_group("page")  # one process: the tests share a report

VOID = {"meta", "br"}


class Checker(HTMLParser):
    """Collects elements, and refuses any that is not closed where it should be."""

    def __init__(self):
        super().__init__()
        self.stack, self.counts, self.links, self.ids = [], {}, [], []

    def handle_starttag(self, name, attributes):
        self.counts[name] = self.counts.get(name, 0) + 1
        named = dict(attributes)
        self.links += [v for k, v in attributes if k in ("src", "href", "xlink:href") and v]
        self.ids += [named["id"]] if "id" in named else []
        if name not in VOID:
            self.stack.append(name)

    def handle_startendtag(self, name, attributes):
        self.handle_starttag(name, attributes)
        if name not in VOID:
            self.stack.pop()

    def handle_endtag(self, name):
        assert self.stack.pop() == name, f"</{name}> closes something else"


def made_up(studies):
    plan = Plan(studies, MadeUp())
    rows = {}
    for k, unit in enumerate(plan.units):
        study = plan.study(unit.study)
        drawn = (*plan.draw(unit).fields, *study.picture.hidden) if unit.picture else ()
        rows[unit.key] = made_up_row(dict(study.truth), (k % 7) - 3, drawn, len(study.fields) == 2)
        if plan.task(unit).noises:
            half = {p: 0.005 * v for p, v in study.truth.items()}
            rows[unit.key]["bounds"] = {f"{noise:g}": half for noise in study.noises}
        if unit.model == "flow" and unit.study == "kdv":
            rows[unit.key] = {
                "parameters": {},
                "status": "failed",
                "explanation": "a < b & c",
                "seconds": 0.0,
            }
    return Outcome(plan, rows)


@pytest.fixture(scope="module")
def outcome():
    return made_up(tuple(study.restricted(None, 2) for study in STUDIES.values()))


@pytest.fixture(scope="module")
def folder(outcome, tmp_path_factory):
    place = tmp_path_factory.mktemp("report")
    assert report(outcome, place) == place / "report.html"
    return place


@pytest.fixture(scope="module")
def page(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


def test_the_page_is_well_formed_and_whole(page):
    checker = Checker()
    checker.feed(page)
    assert checker.stack == []
    # Seven figures, one in two parts; the overview; six charts of gaps.
    assert checker.counts["svg"] == 8 + 1 + 6
    # Eleven tables, two of single fits, the equations of seven figures, the limit below five tables.
    assert checker.counts["table"] == 13 + 7 + 5
    assert set(STUDIES) <= set(checker.ids)
    assert len(checker.ids) == len(set(checker.ids))


def test_the_page_needs_nothing_from_elsewhere(page):
    checker = Checker()
    checker.feed(page)
    assert checker.links
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in checker.links)
    assert "url(http" not in page
    assert "@import" not in page


def test_the_page_says_what_failed_and_what_is_missing(page):
    assert "a &lt; b &amp; c" in page
    assert "a < b & c" not in page
    assert "hiddenphysics datasets make cylinder" in page
    assert "No recording: cylinder_dt_0.01 has not been made" in page


def test_ink_follows_the_page(page):
    assert "currentColor" in page
    assert "#010203" not in page
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_markdown_and_data_hold_the_same_tables(folder, outcome):
    found = json.loads((folder / "tables.json").read_text())
    assert found == json.loads(json.dumps(tabulate(outcome)))
    text = (folder / "report.md").read_text()
    for place in [f"Table {k}:" for k in range(1, 12)]:
        assert place in text
    for line in text.splitlines():
        if line.startswith("!["):
            name = line.split("(")[1].rstrip(")")
            assert (folder / name).read_bytes().startswith(b"\x89PNG")
    rows = [line.count("|") for line in text.splitlines() if line.startswith("|")]
    assert set(rows) == {5, 6, 7, 11}  # one, two or three parameters; the limit


def test_the_same_fits_make_the_same_page(tmp_path):
    outcome = made_up((STUDIES["levy"],))
    pages = [report(outcome, tmp_path / name).read_text(encoding="utf-8") for name in "ab"]
    assert pages[0] == pages[1]


def test_a_table_without_any_fit_still_shows_the_papers_numbers():
    study = STUDIES["burgers"]
    found = tabulate(Outcome(Plan((study,), MadeUp()), {}))["studies"][0]["tables"][0]
    text = comparison_table(found, study)
    assert "<b>1.0379</b>" in text
    assert "100 to do" in text


def test_the_limit_is_told_below_statistics_only(page, folder):
    for text in (page, (folder / "report.md").read_text()):
        assert text.count(CRAMER_RAO_NOTE) == text.count(CRAMER_RAO_TITLE + ".") == 5
        assert all(word in text for word in CRAMER_RAO_HEAD)
    line = next(
        v for v in (folder / "report.md").read_text().splitlines() if v.startswith("| 5 % noise | 2 | 0 |")
    )
    # Two fits of Burgers, each wrong by whole per cents, a per cent of deviation; the bound is half of that.
    _, _, pairs, weak, lost, error, within, ratio, bias, covered, seconds, _ = map(str.strip, line.split("|"))
    assert (pairs, weak, lost, within, seconds) == ("2", "0", "0", "–", "1.0")
    first, second = (float(v) for v in ratio.split(","))
    assert first == second
    assert all(part.count(",") == 1 for part in (error, bias, covered))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("u_t - 0.1 u_xx = 0", "<i>u</i><sub>t</sub> − 0.1 <i>u</i><sub>xx</sub> = 0"),
        (
            "i h_t + 1.0(2) abs(h)^2 h = 0",
            "<i>i</i> <i>h</i><sub>t</sub> + 1.0(2) |<i>h</i>|<sup>2</sup> <i>h</i> = 0",
        ),
        ("u = psi_y; v = -psi_x", "<i>u</i> = <i>ψ</i><sub>y</sub><br><i>v</i> = −<i>ψ</i><sub>x</sub>"),
        ("u_t + frac_lap(u, 1.41(2)) = 0", "<i>u</i><sub>t</sub> + (−Δ)<sup>1.41(2)/2</sup> <i>u</i> = 0"),
        ("D(u, x, alpha) = 0", "𝒟<sub>x</sub><sup><i>α</i></sup> <i>u</i> = 0"),
        ("u_t + 1e-05 u = 0", "<i>u</i><sub>t</sub> + 1e−05 <i>u</i> = 0"),
    ],
)
def test_equations_are_typeset(text, expected):
    assert equation(text) == expected


def test_attributes_are_escaped_and_shades_have_limits():
    assert tag("td", "x", title='a "b"', class_="c") == '<td title="a &quot;b&quot;" class="c">x</td>'
    assert [shade(e) for e in (0.0, 0.001, 0.0011, 0.05, 0.2, 3.0)] == ["e0", "e0", "e1", "e2", "e3", "e4"]


@pytest.mark.parametrize("name", ["burgers", "navier-stokes"])
def test_a_chain_alone_has_a_report_whose_figure_shows_the_points(name, tmp_path):
    outcome = made_up((STUDIES[name].restricted(("authors",), 12),))
    page = report(outcome, tmp_path).read_text()
    assert "paper’s method and search" in page
    assert "posterior mean" not in page
    assert "midpoint</th>" not in page
    assert " / 6</b>" in page
    assert list((tmp_path / "figures").iterdir())
