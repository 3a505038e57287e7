"""Equations to start from."""

from __future__ import annotations

from typing import NamedTuple


class Form(NamedTuple):
    """An equation with its name and where one meets it."""

    name: str
    text: str
    seen: str


FORMS = (
    Form("Diffusion", "u_t - b*u_xx = 0", "heat in a rod or in ice, a dye in still water"),
    Form("Advection and diffusion", "u_t + a*u_x - b*u_xx = 0", "a dye in a steady stream"),
    Form("Burgers", "u_t + a*u*u_x - b*u_xx = 0", "steepening waves, traffic"),
    Form("Fisher–KPP", "u_t - b*u_xx - r*u*(1 - u/K) = 0", "cells that move and divide, populations"),
    Form("Reaction and diffusion", "u_t - b*u_xx - r*u + s*u^3 = 0", "fronts between two phases"),
    Form("Nonlinear diffusion", "u_t - d(b*u^n*u_x, x) = 0", "a gas in a porous rock, crowded cells"),
    Form("Korteweg–de Vries", "u_t + a*u*u_x + b*u_xxx = 0", "waves in shallow water, solitons"),
    Form("Kuramoto–Sivashinsky", "u_t + a*u*u_x + b*u_xx + c*u_xxxx = 0", "flames, falling films"),
    Form("Waves with damping", "u_tt + c*u_t - a*u_xx = 0", "strings, telegraph lines"),
    Form("Sine–Gordon", "u_tt - a*u_xx + b*sin(u) = 0", "Josephson junctions"),
    Form("Schrödinger, cubic", "i*h_t + a*h_xx + b*abs(h)^2*h = 0", "light in a fibre (h complex)"),
    Form("Fractional diffusion", "u_t + c*frac_lap(u, alpha) = 0", "Lévy flights; the order is sought, too"),
    Form("Diffusion in the plane", "u_t - b*lap(u) = 0", "x and y in the data"),
    Form(
        "Navier–Stokes, hidden pressure",
        "u_t + a*(u*u_x + v*u_y) = -p_x + b*lap(u); v_t + a*(u*v_x + v*v_y) = -p_y + b*lap(v); u = psi_y; v = -psi_x",
        "velocities u, v in the plane; the pressure comes back",
    ),
)
"""From the simple to the involved."""
