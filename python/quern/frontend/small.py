# SPDX-License-Identifier: BSL-1.0
"""Which calls run the function itself rather than its tree: those whose work is too small for tasks. Both are measured, for
each combination of shapes; a call is never made twice."""

import inspect
import time

import numpy as np

TREE_CALLS = 3            # measured as a tree first
FUNCTION_CALLS = 3        # then as a function
MOST_TREE_NS = 1_000_000  # a tree that takes longer is kept: its function takes more than MOST_FUNCTION_NS
MOST_FUNCTION_NS = 50_000
AGAIN_AFTER = 4096        # calls until a decision is looked at again
MOST_SIGNATURES = 256


class Measured:
    """The calls of one combination of shapes. decision: None while they are measured, then "tree" or "function"."""

    __slots__ = ("tree_ns", "function_ns", "decision", "left")

    def __init__(self):
        self.tree_ns, self.function_ns, self.decision, self.left = [], [], None, AGAIN_AFTER

    def measured_next(self):
        """What the next call is measured as."""
        return self.tree_ns if len(self.tree_ns) < TREE_CALLS else self.function_ns

    def decide(self):
        """After a measured call."""
        if len(self.tree_ns) < TREE_CALLS:
            return
        if min(self.tree_ns) > MOST_TREE_NS:
            self.decision = "tree"
        elif len(self.function_ns) >= FUNCTION_CALLS:
            function, tree = min(self.function_ns), min(self.tree_ns)
            self.decision = "function" if function < MOST_FUNCTION_NS and function < tree else "tree"


class Chooser:
    """Decides for the calls of one function. Thread safe: measurements of calls at the same time may be lost."""

    def __init__(self):
        self.measured = {}
        # key -> [calls left], of what is decided to run as the function; calls at the same time may take it below 0.
        self.in_function = {}

    def call(self, key, as_tree, as_function):
        """A call of which the function that callers enter does not know that it runs as the function."""
        of = self.measured.get(key)
        if of is None and has_sequence(key):
            return as_tree()  # operators take a tuple as an array, and Python does not
        if of is not None and of.decision == "tree" and of.left > 0:
            of.left -= 1
            return as_tree()
        if of is None or of.decision is not None:
            of = self.begin(key)
        times = of.measured_next()
        start = time.perf_counter_ns()
        result = as_tree() if times is of.tree_ns else as_function()
        times.append(time.perf_counter_ns() - start)
        of.decide()
        if of.decision == "function":
            self.in_function[key] = [AGAIN_AFTER]
        return result

    def begin(self, key):
        """The first call of a combination, or the first after AGAIN_AFTER calls."""
        if len(self.measured) >= MOST_SIGNATURES:
            self.measured.clear()
            self.in_function.clear()
        self.in_function.pop(key, None)
        of = self.measured[key] = Measured()
        return of

    def explain(self):
        """Lines about the combinations whose calls run the function itself."""
        lines = []
        for key, of in list(self.measured.items()):  # calls may add some meanwhile
            if of.decision == "function":
                lines.append(f"arguments {words(key)}: run as the Python function, which takes "
                             f"{min(of.function_ns) / 1000:.1f} us; the tree takes {min(of.tree_ns) / 1000:.1f} us")
        return lines


def entry(function, signature, chooser, otherwise):
    """The function that callers enter: it has the parameters of `function`, so that Python binds them. Calls that are decided
    to run as the function do so at once; otherwise it calls otherwise(arguments, key). chooser: None where no call runs as
    the function."""
    parameters, passed, values = [], [], {}
    before = None
    for i, (name, parameter) in enumerate(signature.parameters.items()):
        if before is parameter.POSITIONAL_ONLY and parameter.kind is not before:
            parameters.append("/")
        if parameter.kind is parameter.KEYWORD_ONLY and before is not parameter.kind:
            parameters.append("*")
        before = parameter.kind
        has_default = parameter.default is not inspect.Parameter.empty
        parameters.append(f"{name}=_quern_{i}" if has_default else name)
        values[f"_quern_{i}"] = parameter.default
        passed.append(f"{name}={name}" if parameter.kind is parameter.KEYWORD_ONLY else name)
    if before is inspect.Parameter.POSITIONAL_ONLY:
        parameters.append("/")
    names = "".join(name + ", " for name in signature.parameters)
    keys = "".join(f"{n}.shape if type({n}) is _quern_array else _quern_key({n}), " for n in signature.parameters)
    lines = [f"def {function.__name__}({', '.join(parameters)}):"]
    if chooser is None:
        lines.append(f"    return _quern_otherwise(({names}), None)")
    else:
        lines += [f"    _quern_k = ({keys})", "    _quern_left = _quern_get(_quern_k)",
                  "    if _quern_left is not None and _quern_left[0] > 0:", "        _quern_left[0] -= 1",
                  f"        return _quern_function({', '.join(passed)})",
                  f"    return _quern_otherwise(({names}), _quern_k)"]
        values["_quern_get"] = chooser.in_function.get
    values |= {"_quern_array": np.ndarray, "_quern_key": scalar_key, "_quern_function": function,
               "_quern_otherwise": otherwise}
    exec(compile("\n".join(lines), f"<quern.tree {function.__name__}>", "exec"), values)
    return values[function.__name__]


def scalar_key(value):
    """The class of what is no array; integers, which may count iterations, by their size."""
    kind = type(value)
    if kind is int:
        return value.bit_length()
    if kind is tuple:
        return ("tuple", *[scalar_key(v) for v in value])
    if isinstance(value, np.ndarray):
        return value.shape
    return kind


def has_sequence(key):
    return any(part is list or (type(part) is tuple and part[:1] == ("tuple",)) for part in key)


def words(key):
    return ", ".join(word(part) for part in key) if key else "none"


def word(part):
    if isinstance(part, tuple):
        return "(" + words(part[1:]) + ")" if part[:1] == ("tuple",) else f"array{list(part)}"
    return f"int below 2**{part}" if isinstance(part, int) else part.__name__
