"""Array types used throughout the package, and the code of a missing category."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
Codes: TypeAlias = NDArray[np.int32]  # category codes: 0, 1, … in code point order of the levels; -1 when missing
Rows: TypeAlias = NDArray[np.int64]  # row numbers
Words: TypeAlias = NDArray[np.uint64]  # 64 bits per row: random words or hashes
Bools: TypeAlias = NDArray[np.bool_]
Array: TypeAlias = NDArray[Any]

MISSING = -1  # code of a missing category; a missing number is nan
