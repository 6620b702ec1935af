# SPDX-License-Identifier: BSL-1.0
"""quern._core.Tree and primitives() in plain Python with NumPy: nodes one after the other. Tests compare with it what the
front end makes, and with both what Quern computes."""

import json
import operator

import numpy as np
from quern.frontend import backend


def setitem(a, index, value):
    a[index] = value


def getitem(a, index):
    return a[index]


def weak(function, scalar):
    """NumPy's function; Python's operator on Python's numbers, which gives Python's numbers."""
    def run(*operands):
        if all(type(o) in (bool, int, float) for o in operands):
            return scalar(*operands)
        return function(*operands)
    return run


def plain(name):
    function = getattr(np, name)

    def run(*operands):
        return function(*operands)
    return run


def keywords(name, *parameters, space=np):
    function = getattr(space, name)

    def run(*operands):
        return function(operands[0], **dict(zip(parameters, operands[1:], strict=True)))
    return run


def shape_of(a):
    return np.shape(a)


TWO = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "power": operator.pow,
    "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "left_shift": operator.lshift, "right_shift": operator.rshift, "equal": operator.eq, "not_equal": operator.ne,
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
}
IN_PLACE = ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor", "ilshift", "irshift")
ONE = ("exp", "log", "log2", "log10", "log1p", "expm1", "sqrt", "square", "sin", "cos", "tan", "arcsin", "arccos", "arctan",
       "sinh", "cosh", "tanh", "floor", "ceil", "rint", "trunc", "sign", "isnan", "isfinite", "isinf", "logical_not",
       "reciprocal", "cbrt")


def table():
    all_of = {name: ("a, b", weak(getattr(np, name), scalar)) for name, scalar in TWO.items()}
    all_of |= {name: ("a, b", getattr(operator, name)) for name in IN_PLACE}
    all_of |= {name: ("x", plain(name)) for name in ONE}
    all_of |= {name: ("a, b", plain(name)) for name in ("matmul", "maximum", "minimum", "arctan2", "logical_and",
                                                        "logical_or", "outer", "dot", "hypot")}
    all_of |= {
        "negative": ("x", weak(np.negative, operator.neg)), "positive": ("x", weak(np.positive, operator.pos)),
        "invert": ("x", weak(np.invert, operator.invert)), "absolute": ("x", weak(np.absolute, abs)),
        "getitem": ("a, index", getitem), "setitem": ("a, index, value", setitem),
        "shape": ("a", shape_of), "size": ("a", np.size), "ndim": ("a", np.ndim), "len": ("a", len),
        "dtype": ("a", lambda a: np.asarray(a).dtype), "copy": ("a", np.copy),
        "transpose": ("a, axes=None", np.transpose), "reshape": ("a, shape", np.reshape),
        "astype": ("a, dtype", lambda a, dtype: np.asarray(a).astype(dtype)), "ravel": ("a", np.ravel),
        "where": ("condition, x=None, y=None", lambda c, x, y: np.where(c) if x is None else np.where(c, x, y)),
        "clip": ("a, a_min=None, a_max=None", np.clip), "round": ("a, decimals=0", np.round),
        "cumsum": ("a, axis=None", keywords("cumsum", "axis")), "trace": ("a", np.trace),
        "argmin": ("a, axis=None", keywords("argmin", "axis")), "argmax": ("a, axis=None", keywords("argmax", "axis")),
        "array": ("object, dtype=None, copy=True, ndmin=0", lambda o, d, c, n: np.array(o, dtype=d, copy=c, ndmin=n)),
        "asarray": ("a, dtype=None", keywords("asarray", "dtype")),
        "zeros": ("shape, dtype=None", keywords("zeros", "dtype")), "ones": ("shape, dtype=None", keywords("ones", "dtype")),
        "empty": ("shape, dtype=None", keywords("zeros", "dtype")),
        "zeros_like": ("a, dtype=None", keywords("zeros_like", "dtype")),
        "full": ("shape, fill_value, dtype=None", np.full), "eye": ("N, M=None, k=0, dtype=None",
                                                                    lambda n, m, k, d: np.eye(n, m, k, d or float)),
        "arange": ("start, stop=None, step=None, dtype=None",
                   lambda a, b, s, d: np.arange(a, dtype=d) if b is None else np.arange(a, b, 1 if s is None else s, dtype=d)),
        "linspace": ("start, stop, num=50", np.linspace), "diag": ("v, k=0", np.diag),
        "stack": ("arrays, axis=0", keywords("stack", "axis")), "vstack": ("tup", np.vstack), "hstack": ("tup", np.hstack),
        "concatenate": ("arrays, axis=0", keywords("concatenate", "axis")), "sort": ("a, axis=-1", np.sort),
        "argsort": ("a, axis=-1", np.argsort), "nonzero": ("a", np.nonzero), "unique": ("ar", np.unique),
        "tile": ("A, reps", np.tile), "repeat": ("a, repeats, axis=None", np.repeat),
        "norm": ("x, ord=None, axis=None, keepdims=False", np.linalg.norm), "solve": ("a, b", np.linalg.solve),
        "inv": ("a", np.linalg.inv), "cholesky": ("a", np.linalg.cholesky), "eigh": ("a", np.linalg.eigh),
        "qr": ("a", np.linalg.qr), "det": ("a", np.linalg.det),
    }
    for name in ("sum", "prod", "mean", "min", "max", "any", "all"):
        all_of[name] = ("a, axis=None, keepdims=False", keywords(name, "axis", "keepdims"))
    for name in ("var", "std"):
        all_of[name] = ("a, axis=None, ddof=0, keepdims=False", keywords(name, "axis", "ddof", "keepdims"))
    return all_of


TABLE = table()


def primitives():
    return {name: text for name, (text, _) in TABLE.items()}


def defaults(name, given):
    """The defaults of the parameters after those given."""
    return [default for _, _, default in backend.parameters(name)[given:]]


class Leave(Exception):
    """break"""


class Next(Exception):
    """continue"""


class Result(Exception):
    """return"""

    def __init__(self, value):
        super().__init__()
        self.value = value


class Tree:
    """As quern._core.Tree."""

    def __init__(self, name, file, parameters):
        self.name, self.file, self.parameters = name, file, list(parameters)
        self.variables = list(parameters)
        self.nodes = []
        self.parents = {}
        self.root = None

    def variable(self, name):
        if name not in self.variables:
            self.variables.append(name)
        return self.variables.index(name)

    def added(self, kind, operands, where, name="", slot=0, payload=None):
        assert self.root is None
        assert len(where) == 4 and where[0] >= 1 and where[2] >= where[0], where
        for each in operands:
            assert each not in self.parents and 0 <= each < len(self.nodes), (kind, each)
            self.parents[each] = len(self.nodes)
        self.nodes.append((kind, list(operands), where, name, slot, payload))
        return len(self.nodes) - 1

    def constant(self, value, where):
        return self.added("constant", [], where, payload=value)

    def node(self, kind, operands, where, name="", slot=0):
        if kind == "call":
            assert name in TABLE, name
        return self.added(kind, operands, where, name, slot)

    def call_of(self, other, operands, where):
        assert len(operands) == len(other.parameters)
        return self.added("call_tree", operands, where, other.name, payload=other)

    def foreign(self, callable, name, operands, where):
        return self.added("call_foreign", operands, where, name, payload=callable)

    def finish(self, root):
        assert root not in self.parents
        unused = [i for i in range(len(self.nodes)) if i not in self.parents and i != root]
        assert not unused, [self.nodes[i] for i in unused]
        self.root = root

    def run(self, args, inlining="settings"):
        assert self.root is not None and len(args) == len(self.parameters)
        variables = dict(enumerate(args))
        try:
            self.value(self.root, variables)
        except Result as result:
            return result.value
        raise AssertionError("a function ends without a node `result`")

    def value(self, number, variables):
        kind, operands, _, name, slot, payload = self.nodes[number]
        if kind in CONTROL:
            return CONTROL[kind](self, operands, variables, name, slot, payload)
        values = [self.value(operand, variables) for operand in operands]
        return PLAIN[kind](values, name, slot, payload)

    def load(self, operands, variables, name, slot, payload):
        if slot not in variables:
            raise UnboundLocalError(self.variables[slot])
        return variables[slot]

    def store(self, operands, variables, name, slot, payload):
        variables[slot] = self.value(operands[0], variables)

    def block(self, operands, variables, name, slot, payload):
        for each in operands:
            self.value(each, variables)

    def branch(self, operands, variables, name, slot, payload):
        if self.value(operands[0], variables):
            return self.value(operands[1], variables)
        return self.value(operands[2], variables) if len(operands) == 3 else None

    def once(self, body, variables):
        """One iteration; whether the loop is left."""
        try:
            self.value(body, variables)
        except Next:
            pass
        except Leave:
            return True
        return False

    def loop(self, operands, variables, name, slot, payload):
        while self.value(operands[0], variables):
            if self.once(operands[1], variables):
                break

    def for_each(self, operands, variables, name, slot, payload):
        for each in elements(self.value(operands[0], variables)):
            variables[slot] = each
            if self.once(operands[1], variables):
                break

    def parallel_for(self, operands, variables, name, slot, payload):
        stored = self.stores_of(operands[1])
        for each in reversed(list(elements(self.value(operands[0], variables)))):
            own = {k: v for k, v in variables.items() if k not in stored}
            own[slot] = each
            assert not self.once(operands[1], own)

    def stores_of(self, number):
        kind, operands, _, _, slot, _ = self.nodes[number]
        own = {slot} if kind in ("store", "for_each", "parallel_for") else set()
        return own.union(*(self.stores_of(o) for o in operands))

    def both(self, operands, variables, name, slot, payload):
        first = self.value(operands[0], variables)
        return self.value(operands[1], variables) if first else first

    def either(self, operands, variables, name, slot, payload):
        first = self.value(operands[0], variables)
        return first if first else self.value(operands[1], variables)

    def leave(self, *ignored):
        raise Leave

    def next(self, *ignored):
        raise Next

    def result(self, operands, variables, name, slot, payload):
        raise Result(self.value(operands[0], variables) if operands else None)

    def statistics(self):
        return [{"kind": kind, "name": name, "evaluations": 0, "inlined": 0, "inclusive_ns": 0, "exclusive_ns": 0}
                for kind, _, _, name, _, _ in self.nodes]

    def reset_statistics(self):
        pass

    def explain(self):
        return "\n".join(f"{self.file}:{where[0]}: {kind} {name}" for kind, _, where, name, _, _ in self.nodes) + "\n"

    def dot(self):
        edges = [f"  n{i} -> n{o};" for i, node in enumerate(self.nodes) for o in node[1]]
        return "\n".join([f"digraph {self.name} {{", *edges, "}"]) + "\n"

    def newick(self):
        def text(number):
            kind, operands, _, name, _, _ = self.nodes[number]
            inner = "(" + ",".join(text(o) for o in operands) + ")" if operands else ""
            return inner + f"{kind}_{number}"
        return text(self.root) + ";"

    def json(self):
        nodes = []
        for i, (kind, _, where, name, _, _) in enumerate(self.nodes):
            nodes.append({"id": i, "kind": kind, "name": name, "line": where[0], "column": where[1], "end_line": where[2],
                          "end_column": where[3], "evaluations": 0, "inlined": 0, "inclusive_ns": 0, "exclusive_ns": 0,
                          "may_be_task": False, "reason": "", "decision": "none"})
            if i in self.parents:
                nodes[i]["parent"] = self.parents[i]
        return json.dumps({"name": self.name, "file": self.file, "language": "Python", "calls": 0, "root": self.root,
                           "variables": self.variables, "nodes": nodes})


def elements(value):
    if isinstance(value, slice):
        return range(value.start, value.stop, value.step)
    return value


def item(values, name, slot, payload):
    parts = list(values[0])
    if name:
        if len(parts) < int(name):
            raise ValueError(f"not enough values to unpack (expected {name}, got {len(parts)})")
        if len(parts) > int(name):
            raise ValueError(f"too many values to unpack (expected {name})")
    return parts[slot]


PLAIN = {
    "constant": lambda values, name, slot, payload: payload,
    "call": lambda values, name, slot, payload: TABLE[name][1](*values, *defaults(name, len(values))),
    "negation": lambda values, name, slot, payload: not values[0],
    "make_tuple": lambda values, name, slot, payload: tuple(values),
    "make_slice": lambda values, name, slot, payload: slice(*values),
    "item": item,
    "call_tree": lambda values, name, slot, payload: payload.run(tuple(values)),
    "call_foreign": lambda values, name, slot, payload: payload(*values),
}
CONTROL = {name: getattr(Tree, name) for name in (
    "load", "store", "block", "branch", "loop", "for_each", "parallel_for", "both", "either", "leave", "next", "result")}
