"""Which names are fields, which are parameters: decided by the whole system, before any algebra."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hiddenphysics.equation.complex_parts import part_names
from hiddenphysics.equation.names import (
    COMPLEX_PARTS,
    ELEMENTARY,
    FRACTIONAL,
    IMAGINARY,
    SPACE,
    TIME,
    is_reserved,
    split_derivative,
)
from hiddenphysics.equation.source import PlacedError
from hiddenphysics.equation.tree import Call, EquationLine, Name, Node, Product, walk
from hiddenphysics.registry import did_you_mean

_DERIVATIVE_LIKE = re.compile("[txyzr]+", re.IGNORECASE)
_LEIBNIZ = re.compile(r"d([A-Za-z]\w*?)d([txyz])")


@dataclass(frozen=True)
class Vocabulary:
    """The roles of all names of a system.

    A name is a **field** when it is differentiated (`u_x`, `d(u, x)`, `lap(u)`, `frac_lap(u, alpha)`), when data
    are given for it, or when a line defines it (`u = psi_y`). Every other name is a **parameter**, wherever it stands.

    In a system that mentions `i` (or `re`, `im`, `conj`) every differentiated or defined field is
    **complex**. Data can say otherwise: once one field is given by its parts (`h_re`, `h_im`), those given by
    their own name are real.
    """

    fields: tuple[str, ...]
    complex_fields: tuple[str, ...]
    parameters: dict[str, int]  # name -> where it first appears
    coordinates: tuple[str, ...]
    whole: frozenset[str]  # names that are never taken apart into base and derivative
    definitions: tuple[EquationLine, ...]
    equations: tuple[EquationLine, ...]

    @property
    def parts(self) -> frozenset[str]:
        """Names of the real fields that are a part of a complex one: `h_re` and `h_im` for `h`."""
        return frozenset(part for name in self.complex_fields for part in part_names(name))

    def split(self, name: str) -> tuple[str, str]:
        """Return base and letters of derivative of a name of this system."""
        return (name, "") if name in self.whole else split_derivative(name)


def survey(
    lines: Sequence[EquationLine],
    given: Sequence[str],
    coordinates: Sequence[str] | None,
    whole: Iterable[str],
) -> Vocabulary:
    """Find the role of every name in `lines`.

    Parameters
    ----------
    lines
        The equations and definitions.
    given
        Names of fields with data.
    coordinates
        Spatial coordinates of the data; None: those that the text uses.
    whole
        Names of constants and of bounded parameters: `c_x` among them is no derivative.
    """
    names = _Names(frozenset(whole))
    differentiated = {base: None for line in lines for base, _ in names.derivatives(*line.sides)}
    definitions = [line for line in lines if names.defines(line)]
    defined = {line.left.name: None for line in definitions if isinstance(line.left, Name)}
    plain = names.plain(lines)
    complex_fields, by_parts = _complex(lines, given, {**differentiated, **defined}, set(plain))
    _check_given(given, set(plain) | by_parts)
    parts = {part for name in complex_fields for part in part_names(name)}
    known = (differentiated.keys() | defined.keys() | set(given)) - parts
    fields = tuple(name for name in plain if name in known)
    parameters = {n: at for n, at in plain.items() if n not in known and n not in parts}
    _check_misspelt(parameters | {name: plain[name] for name in defined}, fields, names.whole)
    _check_strange_axes(parameters, fields, names.whole, coordinates)
    _check_fractions(lines)
    return Vocabulary(
        fields=fields,
        complex_fields=tuple(name for name in fields if name in complex_fields),
        parameters=parameters,
        coordinates=_coordinates(names, lines, coordinates),
        whole=names.whole,
        definitions=tuple(definitions),
        equations=tuple(line for line in lines if line not in definitions),
    )


@dataclass(frozen=True)
class _Names:
    """Reads names, given those that must be taken whole."""

    whole: frozenset[str]

    def split(self, node: Name) -> tuple[str, str]:
        base, letters = (node.name, "") if node.name in self.whole else split_derivative(node.name)
        if letters and is_reserved(base):
            raise PlacedError(node.at, f"'{node.name}' would be a derivative of {base}, which is no field")
        if node.name in ELEMENTARY:
            raise PlacedError(node.at, f"{node.name} is a function: write {node.name}(u)")
        return base, letters

    def derivatives(self, *roots: Node) -> Iterator[tuple[str, str]]:
        """Fields that are differentiated below `roots`, each with the letters of the derivative."""
        for node in walk(*roots):
            match node:
                case Name():
                    base, letters = self.split(node)
                    if letters:
                        yield base, letters
                case Call(function="d", arguments=(Name() as name, Name(name=along), *_)):
                    yield self.split(name)[0], along
                case Call(function="lap", arguments=(Name() as name,)):
                    yield self.split(name)[0], "lap"
                case Call(function=function, arguments=(Name() as name, *_)) if function in FRACTIONAL:
                    yield self.split(name)[0], function

    def defines(self, line: EquationLine) -> bool:
        """`u = psi_y`: a bare name on the left, spatial derivatives of other fields on the right."""
        if not isinstance(line.left, Name) or line.right is None or line.left.name in self.whole:
            return False
        base, letters = self.split(line.left)
        derivatives = list(self.derivatives(line.right))
        if letters or is_reserved(base) or not derivatives:
            return False
        return all(other != base and TIME not in along for other, along in derivatives)

    def plain(self, lines: Sequence[EquationLine]) -> dict[str, int]:
        """Every name that is no coordinate and no constant of nature, with its first place, in order."""
        places: dict[str, int] = {}
        for line in lines:
            for node in walk(*line.sides):
                if isinstance(node, Name) and not is_reserved(base := self.split(node)[0]):
                    places.setdefault(base, node.at)
        return places

    def axes(self, lines: Sequence[EquationLine]) -> Iterator[tuple[str, str, int]]:
        """Every use of a coordinate: its letter, the verb, the place."""
        for line in lines:
            for node in walk(*line.sides):
                if isinstance(node, Name):
                    base, letters = self.split(node)
                    for letter in letters:
                        yield letter, "differentiates along", node.at
                    if base in SPACE:
                        yield base, "uses", node.at


def _complex(
    lines: Sequence[EquationLine], given: Sequence[str], candidates: Iterable[str], plain: set[str]
) -> tuple[set[str], set[str]]:
    """Complex fields, and the names in `given` that are parts of one."""
    stems = {part: name for name in plain for part in part_names(name)}
    by_parts = {name for name in given if name in stems and name not in plain}
    explicit = {stems[name] for name in by_parts}
    if not any(_mentions_complex(node) for line in lines for node in walk(*line.sides)):
        return explicit, by_parts
    implied = {name for name in candidates if stems.get(name) not in plain}
    return explicit | (implied - set(given) if explicit else implied), by_parts


def _mentions_complex(node: Node) -> bool:
    return (isinstance(node, Name) and node.name == IMAGINARY) or (
        isinstance(node, Call) and node.function in COMPLEX_PARTS
    )


def _check_given(given: Sequence[str], known: set[str]) -> None:
    for name in given:
        if split_derivative(name)[1]:
            raise PlacedError(
                None, f"data named '{name}' read as a derivative of {split_derivative(name)[0]}: rename them"
            )
        if name not in known:
            hint = did_you_mean(name, known)
            raise PlacedError(None, f"there are data for '{name}', but the equation has no such field{hint}")


def _check_misspelt(places: dict[str, int], fields: Sequence[str], whole: frozenset[str]) -> None:
    """Refuse what is almost surely a misspelt derivative: silently it would become a new name."""
    for name, at in places.items():
        leibniz = _LEIBNIZ.fullmatch(name)
        glued = next((f for f in fields if re.fullmatch(re.escape(f) + "[txyz]+", name)), None)
        if name in whole or not (leibniz or glued):
            continue
        meant = f"{leibniz[1]}_{leibniz[2]}" if leibniz else f"{glued}_{name[len(glued or '') :]}"
        raise PlacedError(
            at, f"'{name}' is a name of its own; write {meant} for the derivative, or rename it"
        )


def _check_strange_axes(
    places: dict[str, int], fields: Sequence[str], whole: frozenset[str], given: Sequence[str] | None
) -> None:
    """Refuse `u_rr` and `u_xX`: derivatives along what is no coordinate would silently become parameters.

    A subscript that repeats one letter, or that holds nothing but coordinates in any case and r, is meant as a
    derivative; `u_0` and `u_max` are not.
    """
    for name, at in places.items():
        base, _, subscript = name.rpartition("_")
        letters = set(subscript)
        meant = _DERIVATIVE_LIKE.fullmatch(subscript) or (len(letters) == 1 < len(subscript))
        if name in whole or base not in fields or not subscript.isalpha() or not meant:
            continue
        axes = (TIME, *(given or SPACE))
        strange = next((letter for letter in subscript if letter not in axes), subscript)
        lowered = subscript.lower()
        hint = f"write {base}_{lowered}" if set(lowered) <= set(axes) else f"write for example {base}_xx"
        raise PlacedError(
            at,
            f"'{name}' would be a derivative of {base} along {strange}, but the coordinates are "
            f"{', '.join(axes[:-1])} and {axes[-1]}: {hint}, or give a parameter another name",
        )


def _check_fractions(lines: Sequence[EquationLine]) -> None:
    """`du/dt` would silently be a quotient of two parameters."""
    for line in lines:
        for node in walk(*line.sides):
            if not isinstance(node, Product):
                continue
            for (_, above), (sign, below) in zip(node.factors, node.factors[1:], strict=False):
                if sign == "/" and isinstance(above, Name) and isinstance(below, Name):
                    _check_leibniz(above, below)


def _check_leibniz(above: Name, below: Name) -> None:
    leibniz = _LEIBNIZ.fullmatch(above.name + below.name)
    if leibniz and len(below.name) == 2:
        meant = f"{leibniz[1]}_{leibniz[2]}"
        raise PlacedError(
            above.at, f"'{above.name}/{below.name}' is read as a quotient; write {meant} for the derivative"
        )


def _coordinates(
    names: _Names, lines: Sequence[EquationLine], given: Sequence[str] | None
) -> tuple[str, ...]:
    """Spatial coordinates: those of the data, or those of the text."""
    used = {letter: (how, at) for letter, how, at in reversed(list(names.axes(lines)))}
    if given is None:
        return tuple(letter for letter in SPACE if letter in used) or SPACE[:1]
    for name in given:
        if name not in SPACE:
            raise PlacedError(None, f"'{name}' is no spatial coordinate; they are called x, y and z")
    for letter, (how, at) in used.items():
        if letter != TIME and letter not in given:
            have = f"only {' and '.join(given)}" if given else "no coordinate"
            raise PlacedError(at, f"the equation {how} {letter}, the data have {have}")
    return tuple(dict.fromkeys(given))
