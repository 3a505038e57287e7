"""Solutions known in closed form, or to as many digits as one likes: referees for everything numerical."""

from hiddenphysics.simulate.exact.burgers import burgers, gaussian_pulse
from hiddenphysics.simulate.exact.fractional_heat import fractional_heat_kernel
from hiddenphysics.simulate.exact.heat import heat_gaussian
from hiddenphysics.simulate.exact.kdv import soliton, two_solitons
from hiddenphysics.simulate.exact.schrodinger import bright_soliton
from hiddenphysics.simulate.exact.sine_gordon import breather
from hiddenphysics.simulate.exact.taylor_green import taylor_green

__all__ = [
    "breather",
    "bright_soliton",
    "burgers",
    "fractional_heat_kernel",
    "gaussian_pulse",
    "heat_gaussian",
    "soliton",
    "taylor_green",
    "two_solitons",
]
