# SPDX-License-Identifier: BSL-1.0
"""The primitives of Python's operators, by NumPy's names; the first that exists is taken."""

import ast

BINARY = {
    ast.Add: ("add",), ast.Sub: ("subtract",), ast.Mult: ("multiply",), ast.Div: ("divide", "true_divide"),
    ast.FloorDiv: ("floor_divide",), ast.Mod: ("remainder", "mod"), ast.Pow: ("power",), ast.MatMult: ("matmul",),
    ast.BitAnd: ("bitwise_and",), ast.BitOr: ("bitwise_or",), ast.BitXor: ("bitwise_xor",),
    ast.LShift: ("left_shift",), ast.RShift: ("right_shift",),
}
UNARY = {ast.USub: ("negative",), ast.UAdd: ("positive",), ast.Invert: ("invert", "bitwise_not")}
COMPARISONS = {
    ast.Eq: ("equal",), ast.NotEq: ("not_equal",), ast.Lt: ("less",), ast.LtE: ("less_equal",),
    ast.Gt: ("greater",), ast.GtE: ("greater_equal",),
}
SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=",
    ast.Gt: ">", ast.GtE: ">=", ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}


# a op= b: into the memory of an array, a new value for a scalar.
IN_PLACE = {
    ast.Add: "iadd", ast.Sub: "isub", ast.Mult: "imul", ast.Div: "itruediv", ast.FloorDiv: "ifloordiv", ast.Mod: "imod",
    ast.Pow: "ipow", ast.MatMult: "imatmul", ast.BitAnd: "iand", ast.BitOr: "ior", ast.BitXor: "ixor",
    ast.LShift: "ilshift", ast.RShift: "irshift",
}
