# SPDX-License-Identifier: BSL-1.0
"""Attributes and methods of arrays, and the primitives that do what they do."""

ATTRIBUTES = {
    "T": ("transpose",), "shape": ("shape",), "size": ("size",), "ndim": ("ndim",), "dtype": ("dtype", "dtype_of"),
}

# Method -> primitives. The array is the first operand; arguments are bound by the primitive's parameters.
METHODS = {
    "sum": ("sum",), "prod": ("prod",), "mean": ("mean",), "var": ("var",), "std": ("std",), "min": ("min", "amin"),
    "max": ("max", "amax"), "any": ("any",), "all": ("all",), "argmin": ("argmin",), "argmax": ("argmax",),
    "cumsum": ("cumsum",), "dot": ("dot",), "trace": ("trace",), "round": ("round", "around"), "clip": ("clip",),
    "copy": ("copy",), "astype": ("astype",), "reshape": ("reshape",), "transpose": ("transpose",),
    "ravel": ("ravel",), "squeeze": ("squeeze",), "swapaxes": ("swapaxes",),
    "repeat": ("repeat",), "argsort": ("argsort",), "nonzero": ("nonzero",), "diagonal": ("diagonal",), "item": ("item",),
}

# What methods of arrays that are none of these ask for.
OTHER_METHODS = {
    "tolist": "return the array; the caller calls tolist()",
    "append": "make the array with np.zeros and assign to its elements",
    "extend": "write np.concatenate",
    "view": "write astype",
    "resize": "write reshape, or np.concatenate",
    "put": "write x[indices] = values",
    "take": "write x[indices]",
    "partition": "write np.sort",
    "tofile": "write the file in the caller",
    "tobytes": "return the array",
    "conj": "numbers are bool, int and float",
    "items": "use one variable for each value",
    "keys": "use one variable for each value",
    "values": "use one variable for each value",
    "format": "give print the values, separated by commas",
    "join": "give print the values, separated by commas",
}
