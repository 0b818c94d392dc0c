"""The array types every file speaks of, and the one way kernels are compiled."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
Codes: TypeAlias = NDArray[np.int32]  # categories: 0.. in code point order, -1 when missing
Rows: TypeAlias = NDArray[np.int64]  # row numbers
Words: TypeAlias = NDArray[np.uint64]  # 64 random bits a row
Bools: TypeAlias = NDArray[np.bool_]
Array: TypeAlias = NDArray[Any]

MISSING = -1  # the code of a missing category; a missing number is nan
