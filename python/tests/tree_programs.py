# SPDX-License-Identifier: BSL-1.0
"""Functions with the expressions and calls that trees accept, each with arguments. Tests run them as trees and as Python."""

import numpy
import numpy as np
import numpy.linalg as la
from numpy import exp as e_to

PROGRAMS = []
SCALE, AXES, WEIGHTS, NOTHING = 2.5, (0, 1), np.array([1.0, 2.0, 3.0]), None


def program(*args):
    """Adds a function with the arguments of one call."""
    def add(function):
        PROGRAMS.append((function, args))
        return function
    return add


V = np.array([0.5, -1.5, 2.0, 4.25])
M = np.arange(12.0).reshape(3, 4) - 5
I = np.array([7, -3, 2, 9])  # noqa: E741
B = np.array([True, False, True, False])


@program(M, M + 1.5)
def arithmetic(a, b):
    return a + b, a - b, a * b, a / b, a // b, a % b, np.abs(a) ** 2, -a, +a, a @ b.T


@program(I, np.array([1, 2, 3, 1]))
def bits(a, b):
    return a & b, a | b, a ^ b, ~a, a << b, a >> b, (a > 0) & (b > 1), (a > 0) | (b > 1), ~(a > 0)


@program(7, 2)
def python_scalars(a, b):
    return a + b, a - b, a * b, a / b, a // b, a % b, a ** b, -a, a & b, a | b, a ^ b, ~a, a << b, a >> b, a / 2 + 1.5


@program(-7, 2)
def signs(a, b):
    return a // b, a % b, -a // b, -7 // 2, -7 % 2, 2 ** -1, 1 / 3


@program(V, 0.5)
def compared(a, x):
    return a == x, a != x, a < x, a <= x, a > x, a >= x


@program(3, 4, 5)
def chains(a, b, c):
    return a < b < c, a < b > c, a <= b + 1 <= c != a, 1 < 2 < a, not a < b == c


@program(np.array([1.0]), 2, 0)
def logic(a, b, c):
    return a and b, c and a, c or b, b or c, not b, not c, a and b and c, c or 0 or b, (b or c) and c


@program(V)
def outside(a):
    return a * SCALE + WEIGHTS.sum(), np.pi * a, AXES, a.sum(axis=AXES[0]), np.inf, np.newaxis


@program(M)
def attributes(a):
    return a.T, a.shape, a.size, a.ndim, a.shape[0], a.T.shape[0], a.sum().shape, np.zeros(2, a.dtype)


@program(M)
def methods(a):
    return (a.sum(), a.sum(axis=0), a.sum(0), a.sum(axis=1, keepdims=True), a.mean(), a.std(), a.var(ddof=1), a.min(),
            a.max(axis=-1), a.any(), (a > -9).all(), a.argmax(), a.argmin(axis=1), a.cumsum(), a.dot(a.T), a.copy(),
            a.astype(np.float32), a.astype(int), a.reshape(4, 3), a.reshape((2, 6)), a.reshape(-1), a.transpose(),
            a.ravel(), a.flatten(), a.clip(-1, 1), a.prod(), a.trace())


@program(M)
def functions(a):
    return (np.exp(a), e_to(a), numpy.sum(a), np.sum(a, axis=1), np.where(a > 0, a, 0.0), np.maximum(a, 0.5),
            np.clip(a, -1.0, 1.0), np.dot(a, a.T), np.outer(a[0], a[1]), np.sqrt(np.abs(a)), np.any(a > 3),
            np.all(a > 3), np.mean(a, axis=0, keepdims=True), np.absolute(a), np.divide(a, 2), np.mod(a, 2),
            np.var(a, 1), np.var(a, ddof=1, axis=0), np.max(a, 1, keepdims=True), np.linalg.norm(a, axis=1))


@program(np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0]))
def linear_algebra(a, b):
    q, r = la.qr(a)
    w, v = np.linalg.eigh(a)
    return np.linalg.solve(a, b), la.inv(a), np.linalg.norm(b), np.linalg.cholesky(a), q @ r, w


@program(3)
def creation(n):
    return (np.zeros(n), np.ones((n, 2)), np.full((2, n), 7.0), np.eye(n), np.arange(n), np.arange(1, 10, 2),
            np.array([1, 2, n]), np.array([[1.0, 2.0], [3.0, n]]), np.array((1.5, 2)), np.linspace(0.0, 1.0, n),
            np.zeros([n, 2]), np.stack([np.zeros(2), np.ones(2)]), np.concatenate((np.zeros(2), np.ones(n))),
            np.zeros(n, dtype=int), np.zeros(n, np.float32), np.array([n], dtype=np.int32), np.zeros(n, dtype="int64"))


@program(M)
def subscripts(a):
    i = 1
    mask = a > 0
    return (a[0], a[-1], a[0, 1], a[0][1], a[1:], a[:2], a[::2], a[::-1], a[:, 1], a[1:3, :2], a[..., 0], a[None, 0],
            a[:, np.newaxis, 0], a[i], a[i, i:], a[i:i + 1], a[mask], a[np.array([0, 2])], a[[0, 2]], a[a.shape[0] - 1],
            a[0:2][1], a[()])


@program(V, 3, 2.5)
def built_in(a, n, x):
    return (len(a), abs(a), abs(-n), min(n, x), max(n, x), min(n, 1, 2), max(4, n, 4.5), min(a), max(a), sum(a),
            float(n), int(x), bool(n), float(a[0]), int(a[3]), pow(n, 2), len((1, 2)), round(x))


@program(V)
def none_tests(a):
    b = None
    if b is None:
        b = a
    if b is not None:
        b = b * 2
    return b, None is b


@program(V, None, 2.0)
def optional_arguments(a, weights, factor):
    w = a * 0 + 1 if weights is None else weights
    if None is not factor and NOTHING is None:
        w = w * factor
    return w, weights is None, factor is None, SCALE is None, SCALE is not None


@program(V * 1.234567, M * 10.5, I * 111, 2.5, 7)
def rounded(a, m, i, x, n):
    return (np.round(a), np.round(a, 2), np.round(m, decimals=-1), np.round(a=a, decimals=1), np.around(m, -1), a.round(),
            a.round(3), m.round(decimals=1), i.round(), np.round(i, -2), i.round(-1), np.round(x), np.round(n),
            np.round(a.astype(np.float32), 2), (a + 1).round(1) * 2, round(x), round(x, 1))


@program(M[:, :3] + 1, np.arange(9.0).reshape(3, 3))
def product_in_place(a, b):
    c = a
    a @= b
    return a, c


@program(V)
def asserted(a):
    assert a.sum() > 0, "the sum is not positive"
    if len(a) == 0:
        raise ValueError(f"no elements: {a}")
    return a


@program(V)
def annotated(a: np.ndarray, b: float = 2.0) -> np.ndarray:
    """A docstring."""
    c: float = b
    d: int
    d = 2
    return a * c + d


@program(2, 3)
def keyword_only(a, b=10, *, c=5):
    return a * 100 + b * 10 + c


@program(V)
def shadowed(sum):
    len = sum * 2
    return len, sum


@program(4)
def nothing(n):
    n += 1


@program(V)
def nested_expressions(a):
    return (a[1:] - a[:-1])[np.argmax(np.abs(a[1:] - a[:-1]))] if len(a) > 1 and a[0] < 10 else None


@program(5, 7)
def numbers_of_any_size(a, b):
    big = 2 ** 40 + a
    return big * b, big // b, big % b, -big // b, a / b, float(big), a ** 10, 10.0 ** -a, a << 20, ~b, -a % b, a - 2.5 // b
