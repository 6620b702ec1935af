# SPDX-License-Identifier: BSL-1.0
"""Threads, the GIL, signals, processes and memory at the border of Python and Quern."""

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
import tracemalloc

import programs
import pytest

import quern
from quern import _core


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_task_gives_its_result():
    assert quern.spawn(lambda a, b=1: a + b, 2, b=3).result() == 5


def test_a_function_runs_on_a_worker_when_its_spawner_does_other_things():
    ran_on = quern.spawn(threading.get_ident)
    while not ran_on.done():
        time.sleep(0.001)
    assert ran_on.result() != threading.get_ident()


def test_native_calls_by_functions_on_workers():
    def calls():
        return sum(_core.native_task() for _ in range(100))

    futures = [quern.spawn(calls) for _ in range(100)]
    time.sleep(0.05)
    assert [each.result() for each in futures] == [100] * 100


def test_a_thousand_calls_from_each_of_eight_threads():
    results = []

    def thread():
        total = 0
        for i in range(1000):
            total += _core.native_task()
            total += quern.spawn(lambda x: x, i).result()
        results.append(total)

    threads = [threading.Thread(target=thread) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert results == [1000 + sum(range(1000))] * 8


def test_functions_that_wait_for_functions_leave_the_workers_to_others():
    if _core.workers() < 2:
        pytest.skip("needs a worker beside the one that waits")
    gate = threading.Event()
    slow = quern.spawn(gate.wait, 30)
    while not slow.running():
        time.sleep(0.001)
    waiting = [quern.spawn(slow.result) for _ in range(20)]
    time.sleep(0.05)
    assert quern.spawn(lambda: 7).result(timeout=20) == 7
    gate.set()
    assert [each.result() for each in waiting] == [True] * 20


def test_recursion_by_tasks():
    def fib(n):
        if n < 2:
            return n
        first = quern.spawn(fib, n - 1)
        return fib(n - 2) + first.result()

    assert quern.spawn(fib, 15).result() == 610


def test_recursion_without_end_is_pythons_error():
    def again():
        return again()

    future = quern.spawn(again)
    time.sleep(0.05)
    with pytest.raises(RecursionError):
        future.result()


def test_an_exception_travels_with_its_traceback():
    def inner():
        raise KeyError("lost")

    def outer():
        inner()

    future = quern.spawn(outer)
    time.sleep(0.02)
    for _ in range(3):
        with pytest.raises(KeyError, match="lost") as caught:
            future.result()
        names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert names[-2:] == ["outer", "inner"]
        assert names.count("outer") == 1
    assert isinstance(future.exception(), KeyError)


def test_system_exit_of_a_function_reaches_who_asks():
    future = quern.spawn(sys.exit, 3)
    time.sleep(0.02)
    with pytest.raises(SystemExit):
        future.result()


def test_no_references_and_no_memory_are_lost_over_100000_calls():
    def function(x):
        return x

    argument = object()

    def calls(count):
        for _ in range(count // 100):
            futures = [quern.spawn(function, argument) for _ in range(50)]
            for each in futures:
                each.result()
            for _ in range(50):
                quern.spawn(function, argument).result()
        del futures, each
        for _ in range(2000):
            if _core.unfinished() == 0:
                break
            time.sleep(0.001)
        time.sleep(0.05)
        quern.spawn(int).result()  # takes back what workers have released
        gc.collect()

    calls(10000)
    references = sys.getrefcount(argument), sys.getrefcount(function)
    before = resident_bytes()
    tracemalloc.start()
    traced = tracemalloc.get_traced_memory()[0]
    calls(100000)
    assert (sys.getrefcount(argument), sys.getrefcount(function)) == references
    assert tracemalloc.get_traced_memory()[0] - traced < 100_000
    tracemalloc.stop()
    assert resident_bytes() - before < 40e6


def test_a_future_that_is_part_of_a_cycle_is_collected():
    class Node:
        pass

    import weakref

    node = Node()
    node.future = quern.spawn(lambda n: n, node)
    node.future.result()
    time.sleep(0.02)
    seen = weakref.ref(node)
    del node
    quern.spawn(int).result()
    gc.collect()
    assert seen() is None


def test_ctrl_c_ends_a_wait():
    gate = threading.Event()
    future = quern.spawn(gate.wait, 30)
    while not future.running():
        time.sleep(0.001)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        future.result()
    assert time.monotonic() - begun < 5
    gate.set()
    assert future.result() is True


def test_ctrl_c_ends_a_taskwait_and_the_tasks_end_later():
    gate = threading.Event()
    data = bytearray(8)

    @quern.task(inout="data")
    def wait(data):
        gate.wait(30)

    wait(data)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        quern.taskwait()
    gate.set()
    quern.taskwait()


def test_a_child_of_fork_has_a_runtime_of_its_own():
    assert quern.spawn(lambda: 1).result() == 1
    child = os.fork()
    if child == 0:
        ok = quern.spawn(lambda: 5).result() == 5 and _core.native_task() == 1
        os._exit(0 if ok else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert quern.spawn(lambda: 2).result() == 2


def square_by_task(x):
    return quern.spawn(lambda: x * x).result()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(method):
    assert quern.spawn(lambda: 1).result() == 1
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(square_by_task, range(5)) == [0, 1, 4, 9, 16]


def test_a_function_on_a_worker_may_fork():
    def fork():
        child = os.fork()
        if child == 0:
            os._exit(quern.spawn(lambda: 3).result())
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    future = quern.spawn(fork)
    time.sleep(0.05)
    assert future.result() == 3


def test_the_end_of_the_interpreter_waits_for_tasks():
    status, out, err = programs.run("""
        import time, quern
        def work(i):
            time.sleep(0.01)
            print(f"{i}\\n", end="", flush=True)
        for i in range(40):
            quern.spawn(work, i)
    """)
    assert (status, err) == (0, "")
    assert sorted(int(line) for line in out.split()) == list(range(40))


def test_no_task_begins_after_the_end():
    status, out, err = programs.run("""
        import atexit
        def late():
            try:
                quern.spawn(print)
            except RuntimeError as error:
                print(error)
        atexit.register(late)
        import quern
        quern.spawn(int).result()
    """)
    assert status == 0, err
    assert "no task can be started while the interpreter is ending" in out


def test_ctrl_c_at_the_end_ends_the_process():
    program = programs.start("""
        import time, quern
        gate = quern.spawn(time.sleep, 600)
        while not gate.running():
            time.sleep(0.001)
        print("ready", flush=True)
    """)
    assert program.stdout.readline() == "ready\n"
    time.sleep(0.3)
    program.send_signal(signal.SIGINT)
    _, err = program.communicate(timeout=30)
    assert program.returncode == 130
    assert "tasks that have not ended are abandoned: 1" in err


def test_threads_that_call_at_the_end():
    status, out, err = programs.run("""
        import threading, time, quern
        def calls():
            try:
                while True:
                    quern.spawn(int).result()
            except RuntimeError:
                pass
        for _ in range(3):
            threading.Thread(target=calls, daemon=True).start()
        time.sleep(0.2)
    """)
    assert status == 0, err


def test_threads_that_wait_at_the_end():
    """The threads want the interpreter's lock while its modules end, which takes a while here."""
    status, out, err = programs.run("""
        import threading, time, quern
        class Slow:
            def __init__(self):
                self.sleep = time.sleep
            def __del__(self):
                self.sleep(0.5)
        slow = Slow()
        never = quern.future()
        for _ in range(3):
            threading.Thread(target=never.result, daemon=True).start()
        quern.spawn(int).result()
        time.sleep(0.2)
    """)
    assert (status, err) == (0, "")


def test_start_and_stop():
    status, out, err = programs.run("""
        import quern
        print(quern.info()["running"])
        quern.settings["threads"] = 3
        quern.start()
        print(quern.info()["workers"])
        try:
            quern.start(workers=2)
        except RuntimeError as error:
            print(error)
        quern.stop()
        quern.start(workers=1)
        print(quern.info()["workers"], quern.spawn(lambda: 4).result(), quern.map(abs, [-1, 2]))
    """)
    assert status == 0, err
    assert out.splitlines() == [
        "False", "3", "quern.start: the runtime runs already, with 3 workers; call start() before the first task, or stop() first",
        "1 4 [1, 2]"]


def test_the_report_names_lines_of_python(tmp_path):
    report = tmp_path / "report.html"
    script = tmp_path / "solver.py"
    script.write_text("import time, quern\n\ndef relax(n):\n    return sum(range(n))\n\n"
                      "f = [quern.spawn(relax, 200000) for _ in range(50)]\n"
                      "while not f[-1].done():\n    time.sleep(0.01)\n")
    status, out, err = programs.run(f"import runpy; runpy.run_path({str(script)!r})", QUERN_REPORT=str(report))
    assert status == 0, err
    assert "solver.py:3" in report.read_text() and "relax" in report.read_text()


def test_reload_and_a_second_import():
    status, out, err = programs.run("""
        import importlib, sys, quern
        print(quern.spawn(lambda: 1).result())
        importlib.reload(quern)
        print(quern.spawn(lambda: 2).result())
        for name in [n for n in sys.modules if n.split(".")[0] == "quern"]:
            del sys.modules[name]
        import quern as again
        print(again.spawn(lambda: 3).result(), again is quern, again.future is quern.future)
    """)
    assert (status, err) == (0, "")
    assert out.splitlines() == ["1", "2", "3 False True"]
