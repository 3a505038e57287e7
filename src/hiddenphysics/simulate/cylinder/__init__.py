"""Flow past a cylinder by the immersed boundary projection method, on nested grids.

    run(folder, RunPlan())                        # to periodic shedding, then record the wake
    recording = open_recording(folder / "main")   # u, v, vorticity: (time, x, y)

Vorticity ω and stream function ψ at the nodes of uniform grids; the discrete curl makes the flow
free of divergence exactly, sine transforms solve for ψ, and forces at the body's points hold the
fluid there at rest. Taira & Colonius 2007, J. Comput. Phys. 225, 2118 (the projection);
Colonius & Taira 2008, Comput. Methods Appl. Mech. Engrg. 197, 2131 (null space, nested grids).
"""

from hiddenphysics.simulate.cylinder.body import circle
from hiddenphysics.simulate.cylinder.data import Recording, extract, open_recording
from hiddenphysics.simulate.cylinder.forces import ForceStatistics, force_statistics, outside_bands
from hiddenphysics.simulate.cylinder.plan import RunPlan, Stage, Window
from hiddenphysics.simulate.cylinder.run import run
from hiddenphysics.simulate.cylinder.settings import FlowSettings
from hiddenphysics.simulate.cylinder.stage import Progress
from hiddenphysics.simulate.cylinder.stepper import State, Stepper

__all__ = [
    "FlowSettings",
    "ForceStatistics",
    "Progress",
    "Recording",
    "RunPlan",
    "Stage",
    "State",
    "Stepper",
    "Window",
    "circle",
    "extract",
    "force_statistics",
    "open_recording",
    "outside_bands",
    "run",
]
