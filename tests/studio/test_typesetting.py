"""Typing: what becomes of it is MathML that a parser of XML reads, or a sentence with its place."""

import xml.etree.ElementTree as ET

import pytest

from benchmarks.zoo.cases import SPECIES
from hiddenphysics.studio.forms import FORMS
from hiddenphysics.studio.typesetting import matched, typeset


def letters(formula):
    """The text of MathML without its structure."""
    root = ET.fromstring(f"<div>{formula}</div>")  # noqa: S314  # our own
    return "".join(root.itertext()).replace(" ", "")


def test_an_equation_becomes_mathml():
    read = typeset("u_t + a*u*u_x - b*u_xx = 0")
    assert letters(read.formula) == "ut+auux−buxx=0"
    assert read.formula.count("<msub>") == 3
    assert read.formula.count("<mspace") == 3  # between factors: a u u_x is no word
    assert (read.fields, read.unknowns, read.mistake) == (("u",), ("a", "b"), "")


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_every_form_of_the_gallery_is_understood(form):
    read = typeset(form.text)
    assert read.mistake == ""
    assert read.unknowns
    assert letters(read.formula)


@pytest.mark.parametrize("species", SPECIES, ids=lambda species: species.name)
def test_every_equation_of_the_zoo_is_typeset(species):
    read = typeset(species.equation.text)
    assert read.mistake == ""
    assert letters(read.formula)


def test_unknown_functions_are_among_what_is_sought():
    read = typeset("u_t = d(D(x)*u_x, x) + r*u - f(u)")
    assert read.unknowns == ("r", "D(x)", "f(u)")
    assert letters(read.formula) == "ut=∂x(D(x)ux)+ru−f(u)"


def test_a_mistake_points_at_its_place():
    read = typeset("u_t + a*u*(u_x = 0")
    assert read.formula == ""
    sentence, line, caret = read.mistake.split("\n")
    assert sentence == "this ( is never closed: a ) is missing before the end of the statement"
    assert line[caret.index("^")] == "("


def test_what_looks_like_markup_stays_text():
    assert "<script>" not in typeset("u_t = <script>alert(1)</script>").formula


def test_columns_are_matched_where_names_do_not_tell():
    assert matched(("u",), ("u",), {}) == {}
    assert matched(("u",), ("temperature",), {}) == {}  # the only field is found by identify itself
    assert matched(("u",), ("u", "v"), {}) == {"u": "u"}
    assert matched(("u", "p"), ("u",), {}) == {"u": "u"}
    assert matched(("u", "v"), ("v", "u"), {}) == {}
    assert matched(("u",), ("p", "q"), {}) == {}
    assert matched(("u",), ("p", "q"), {"u": "q"}) == {"u": "q"}
    assert matched(("u", "v"), ("u", "v"), {"v": "", "u": "v"}) == {"u": "v"}
    assert matched(("u",), ("u", "v"), {"u": "gone"}) == {}
