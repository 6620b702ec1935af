# SPDX-License-Identifier: BSL-1.0
"""What trees have no node for: what it is called, and what to write instead."""

import ast
import types

EXPRESSIONS = {
    ast.ListComp: ("a list comprehension", "write a for loop that stores into an array"),
    ast.SetComp: ("a set comprehension", "write np.unique of an array"),
    ast.DictComp: ("a dict comprehension", "use one array for each value"),
    ast.GeneratorExp: ("a generator expression", "write np.sum, np.any or another function of an array"),
    ast.Lambda: ("a lambda", "write the expression in its place, or another function with @quern.tree"),
    ast.Dict: ("a dict", "use one variable for each value"),
    ast.Set: ("a set", "write np.unique of an array"),
    ast.JoinedStr: ("an f-string", "give print the values, separated by commas"),
    ast.NamedExpr: ("the operator :=", "write the assignment as a statement before"),
    ast.Await: ("await", "call the tree from the coroutine"),
    ast.Yield: ("yield", "return an array or a tuple"),
    ast.YieldFrom: ("yield from", "return an array or a tuple"),
    ast.Starred: ("a starred expression", "write each element"),
}

STATEMENTS = {
    ast.Try: ("try", "test the values by `if`; the caller can catch what a tree raises"),
    ast.With: ("with", "open it around the call of the tree"),
    ast.AsyncWith: ("async with", "open it around the call of the tree"),
    ast.AsyncFor: ("async for", "write for"),
    ast.FunctionDef: ("an inner function", "write it outside, with @quern.tree"),
    ast.AsyncFunctionDef: ("an inner async function", "write it outside"),
    ast.ClassDef: ("an inner class", "write it outside"),
    ast.Import: ("import", "import at the top of the file"),
    ast.ImportFrom: ("import", "import at the top of the file"),
    ast.Global: ("global", "return the value"),
    ast.Nonlocal: ("nonlocal", "return the value"),
    ast.Delete: ("del", "leave it out; memory is freed when the variable is stored again or the tree ends"),
    ast.Match: ("match", "write if and elif"),
}
if hasattr(ast, "TryStar"):
    STATEMENTS[ast.TryStar] = ("try", STATEMENTS[ast.Try][1])

BUILTINS = {
    "range": "range stands in `for i in range(...)`; elsewhere write np.arange",
    "zip": "zip stands in `for a, b in zip(...)`",
    "enumerate": "enumerate stands in `for i, a in enumerate(...)`",
    "list": "write a tuple or an array",
    "tuple": "write (a, b)",
    "dict": "use one variable for each value",
    "set": "write np.unique",
    "map": "write a for loop",
    "filter": "write x[mask]",
    "sorted": "write np.sort",
    "reversed": "write range(n - 1, -1, -1) or x[::-1]",
    "isinstance": "types are those of the arguments: decide it in the caller",
    "any": "write np.any",
    "all": "write np.all",
    "open": "read files in the caller",
    "input": "read it in the caller",
    "str": "format values in the caller",
    "complex": "numbers are bool, int and float",
    "divmod": "write a // b and a % b",
    "next": "write a for loop",
    "iter": "write a for loop",
    "getattr": "write x.name",
    "setattr": "assign to elements of arrays",
    "eval": "write the expression",
    "exec": "write the statements",
}

RANDOM = "write quern.random, whose numbers are the same for any number of workers"


def describe(found):
    """What an object is, for messages."""
    if isinstance(found, types.ModuleType):
        return "the module"
    if isinstance(found, type):
        return "the class"
    if callable(found):
        return "the function"
    return f"the {type(found).__name__}"
