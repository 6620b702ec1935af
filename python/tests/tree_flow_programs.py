# SPDX-License-Identifier: BSL-1.0
"""Functions with assignments, loops and branches, for the same tests as tree_programs."""

import numpy as np
from tree_programs import I, M, V, program
from tree_support import prange


@program(V)
def augmented(a):
    kept = a
    a += 1
    a *= 2.0
    a -= kept * 0.5
    a /= 2
    a **= 2
    x = 5
    x += 2
    x //= 2
    x %= 3
    n = 3
    n <<= 2
    n |= 1
    n &= 7
    n ^= 2
    n >>= 1
    return a, kept, x, n


@program(M)
def augmented_items(a):
    a[0] += 1
    a[1, 2] *= 3
    a[:, 1] -= a[:, 0]
    a[a > 3] /= 2
    a[[0, 2]] += 10
    return a


@program(V)
def not_augmented(a):
    b = a
    b = b + 1
    return a, b


@program(1, 2)
def chained_and_tuples(a, b):
    c = d = a + b
    a, b = b, a
    (p, q), r = (a, b), c
    s, t = np.array([10.0, 20.0])
    pair = (a, c)
    u, v = pair
    return a, b, c, d, p, q, r, s, t, u, v, pair


@program(5)
@program(0)
@program(-5)
def branches(x):
    if x > 0:
        y = 1
    elif x == 0:
        y = 2
    else:
        y = 3
    z = "more" if x > 0 else "less"
    if y == 2:
        pass
    return y, z


@program(10)
def while_loops(n):
    i = total = 0
    while i < n:
        i += 1
        if i % 2:
            continue
        if i > 7:
            break
        total += i
    return i, total


@program(7)
@program(12)
def while_else(n):
    i = 2
    while i < n:
        if n % i == 0:
            answer = i
            break
        i += 1
    else:
        answer = -1
    return answer


@program(7)
@program(9)
def for_else(n):
    for i in range(2, n):
        if n % i == 0:
            answer = i
            break
    else:
        answer = 0
    return answer


@program(M)
def ranges(a):
    s = 0.0
    for i in range(3):
        s += a[i, 0]
    for i in range(1, 4):
        s += 10 * a[0, i]
    for i in range(3, -1, -2):
        s -= a[1, i] * i
    for _ in range(0):
        s = 1e9
    return s, i


@program(M, (1, 2, 3))
def over_arrays(a, numbers):
    s = np.zeros(4)
    for row in a:
        s += row
        for x in row:
            s[0] += x
    t = 0
    for n in numbers:
        t += n
    for n in (10, 20):
        t += n
    for n in [100, 200]:
        t += n
    for x, y in ((1, 2), (3, 4)):
        t += x * y
    return s, t


@program(V, I)
def zip_and_enumerate(a, b):
    s = 0.0
    for x, y in zip(a, b):
        s += x * y
    for i, x in enumerate(a):
        s += i * x
    for i, (x, y) in enumerate(zip(a, b[:3]), 1):
        s += i * x * y
    for i, x in zip(range(2, 5), a):
        s += i * x
    for x, i in zip(a, range(100)):
        s += i * x
    for i, k in enumerate(range(3)):
        s += i + k
    for i, x in zip(range(-3), a):
        s = -1
    for i, x in enumerate(b, start=5):
        if i == 7:
            break
        s += x
    return s, i


@program(V, 1.0)
@program(V, 100.0)
def early_return(a, limit):
    for i in range(len(a)):
        if a[i] > limit:
            return i
        while True:
            if a[i] < 0:
                return -2, i
            break
    return -1


@program(M)
def parallel(a):
    out = np.zeros(3)
    for i in prange(3):
        row = a[i]
        if row[0] > 0:
            out[i] = row.sum()
            continue
        part = 0.0
        for j in range(4):
            part += row[j] * j
        out[i] = part
    for i in prange(0, 3, 2):
        out[i] += 1
    return out


@program(M, np.zeros(4))
def item_assignment(a, b):
    a[0] = b
    a[1, 2] = 9
    a[:, 0] = np.array([1.0, 2.0, 3.0])
    a[1:, 1:3] = -1
    a[a > 4] = 0
    a[2][3] = 77
    a[..., 1] = 5
    b[:] = 3
    b.fill(4)
    p = a[0]
    p[1] = 123
    a[0, 0], a[0, 1] = a[0, 1], a[0, 0]
    return a, b, p


@program(20)
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@program(M, V)
def aliases(a, v):
    b = a
    row = a[0]
    t = a.T
    b[0] = 1.5
    first = row + 1
    t[1] = -2
    second = a.sum(axis=0)
    row += 10
    third = b[0] * 2
    flat = a.reshape(-1)
    flat[5] = 99
    fourth = a[1, 1] + flat[5]
    v[1:] = v[:-1]
    v[:-1] += v[1:]
    w = v[::-1]
    v[:] = w
    pair = (a, v)
    c, d = pair
    c[2] = 0
    d[0] = 8
    return a, b, row, t, first, second, third, flat, fourth, v, w, c, d


@program(V)
def aliased_arguments(a):
    b = a
    for i in range(3):
        b[i] = a[i + 1] * 2
        a[i + 1] = b[0] - i
        x = a.sum()
        b += x * 0.125
    return a, b, x


@program(V, V)
def both_arguments(a, b):
    a[0] = 5
    c = b[0] + 1
    b[1] = 6
    d = a[1] + 2
    return c, d, a, b


@program(M)
def swapped_rows(a):
    for i in range(2):
        a[i], a[i + 1] = a[i + 1].copy(), a[i].copy()
    kept = a[0].copy()
    a[0] = 0
    return a, kept


@program(V, True)
@program(V, False)
def joined_variables(a, which):
    b = np.zeros(4)
    c = a if which else b
    c[0] = 9
    x = a[0], b[0]
    if which:
        d = b
    else:
        d = a
    d += 1
    return x, a.sum(), b.sum(), c[0], d[1]


@program(V)
def order_of_statements(a):
    total = 0.0
    for i in range(4):
        b = a * i
        a[i] = b.sum()
        total += a[i] - b[i]
        c = a.copy()
        a *= 0.5
        total = total + c.sum() - a.sum()
    return total, a, b, c


@program(np.arange(8.0))
def nested_conditions(a):
    s = 0
    for i in range(8):
        if a[i] % 2 == 0:
            if a[i] > 4:
                s += 1
                continue
            for j in range(i):
                if j == 3:
                    break
                s += j
            else:
                s += 100
        elif i == 7:
            return s, i
    return s, -1
