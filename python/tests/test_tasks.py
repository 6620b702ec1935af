# SPDX-License-Identifier: BSL-1.0
"""Futures, loops, tasks on arrays, settings, counters and traces."""

import asyncio
import concurrent.futures
import operator
import threading
import time

import numpy as np
import programs
import pytest

import quern


def busy():
    """Keeps all workers busy until the result is set."""
    gate = threading.Event()
    futures = [quern.spawn(gate.wait, 30) for _ in range(quern._core.workers())]
    while not all(each.running() for each in futures):
        time.sleep(0.001)
    return gate


def test_states_of_a_future():
    gate = busy()
    future = quern.spawn(lambda: 1)
    assert not future.done() and not future.running() and not future.cancelled()
    with pytest.raises(TimeoutError, match="no result within"):
        future.result(timeout=0.01)
    assert future.cancel() and future.cancelled() and future.done()
    with pytest.raises(concurrent.futures.CancelledError):
        future.result()
    gate.set()


def test_callbacks():
    seen = []
    gate = busy()
    future = quern.spawn(lambda: 5)
    future.add_done_callback(lambda f: seen.append(f.result()))
    gate.set()
    assert future.result() == 5
    future.add_done_callback(lambda f: seen.append(f.result() + 1))
    assert seen == [5, 6]


def test_a_future_is_awaitable():
    def slow(x):
        time.sleep(0.02)
        return x

    async def one(x):
        return await quern.spawn(slow, x)

    async def main():
        with pytest.raises(ZeroDivisionError):
            await quern.spawn(lambda: 1 // 0)
        return await asyncio.gather(*[one(i) for i in range(10)])

    assert asyncio.run(main()) == list(range(10))


def test_promises():
    promise = quern.future()
    threading.Timer(0.02, promise.set_result, (3,)).start()
    assert promise.result() == 3
    with pytest.raises(RuntimeError, match="has a result"):
        promise.set_result(4)
    with pytest.raises(TypeError):
        quern.future().set_exception("no exception")


def test_when_all():
    assert quern.when_all().result() == []
    assert quern.when_all(quern.spawn(lambda: 1), quern.spawn(lambda: 2)).result() == [1, 2]
    assert quern.when_all([quern.spawn(abs, -3)]).result() == [3]
    with pytest.raises(ZeroDivisionError):
        quern.when_all(quern.spawn(lambda: 1), quern.spawn(lambda: 1 // 0)).result()
    with pytest.raises(TypeError, match="is no quern.future"):
        quern.when_all(1, 2)


def test_when_all_of_futures_that_end_on_several_threads():
    """Each joined future ends once, after all its parts, whatever thread is the last."""
    for _ in range(200):
        parts = [quern.future() for _ in range(8)]
        joined, ends = quern.when_all(parts), []
        joined.add_done_callback(lambda f, ends=ends: ends.append(f.result()))
        begin = threading.Barrier(4)

        def set_two(at, parts=parts, begin=begin):
            begin.wait()
            parts[at].set_result(at)
            parts[at + 4].set_result(at + 4)

        threads = [threading.Thread(target=set_two, args=(at,)) for at in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert joined.result() == list(range(8)) and ends == [list(range(8))]


def test_when_all_of_one_future_several_times():
    part = quern.future()
    joined = quern.when_all(part, part)
    part.set_result(4)
    assert joined.result() == [4, 4]


@pytest.mark.parametrize("chunk", [None, 1, 7, 1000])
def test_loops(chunk):
    seen = set()
    quern.parallel_for(range(100), seen.add, chunk=chunk)
    assert seen == set(range(100))
    assert quern.map(lambda x: x * x, range(100), chunk=chunk) == [x * x for x in range(100)]
    assert quern.map(str, iter("abc"), chunk=chunk) == list("abc")
    assert quern.reduce(operator.add, [str(i) for i in range(50)], chunk=chunk) == "".join(map(str, range(50)))
    assert quern.reduce(operator.add, range(10), 100, chunk=chunk) == 145
    assert quern.reduce(operator.add, [], 5, chunk=chunk) == 5
    assert quern.map(abs, [], chunk=chunk) == []
    with pytest.raises(TypeError):
        quern.reduce(operator.add, [], chunk=chunk)


def test_the_first_exception_of_a_loop():
    with pytest.raises(KeyError):
        quern.parallel_for(range(100), lambda i: {}[i])
    with pytest.raises(TypeError, match="not callable"):
        quern.map(3, [1])
    with pytest.raises(ValueError, match="chunk is 0"):
        quern.map(abs, [1], chunk=0)


@quern.task(inout="a")
def add_one(a):
    a += 1


@quern.task(in_="a", out="b")
def copy(a, b):
    b[...] = a


def test_tasks_run_in_the_order_of_their_arrays():
    a, b = np.zeros(1000), np.zeros(1000)
    for i in range(50):
        add_one(a)
        copy(a, b)
    quern.taskwait()
    assert (a == 50).all() and (b == 50).all()


def test_slices_of_one_array():
    a = np.zeros((60, 60))
    order = []

    @quern.task(inout="block")
    def note(block, name):
        order.append(name)
        block += 1

    for _ in range(10):
        for i in range(0, 60, 20):
            for j in range(0, 60, 20):
                note(a[i:i + 20, j:j + 20], (i, j))
        note(a[::-1, ::2], "reversed")
    quern.taskwait()
    assert (a[:, ::2] == 20).all() and (a[:, 1::2] == 10).all()
    assert [n for n, each in enumerate(order) if each == "reversed"] == [10 * k + 9 for k in range(10)]


@pytest.mark.skipif(quern._core.workers() < 2, reason="needs two workers")
def test_disjoint_columns_run_beside_each_other():
    a = np.zeros((8, 8))
    both = threading.Barrier(2, timeout=20)

    @quern.task(inout="column")
    def meet(column):
        both.wait()

    meet(a[:, 0])
    meet(a[:, 1])
    quern.taskwait()


def test_children_of_tasks():
    a = np.zeros(100)

    @quern.task(inout="whole")
    def parent(whole):
        for i in range(0, 100, 10):
            add_one(whole[i:i + 10])
        quern.taskwait()
        return float(whole.sum())

    assert parent(a).result() == 100
    quern.taskwait()


def test_a_task_that_fails():
    a = np.zeros(10)

    @quern.task(inout="a")
    def fail(a):
        raise OSError("disk")

    failed, dropped = fail(a), add_one(a)
    with pytest.raises(OSError, match="disk"):
        quern.taskwait()
    assert isinstance(failed.exception(), OSError) and dropped.cancelled()
    quern.taskwait()
    assert add_one(a).result() is None and a[0] == 1
    quern.taskwait()


def test_bad_accesses():
    with pytest.raises(ValueError, match="has no parameter 'b', named in in_; did you mean 'bb'"):
        quern.task(in_="b")(lambda bb: 0)
    with pytest.raises(ValueError, match="named twice"):
        quern.task(in_="a", out="a")(lambda a: 0)
    with pytest.raises(TypeError, match="a int has no memory that it shows"):
        add_one(3)
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        add_one(fixed)

    def in_a_spawned_function():
        add_one(np.zeros(1))

    future = quern.spawn(in_a_spawned_function)
    time.sleep(0.05)
    if not future.running():
        with pytest.raises(RuntimeError, match="call it on a thread of your own"):
            future.result()


def test_settings():
    assert quern.settings["threads"]
    assert "policy" in quern.settings and "treads" not in quern.settings
    assert len(list(quern.settings)) == len(quern.settings)
    with pytest.raises(ValueError, match="did you mean 'threads'"):
        quern.settings["treads"]
    quern.spawn(int).result()
    with pytest.raises(RuntimeError, match="cannot be changed while the runtime runs"):
        quern.settings["threads"] = 1
    with pytest.raises(TypeError):
        del quern.settings["threads"]


def test_settings_are_set_by_a_call(tmp_path):
    status, out, err = programs.run("""
        import quern
        quern.settings({"threads": 3}, steal_batch=2)
        print(quern.settings["threads"], quern.settings["steal-batch"])
        for wrong in ({"threads": 2, "treads": 1}, 3, "threads", [("threads", 2)], {3: 1}, {"threads": "many"}):
            try:
                quern.settings(wrong)
            except (TypeError, ValueError) as error:
                print(type(error).__name__, error)
        print(quern.settings["threads"])
    """)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "3 2" and lines[-1] == "3" and len(lines) == 8
    assert lines[1].startswith("ValueError") and "did you mean 'threads'" in lines[1]
    assert all(line.startswith("TypeError") and 'quern.settings({"threads": 2})' in line for line in lines[2:5])
    assert "a setting's name is a str, not 3" in lines[5] and "many" in lines[6]


@pytest.mark.parametrize("workers, error", [(0, ValueError), (-1, ValueError), (5000, ValueError), (1.5, TypeError), (True, TypeError)])
def test_numbers_of_workers_that_are_refused(workers, error):
    with pytest.raises(error, match="a whole number from 1 to 4096"):
        quern.start(workers=workers)


def test_counters_and_info():
    quern.spawn(int).result()
    found = quern.counters("/threads/count/*")
    assert found and all(value is None or isinstance(value, float) for value in found.values())
    with pytest.raises(ValueError, match="no counter"):
        quern.counters("/no-such/*")
    assert "pending-misses" in str(quern.counters("/threads/count/pending*"))
    assert quern.info()["workers"] >= 1


@pytest.mark.parametrize("pattern, instead", [
    ("/thread/*", "did you mean '/threads/*'?"),
    ("/thread/coun/*", "did you mean '/threads/count/*'?"),
    ("/threads{worker-thread#*}/idle-rat", "did you mean '/threads/idle-rate'?"),
    ("/threads/idle-rate/*", "did you mean '/threads/idle-rate'?"),
    ("/no-such/*", "those of '/' begin with adaptation, "),
    ("/threads/no-such-counter", "those of '/threads/' begin with "),
])
def test_counters_that_match_nothing_name_the_nearest(pattern, instead):
    with pytest.raises(ValueError, match="no counter is called") as refused:
        quern.counters(pattern)
    assert instead in str(refused.value)


@pytest.mark.parametrize("name", ["run.html", "run.pftrace"])
def test_traces(tmp_path, name):
    def traced_function():
        return sum(range(10000))

    with quern.trace(tmp_path / name):
        futures = [quern.spawn(traced_function) for _ in range(50)]
        while not futures[-1].done():
            time.sleep(0.001)
    assert b"traced_function" in (tmp_path / name).read_bytes()


def test_traces_that_are_refused(tmp_path):
    with pytest.raises(ValueError, match="ends in .html"):
        quern.trace("run.txt")
    with pytest.raises(FileNotFoundError), quern.trace(tmp_path / "missing" / "run.html"):
        pass
