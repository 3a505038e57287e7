"""1.038(14), 1.038 ± 0.014 and their edge cases."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hiddenphysics.equation import format_interval, format_plus_minus, format_uncertain


@pytest.mark.parametrize(
    ("value", "std", "text"),
    [
        (1.0379, 0.0142, "1.038(14)"),
        (0.0976, 0.0031, "0.0976(31)"),
        (-1.0379, 0.0142, "-1.038(14)"),
        (12.4, 31, "12(31)"),
        (1234, 151, "1230(150)"),
        (1.2, 3.1, "1.2(31)"),
        (0.0, 0.5, "0.00(50)"),
        (1.0, 0.0996, "1.00(10)"),
        (1.0, 0.0994, "1.000(99)"),
        (1.0, 99.6, "0(100)"),
        (1.234e-9, 4.5e-10, "1.23(45)e-09"),
        (1.234e12, 4.5e10, "1.234(45)e+12"),
        (1e-12, 3.1, "0.0(31)"),
        (5.0, 1e-9, "5.0000000000(10)"),
        (5.0, 1e-30, "5"),
        (0.1, None, "0.1"),
        (1 / 3, None, "0.333333"),
        (2.0, 0.0, "2"),
        (2.0, math.nan, "2"),
        (2.0, math.inf, "2(inf)"),
        (math.nan, 1.0, "nan"),
        (math.inf, 1.0, "inf"),
    ],
)
def test_examples(value, std, text):
    assert format_uncertain(value, std) == text


SHOWN = re.compile(r"(-?\d+(?:\.(\d+))?)\((\d+)\)(?:e([+-]\d+))?")
MAGNITUDE = st.floats(1e-20, 1e20)


@settings(deadline=None, max_examples=200)
@given(MAGNITUDE, st.floats(1e-6, 1e6), st.sampled_from([1, -1]))
def test_reads_back(size, relative, sign):
    """Value and spread read back from the text agree with the numbers, to two digits of the spread."""
    value, std = sign * size, size * relative
    match = SHOWN.fullmatch(format_uncertain(value, std))
    scale = 10.0 ** int(match[4] or 0)
    shown_std = int(match[3]) * 10.0 ** -len(match[2] or "") * scale
    assert shown_std == pytest.approx(std, rel=0.051)
    assert float(match[1]) * scale == pytest.approx(value, abs=0.051 * std)


@pytest.mark.parametrize(
    ("value", "std", "text"),
    [
        (885.123, 112.0, "885 ± 110"),
        (0.973541, 0.0327, "0.974 ± 0.033"),
        (0.103734, 0.0097, "0.1037 ± 0.0097"),
        (-1.0379, 0.0142, "-1.038 ± 0.014"),
        (12345.6, 1234.0, "12346 ± 1200"),
        (12.4, 31, "12 ± 31"),
        (-1e-4, 0.5, "0.00 ± 0.50"),
        (1.0, 0.0996, "1.00 ± 0.10"),
        (1.234e-9, 4.5e-10, "(1.23 ± 0.45)e-09"),
        (1.234e12, 4.5e10, "(1.234 ± 0.045)e+12"),
        (0.1, None, "0.1"),
        (2.0, 0.0, "2"),
        (2.0, math.nan, "2"),
        (2.0, math.inf, "2 ± inf"),
        (516.288, math.inf, "516 ± inf"),
        (12345.6, math.inf, "12300 ± inf"),
        (math.nan, 1.0, "nan"),
    ],
)
def test_plus_minus(value, std, text):
    assert format_plus_minus(value, std) == text


PLUS_MINUS = re.compile(r"\(?(-?[\d.]+) ± ([\d.]+)(?:\)e([+-]\d+))?")


@settings(deadline=None, max_examples=200)
@given(MAGNITUDE, st.floats(1e-6, 1e6), st.sampled_from([1, -1]))
def test_plus_minus_reads_back(size, relative, sign):
    value, std = sign * size, size * relative
    match = PLUS_MINUS.fullmatch(format_plus_minus(value, std))
    scale = 10.0 ** int(match[3] or 0)
    assert float(match[2]) * scale == pytest.approx(std, rel=0.051)
    assert float(match[1]) * scale == pytest.approx(value, abs=0.051 * std)


@pytest.mark.parametrize(
    ("low", "high", "std", "text"),
    [
        (0.90938, 1.0377, 0.0327, "[0.909, 1.038]"),
        (665.6, 1104.6, 112.0, "[666, 1105]"),
        (0.0, 0.3, 0.2, "[0.00, 0.30]"),
        (-math.inf, math.inf, math.inf, "[-inf, inf]"),
        (1.1e-9, 1.5e-9, 1e-10, "[1.10e-09, 1.50e-09]"),
        (0.5, 0.5, 0.0, "[0.5, 0.5]"),
    ],
)
def test_intervals(low, high, std, text):
    assert format_interval(low, high, std) == text
