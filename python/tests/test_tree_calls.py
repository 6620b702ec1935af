# SPDX-License-Identifier: BSL-1.0
"""Calls of trees: small ones, threads, errors, references, and what trees say of themselves."""

import gc
import json
import sys
import threading
import weakref

import numpy as np
import pytest
from tree_support import CORES, on, same, tree


@pytest.fixture(params=CORES, autouse=True)
def core(request):
    with on(request.param):
        yield request.param


def test_small_calls_run_the_function_and_explain_says_so():
    @tree
    def f(a):
        return a + 1
    a = np.ones(3)
    for _ in range(20):
        assert same(f(a), a + 1)
    of = next(iter(f.chooser.measured.values()))
    assert of.decision is not None and len(of.tree_ns) == 3 and len(of.function_ns) == 3
    assert ("run as the Python function" in f.explain()) == (of.decision == "function")
    if of.decision == "function":
        assert "array[3]" in f.explain()


def test_a_decision_is_looked_at_again(monkeypatch):
    monkeypatch.setattr("quern.frontend.small.AGAIN_AFTER", 5)
    calls = []

    @tree
    def f(a, *, b=1):
        return a + b
    monkeypatch.setattr(f.chooser, "begin", lambda key, begin=f.chooser.begin: calls.append(key) or begin(key))
    for _ in range(40):
        assert f(1, b=2) == 3 and f(1) == 2
    assert len(calls) >= 4


def test_with_small_tree_no_call_runs_the_function():
    @tree(small="tree")
    def f(a):
        return a + 1
    for _ in range(20):
        f(1)
    assert not f.chooser.measured


def test_a_slow_tree_is_never_measured_as_a_function(monkeypatch):
    monkeypatch.setattr("quern.frontend.small.MOST_TREE_NS", 0)

    @tree
    def f(a):
        return a + 1
    for _ in range(10):
        f(1)
    of = next(iter(f.chooser.measured.values()))
    assert of.decision == "tree" and not of.function_ns


def test_calls_from_several_threads():
    @tree(small="tree")
    def f(a, n):
        s = 0.0
        for i in range(n):
            s += a[i]
        return s
    a, wrong = np.arange(50.0), []

    def calls(n):
        for _ in range(20):
            if f(a, n) != a[:n].sum():
                wrong.append(n)
    threads = [threading.Thread(target=calls, args=(10 * i,)) for i in range(1, 5)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def test_text_of_the_tree():
    @tree(small="tree")
    def f(a):
        return np.exp(a) + 1
    f(np.ones(3))
    assert f.tree().startswith("digraph")
    assert f.tree("newick").rstrip().endswith(";")
    assert json.loads(f.tree("json"))["name"] == "f"
    with pytest.raises(ValueError, match='quern.tree: tree is one of "dot", "newick", "json", not \'svg\''):
        f.tree("svg")
    assert "exp" in f.explain()
    assert isinstance(f.statistics(), list) and f.statistics()
    f.reset_statistics()


def test_no_memory_says_how_much(core):
    @tree(small="tree")
    def f(n):
        return np.zeros((n, n)) + np.empty((n, n))
    words = "^no memory for an array of 800000000000000 bytes$" if core == "quern" else "Unable to allocate"
    with pytest.raises(MemoryError, match=words):
        f(10_000_000)


def test_the_page(tmp_path):
    @tree(small="tree")
    def f(a):
        return np.exp(a) + 1  # </script> in a comment does not end the script
    f(np.ones(3))
    path = f.view(tmp_path / "f.html")
    text = open(path, encoding="utf-8").read()
    assert text.count("</script>") == 2 and "http" not in text.replace("https://", "http").split("<script")[0]
    assert '"before": null' in text
    for rule in ("color-scheme: light dark;", "--hot: #e69f00;"):  # of the base sheet, and of the tree's
        assert text.count(rule) == 1, rule
    f.view(tmp_path / "g.html", compare=f.tree("json"))
    assert '"before": {' in (tmp_path / "g.html").read_text()
    with pytest.raises(ValueError, match="compare is the text of f.tree"):
        f.view(tmp_path / "h.html", compare="nothing")
    assert f._repr_html_().startswith("<iframe")


def test_raised_errors_travel():
    @tree(small="tree")
    def f(a):
        if a > 2:
            raise ValueError(f"too large: {a}")
        assert a != 1, "one"
        return a
    assert f(0) == 0
    with pytest.raises(ValueError, match="too large: 3"):
        f(3)
    with pytest.raises(AssertionError, match="one"):
        f(1)


def test_print(capfd):
    @tree(small="tree")
    def f(a):
        print("a is", a, sep=": ")
        return a
    f(3)
    assert capfd.readouterr().out == "a is: 3\n"


def test_order_of_calls_of_python(capfd):
    @tree(small="tree")
    def f(n):
        for i in range(n):
            print(i)
            print(-i)
    f(5)
    assert capfd.readouterr().out == "".join(f"{i}\n{-i}\n" for i in range(5))


def test_run_takes_a_rule():
    @tree
    def f(a):
        return a + 1
    for rule in ("never", "always", "baseline", "adaptive", "quern", "settings"):
        assert f.run(1, inlining=rule) == 2
    with pytest.raises(ValueError, match="inlining is one of"):
        f.run(1, inlining="some")


def test_calls_with_tuples_run_as_trees():
    @tree
    def f(a):
        return a[0] + a[1]
    for _ in range(10):
        assert f((1, 2)) == 3
    assert not f.chooser.measured


def test_errors_of_values(core):
    @tree(small="tree")
    def f(a, b):
        return a + b

    @tree(small="tree")
    def g(n):
        return 1 // n
    with pytest.raises(ValueError, match=r"operands could not be broadcast together with shapes \(2,3\) \(4,\)"):
        f(np.zeros((2, 3)), np.zeros(4))
    with pytest.raises(ZeroDivisionError):
        g(0)
    a = np.zeros(3)
    a.flags.writeable = False

    @tree(small="tree")
    def h(a):
        a[0] = 1
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        h(a)
    if core == "quern":
        with pytest.raises(OverflowError, match="does not fit into int64"):
            f(2**62, 2**62)
        with pytest.raises(TypeError, match="an array of complex128; accepted: bool, int32, int64, float32, float64"):
            f(np.ones(2) * 1j, 1)


def test_recursion_without_end(core):
    if core == "reference":
        pytest.skip("Python's own limit")

    @tree(small="tree")
    def f(n):
        return f(n + 1)
    with pytest.raises((OverflowError, RecursionError), match="nested more than"):
        f(0)


def test_trees_are_made_and_called_in_eight_threads():
    wrong = []

    def work(k):
        for i in range(20):
            @tree(small="tree")
            def f(a):
                return (a + k) * i
            if not same(f(np.arange(3.0)), (np.arange(3.0) + k) * i):
                wrong.append((k, i))
    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


@pytest.mark.parametrize("small", ["python", "tree"])
def test_calls_leave_no_references(small):
    @tree(small=small)
    def f(a, b):
        c = a + b
        c[0] = a[1]
        return c, a

    a, b = np.ones(4), np.ones(4)
    f(a, b)
    before = sys.getrefcount(a), sys.getrefcount(b)
    results = [weakref.ref(f(a, b)[0]) for _ in range(5000)]
    gc.collect()
    assert (sys.getrefcount(a), sys.getrefcount(b)) == before
    assert all(each() is None for each in results)


def test_a_tree_that_is_dropped_is_freed():
    def make():
        kept = np.ones(3)

        @tree(small="tree")
        def f(n):
            return kept if n == 0 else f(n - 1)
        f(3)
        return weakref.ref(kept)
    freed = make()
    gc.collect()
    assert freed() is None
