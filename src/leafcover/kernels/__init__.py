"""Numba kernels: arrays in, arrays out, without column names, validation or exceptions."""

import os
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

# How kernels are compiled. An entry is called from Python and kept on disk. What only other kernels call is compiled
# with them and has no wrapper for Python: calling it from there crashes. Nobody calls kernels from C, and none of them
# raises. numba's sorts take one to three seconds each to compile (see `sorting`), and so do row assignments. A kernel
# that allocates no memory needs no counting of references, which takes a tenth of the time to compile. All this halved
# the CPU time of the first release of Adult.
INNER: dict[str, Any] = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
ENTRY: dict[str, Any] = {"error_model": "numpy", "cache": True, "no_cfunc_wrapper": True, "_nrt": False}
ALLOCATES: dict[str, Any] = {"_nrt": True}  # the exception: makes arrays of its own

# numba compiles a function again for each literal argument, and for a variable that starts as a literal: not for this.
ZERO: int = np.int64(0)  # type: ignore[assignment]


def _keep_kernels_in_the_environment() -> None:
    """Cache compiled kernels in the virtual environment, separately for each version of these files.

    numba detects a change in the file of a kernel, but not in the files from which it imports functions.
    """
    if sys.prefix == sys.base_prefix:
        return
    stats = ((path.name, path.stat()) for path in sorted(Path(__file__).parent.glob("*.py")))
    state = sha256(repr([(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]).encode()).hexdigest()
    os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(sys.prefix) / "numba" / state[:16]))


_keep_kernels_in_the_environment()
