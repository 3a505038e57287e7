"""Any evolution equation on a periodic box, by Fourier modes and exponential Runge–Kutta steps."""

from hiddenphysics.simulate.spectral.flow import Flow
from hiddenphysics.simulate.spectral.grid import Grid
from hiddenphysics.simulate.spectral.solution import simulate

__all__ = ["Flow", "Grid", "simulate"]
