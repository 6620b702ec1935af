# SPDX-License-Identifier: BSL-1.0
"""examples/python with small sizes: as trees and as plain NumPy; ALS beside an independent solution."""

import importlib
import os
import subprocess
import sys

import numpy as np
import pytest
from tree_support import CORES, copied, on, quern, same, tree

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "python")
NAMES = ("als", "kmeans", "logistic_regression", "pca", "power_iteration", "heat", "black_scholes", "nbody")
generator = np.random.default_rng(5)
POINTS = generator.normal(size=(60, 4))
SQUARE = (lambda a: a + a.T)(generator.random((8, 8)))


@pytest.fixture(params=CORES)
def examples(request, monkeypatch):
    """The modules, whose trees run on one core."""
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setattr(sys, "argv", ["example"])
    for name in ("example", *NAMES):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert quern.tree is tree
    with on(request.param):
        yield importlib.import_module


CALLS = [
    ("kmeans", "kmeans", (POINTS, POINTS[:3].copy(), 4)),
    ("logistic_regression", "logistic_regression", (POINTS, (POINTS[:, 0] > 0).astype(float), 0.5, 5)),
    ("pca", "pca", (POINTS, 2)),
    ("power_iteration", "power_iteration", (SQUARE, np.ones(8), 100, 1e-12)),
    ("power_iteration", "power_iteration", (SQUARE, np.ones(8), 2, 1e-12)),
    ("heat", "heat", (np.arange(48.0).reshape(6, 8) % 7, 0.2, 5)),
    ("black_scholes", "black_scholes", (np.linspace(10, 50, 9), np.linspace(40, 12, 9), np.linspace(0.1, 2, 9), 0.02, 0.3)),
    ("nbody", "nbody", (POINTS[:, :3].copy(), np.zeros((60, 3)), np.ones(60) / 60, 0.01, 3)),
]


@pytest.mark.parametrize(("module", "name", "args"), CALLS, ids=[f"{c[1]}{i}" for i, c in enumerate(CALLS)])
def test_an_example_gives_what_numpy_gives(examples, module, name, args):
    f = getattr(examples(module), name)
    own, other = copied(args), copied(args)
    result, expected = f.run(*own), f.function(*other)
    for a, b in zip(as_tuple(result), as_tuple(expected), strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    for a, b in zip(own, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


ALPHA, WEIGHT = 40.0, 0.1


def independent_half_step(ratings, other):
    """Rows that make the objective smallest, each by least squares on stacked equations."""
    rows = []
    for r in ratings:
        roots = np.sqrt(1.0 + ALPHA * r)
        equations = np.vstack([roots[:, None] * other, np.sqrt(WEIGHT) * np.eye(other.shape[1])])
        wanted = np.concatenate([roots * (r != 0), np.zeros(other.shape[1])])
        rows.append(np.linalg.lstsq(equations, wanted, rcond=None)[0])
    return np.array(rows)


@pytest.mark.parametrize("form", ["als_dense", "als_parallel", "als_sparse"])
def test_als_is_the_independent_solution_and_its_objective_falls(examples, form):
    als = examples("als")
    ratings = als.make_ratings(12, 9, 0.3)
    data = (ratings,) if form != "als_sparse" else (als.rows_of(ratings), als.rows_of(ratings.T))
    start = np.random.default_rng(3)
    first = start.random((12, 4)), start.random((9, 4))
    objectives = [als.objective(ratings, *first, ALPHA, WEIGHT)]
    x, y = first[0].copy(), first[1].copy()
    for iterations in range(1, 5):
        x = independent_half_step(ratings, y)
        y = independent_half_step(ratings.T, x)
        result = getattr(als, form).run(*data, first[0].copy(), first[1].copy(), ALPHA, WEIGHT, iterations)
        np.testing.assert_allclose(result[0], x, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(result[1], y, rtol=1e-6, atol=1e-8)
        objectives.append(als.objective(ratings, *result, ALPHA, WEIGHT))
    assert all(b < a for a, b in zip(objectives, objectives[1:], strict=False)), objectives


def test_the_forms_of_als_agree(examples):
    als = examples("als")
    ratings = als.make_ratings(10, 14, 0.25)
    start = np.random.default_rng(4)
    first = start.random((10, 3)), start.random((14, 3))
    dense = als.als_dense.run(ratings, *copied(first), ALPHA, WEIGHT, 3)
    parallel = als.als_parallel.run(ratings, *copied(first), ALPHA, WEIGHT, 3)
    sparse = als.als_sparse.run(als.rows_of(ratings), als.rows_of(ratings.T), *copied(first), ALPHA, WEIGHT, 3)
    assert same(dense, parallel)
    for a, b in zip(dense, sparse, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs_as_plain_numpy(name):
    small = {"als": ["--users", "6", "--items", "5", "--factors", "2"], "kmeans": ["--points", "100"],
             "logistic_regression": ["--rows", "100"], "pca": ["--points", "100"], "power_iteration": ["--size", "20"],
             "heat": ["--size", "20"], "black_scholes": ["--options", "50"], "nbody": ["--bodies", "8"]}
    done = subprocess.run([sys.executable, os.path.join(FOLDER, name + ".py"), "--plain", "--repeat", "1", *small[name]],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "ms in NumPy" in done.stdout
