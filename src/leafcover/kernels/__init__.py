"""Numba kernels: arrays in, arrays out, without column names, validation or exceptions."""

import os
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

# How kernels are compiled. An entry is called from Python and kept on disk; what only other kernels call is compiled
# with them and not kept by itself. Nobody calls kernels from C. Measured on the first release of Adult: 57 CPU seconds
# instead of 66 with every function kept and wrapped.
ENTRY: dict[str, Any] = {"cache": True, "no_cfunc_wrapper": True}
INNER: dict[str, Any] = {"no_cfunc_wrapper": True}


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
