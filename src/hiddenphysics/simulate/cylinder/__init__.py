"""Flow past a cylinder by the immersed boundary projection method, on nested grids.

    run(folder, RunPlan())                        # to periodic shedding, then record the wake
    recording = open_recording(folder / "main")   # u, v, vorticity: (time, x, y)

Vorticity ω and stream function ψ at the nodes of uniform grids; the discrete curl makes the flow
free of divergence exactly, sine transforms solve for ψ, and forces at the body's points hold the
fluid there at rest. Taira & Colonius 2007, J. Comput. Phys. 225, 2118 (the projection);
Colonius & Taira 2008, Comput. Methods Appl. Mech. Engrg. 197, 2131 (null space, nested grids).
"""

from hiddenphysics.simulate.cylinder.forces import ForceStatistics, force_statistics, outside_bands
from hiddenphysics.simulate.cylinder.immersed_body import circle
from hiddenphysics.simulate.cylinder.nesting import nested_grids
from hiddenphysics.simulate.cylinder.settings import RADIUS, FlowSettings, RunPlan, Stage, Window
from hiddenphysics.simulate.cylinder.stages import Progress, run
from hiddenphysics.simulate.cylinder.stepper import State, Stepper
from hiddenphysics.simulate.cylinder.store import CHECKPOINT, read_state
from hiddenphysics.simulate.cylinder.wake_recording import FIELDS, WakeRecording, extract, open_recording

__all__ = [
    "CHECKPOINT",
    "FIELDS",
    "RADIUS",
    "FlowSettings",
    "ForceStatistics",
    "Progress",
    "RunPlan",
    "Stage",
    "State",
    "Stepper",
    "WakeRecording",
    "Window",
    "circle",
    "extract",
    "force_statistics",
    "nested_grids",
    "open_recording",
    "outside_bands",
    "read_state",
    "run",
]
