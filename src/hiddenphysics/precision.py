"""Double precision for JAX: every room that uses JAX imports this module before anything is traced.

Covariances of fourth derivatives span twenty orders of magnitude; single precision cannot factor them.
"""

import jax

jax.config.update("jax_enable_x64", True)
