"""Discrete curl, Laplacian and advection on one staggered grid.

Nodes (i, j) carry ω and ψ, as arrays (X, Y) = (m + 1, n + 1) with the grid's edges included.
u sits on the vertical cell sides, (X, Y − 1); v on the horizontal ones, (X − 1, Y).
Taira & Colonius 2007; Colonius & Taira 2008.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64


def curl(
    psi: Float64[np.ndarray, "X Y"], spacing: float
) -> tuple[Float64[np.ndarray, "X Y-1"], Float64[np.ndarray, "X-1 Y"]]:
    """C ψ: u = ∂ψ/∂y, v = −∂ψ/∂x by one-cell differences; its discrete divergence vanishes identically."""
    return np.diff(psi, axis=1) / spacing, np.diff(psi, axis=0) / -spacing


def curl_transpose(
    u: Float64[np.ndarray, "X Y"], v: Float64[np.ndarray, "X-1 Y+1"], spacing: float
) -> Float64[np.ndarray, "X-2 Y-1"]:
    """Cᵀ(u, v) = ∂v/∂x − ∂u/∂y at interior nodes; the exact transpose of C for ψ with zero edges."""
    return np.asarray((np.diff(v[:, 1:-1], axis=0) - np.diff(u[1:-1], axis=1)) / spacing)


def laplacian(field: Float64[np.ndarray, "X Y"], spacing: float) -> Float64[np.ndarray, "X-2 Y-2"]:
    """L w, the five-point Laplacian at interior nodes, edge values taken from `field`; L = −CᵀC."""
    total: np.ndarray = field[2:, 1:-1] + field[:-2, 1:-1]
    total += field[1:-1, 2:]
    total += field[1:-1, :-2]
    total -= 4 * field[1:-1, 1:-1]
    total /= spacing**2
    return total


def node_velocity(
    psi: Float64[np.ndarray, "X Y"], spacing: float, stream: float
) -> tuple[Float64[np.ndarray, "X Y-2"], Float64[np.ndarray, "X-2 Y"]]:
    """Second-order velocity at nodes: the mean of the two edge values on either side, plus the stream U in x.

    u comes without the first and last node in y, v without those in x: there a neighbour is missing.
    """
    u = psi[:, 2:] - psi[:, :-2]
    u /= 2 * spacing
    u += stream
    v = psi[:-2] - psi[2:]
    v /= 2 * spacing
    return u, v


def advection(
    omega: Float64[np.ndarray, "X Y"], psi: Float64[np.ndarray, "X Y"], spacing: float, stream: float
) -> Float64[np.ndarray, "X-2 Y-2"]:
    """N = Cᵀ(q × ω) = −∂(uω)/∂x − ∂(vω)/∂y at interior nodes, in conservative form.

    Velocity averaged to the nodes, times ω, averaged back to the edges, then Cᵀ: the two
    averages and the one-cell difference of Cᵀ telescope into a two-cell difference of uω.
    """
    u, v = node_velocity(psi, spacing, stream)
    u *= omega[:, 1:-1]
    v *= omega[1:-1]
    transport: np.ndarray = u[:-2] - u[2:]
    transport += v[:, :-2]
    transport -= v[:, 2:]
    transport /= 2 * spacing
    return transport
