"""Small pieces of HTML: escaped text, and equations with their subscripts."""

from __future__ import annotations

import re
from html import escape

_NUMBER = r"[−\-]?\d[\d.]*(?:e[−\-+]?\d+)?(?:\(\d+(?:\.\d+)?\))?"
_GREEK = {"psi": "ψ", "alpha": "α", "lambda": "λ"}


def tag(name: str, content: str, **attributes: str) -> str:
    """Return an element; `content` is HTML already, attributes are escaped. A trailing _ keeps a word off Python's."""
    words = "".join(f' {k.rstrip("_").replace("_", "-")}="{escape(v)}"' for k, v in attributes.items())
    return f"<{name}{words}>{content}</{name}>"


def equation(text: str) -> str:
    """Return equations, one to a line, with italic letters, subscripts and proper signs.

    >>> equation("u_t - 0.1 u_xx = 0")
    '<i>u</i><sub>t</sub> − 0.1 <i>u</i><sub>xx</sub> = 0'
    """
    lines = [line.strip() for line in re.split(r"[;\n]", text) if line.strip()]
    return "<br>".join(_line(line) for line in lines)


def _line(text: str) -> str:
    text = escape(text.replace("*", " "), quote=False)
    text = re.sub(rf"frac_lap\((\w+), ({_NUMBER}|\w+)\)", r"(−Δ)^{\2/2} \1", text)
    text = re.sub(rf"D\((\w+), (\w+), ({_NUMBER}|\w+)\)", r"𝒟_\2^{\3} \1", text)
    text = re.sub(r"abs\((\w+)\)", r"|\1|", text)
    text = re.sub(r"(?<!\w)([A-Za-z]+)(?:_(\w+))?", _name, text)
    text = re.sub(r"𝒟_(\w+)", r"𝒟<sub>\1</sub>", text)
    text = re.sub(r"\^\{([^}]*)\}|\^(\d+)", lambda m: f"<sup>{m[1] or m[2]}</sup>", text)
    return text.replace("-", "−")


def _name(match: re.Match[str]) -> str:
    base = _GREEK.get(match[1], match[1])
    return f"<i>{base}</i>" + (f"<sub>{match[2]}</sub>" if match[2] else "")
