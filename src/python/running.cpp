// SPDX-License-Identifier: BSL-1.0
#include "running.hpp"

#include "bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <quern/base/detail/atomics.hpp>
#include <quern/base/detail/process.hpp>
#include <quern/scheduler/detail/spare_threads.hpp>

#include <unistd.h>
#include <climits>
#include <cstdio>
#include <stdexcept>

namespace quern::python {

namespace {

// Written with the GIL.
runtime* g_runtime = nullptr;
unsigned g_generation = 0;  ///< fork_generation() when it was made
bool g_is_ending = false;
unsigned long g_main_thread = 0;

std::atomic<std::uint32_t> g_unfinished{0};
std::atomic<bool> g_is_awaited{false};  ///< who ends the last must wake whom waits for that

/// A runtime of the parent process is left where it is: it has no workers here.
bool is_of_this_process() noexcept {
    return g_runtime != nullptr && g_generation == detail::fork_generation();
}

[[noreturn]] void refuse_at_end() {
    throw std::runtime_error("quern: no task can be started while the interpreter is ending");
}

void make_runtime(const runtime_options& options) {
    if (g_is_ending) {
        refuse_at_end();
    }
    g_runtime = new runtime(options);
    g_generation = detail::fork_generation();
}

bool wait_for_unfinished(std::chrono::nanoseconds time) noexcept {
    const std::uint32_t count = g_unfinished.load(std::memory_order_acquire);
    return count == 0 || (detail::std_atomics::futex_wait_for(g_unfinished, count, time), false);
}

/// Work is added with the GIL held: there is none when this returns, and none comes before the GIL
/// is given away.
void wait_for_all_work() {
    g_is_awaited.store(true, std::memory_order_seq_cst);
    do {
        wait_in_slices(wait_for_unfinished);
    } while (unfinished_work::count() != 0);
    g_is_awaited.store(false, std::memory_order_relaxed);
}

void end_runtime() {
    wait_for_all_work();
    std::unique_ptr<runtime> ending(std::exchange(g_runtime, nullptr));
    const without_gil away;
    ending.reset();
}

void flush_streams() noexcept {
    for (const char* name : {"stdout", "stderr"}) {
        if (PyObject* const stream = PySys_GetObject(name)) {
            Py_XDECREF(PyObject_CallMethod(stream, "flush", nullptr));
            PyErr_Clear();
        }
    }
    std::fflush(nullptr);
}

/// Called by atexit: all tasks end before the interpreter does. Ctrl-C ends the process instead.
void at_exit() {
    g_is_ending = true;
    if (!is_of_this_process()) {
        end_of_interpreter();
        return;
    }
    try {
        end_runtime();
    } catch (nb::python_error& interrupted) {
        interrupted.restore();
        PyErr_Clear();
        std::fprintf(stderr,
                     "quern: interrupted at exit; tasks that have not ended are abandoned: %u\n",
                     unfinished_work::count());
        flush_streams();
        _exit(130);
    }
    end_of_interpreter();
}

void after_fork_in_child() {
    g_runtime = nullptr;
    g_unfinished.store(0, std::memory_order_relaxed);
    g_main_thread = PyThread_get_thread_ident();
}

}  // namespace

bool is_started() noexcept { return is_of_this_process(); }

runtime& runtime_here() {
    // Tasks that run may still make others: the end waits for them.
    if (g_is_ending && detail::current_worker() == nullptr &&
        detail::spare_thread_context() == nullptr) {
        refuse_at_end();
    }
    if (!is_of_this_process()) {
        make_runtime({});
    }
    return *g_runtime;
}

void start_runtime(std::optional<unsigned> workers, std::optional<std::string> policy,
                   std::optional<std::string> binding) {
    if (is_of_this_process()) {
        throw std::logic_error("quern.start: the runtime runs already, with " +
                               std::to_string(g_runtime->workers()) +
                               " workers; call start() before the first task, or stop() first");
    }
    pool_options pool;
    pool.workers = workers;
    pool.policy = std::move(policy);
    pool.binding = std::move(binding);
    make_runtime({.pools = {pool}});
}

void stop_runtime() {
    if (detail::current_worker() != nullptr) {
        throw std::logic_error("quern.stop: called in a task, which it would wait for");
    }
    if (is_of_this_process()) {
        end_runtime();
    }
}

void unfinished_work::add() noexcept { g_unfinished.fetch_add(1, std::memory_order_relaxed); }
void unfinished_work::remove() noexcept {
    if (g_unfinished.fetch_sub(1, std::memory_order_seq_cst) == 1 &&
        g_is_awaited.load(std::memory_order_seq_cst)) {
        detail::std_atomics::futex_wake(g_unfinished, INT_MAX);
    }
}
std::uint32_t unfinished_work::count() noexcept {
    return g_unfinished.load(std::memory_order_acquire);
}

bool is_main_thread() noexcept { return PyThread_get_thread_ident() == g_main_thread; }

void check_signals() {
    if (is_main_thread() && PyErr_CheckSignals() != 0) {
        throw nb::python_error();
    }
}

bool may_be_guest(const call_options& how, const call_history& past) noexcept {
    return !how.calls_python && detail::spare_thread_context() == nullptr &&
           (past.was_short() || !is_main_thread());
}

void bind_running(nb::module_& m) {
    g_main_thread = nb::cast<unsigned long>(
        nb::module_::import_("threading").attr("main_thread")().attr("ident"));
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(at_exit));
    nb::module_::import_("os").attr("register_at_fork")(nb::arg("after_in_child") =
                                                            nb::cpp_function(after_fork_in_child));
    m.def(
        "start",
        [](std::optional<unsigned> workers, std::optional<std::string> policy,
           std::optional<std::string> binding) {
            start_runtime(workers, std::move(policy), std::move(binding));
        },
        nb::arg("workers") = nb::none(), nb::arg("policy") = nb::none(),
        nb::arg("binding") = nb::none());
    m.def("stop", stop_runtime);
    m.def("is_started", is_started);
    m.def("workers", [] { return runtime_here().workers(); });
    m.def("unfinished", unfinished_work::count);
    m.def("native_task", [] {  // for measuring: a task that gives back a number
        static call_history past;
        return run_native({}, past, [] { return 1; });
    });
}

}  // namespace quern::python
