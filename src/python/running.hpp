// SPDX-License-Identifier: BSL-1.0
// The runtime of a Python program, and how a Python thread has native work done by it without
// holding the GIL.
#pragma once

#include "gil.hpp"

#include <nanobind/nanobind.h>

#include <quern/task/async.hpp>
#include <quern/task/detail/run_on.hpp>
#include <quern/task/pin_to_worker.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace quern::python {

namespace nb = nanobind;

/// The runtime, started if there is none. Requires: the GIL. Throws std::runtime_error when the
/// interpreter is ending.
runtime& runtime_here();
inline detail::pool& pool_here() { return runtime_here().default_pool().get(); }

/// Starts it with that. Throws std::logic_error when it runs already.
void start_runtime(std::optional<unsigned> workers, std::optional<std::string> policy,
                   std::optional<std::string> binding);
/// Waits for all that is under way and ends it.
void stop_runtime();
bool is_started() noexcept;

/// Work that the end of the interpreter waits for.
class unfinished_work {
public:
    static void add() noexcept;
    static void remove() noexcept;
    static std::uint32_t count() noexcept;

    /// Counts as long as it lives.
    class counted {
    public:
        counted() noexcept { add(); }
        ~counted() { remove(); }
        counted(const counted&) = delete;
        counted& operator=(const counted&) = delete;
    };
};

/// Whether the calling thread is Python's main thread, the only one that handles signals.
bool is_main_thread() noexcept;

/// Runs handlers of signals that have come; throws nb::python_error if one raises. Requires: the
/// GIL. Does nothing on other threads.
void check_signals();

/// A wait of a Python thread looks for signals that often.
inline constexpr std::chrono::milliseconds k_signal_interval{50};

/// Calls `is_ready(time)`, which waits for at most that time, until it is true, without the GIL;
/// lets signals be handled meanwhile. Throws what their handlers raise.
template <class F>
void wait_in_slices(F&& is_ready) {
    while (true) {
        {
            const without_gil away;
            if (is_ready(k_signal_interval)) {
                return;
            }
        }
        check_signals();
    }
}

/// How long calls of one kind take: a short one may be run on the main thread itself, which handles
/// no signal meanwhile.
class call_history {
public:
    bool was_short() const noexcept { return m_last_ns.load(std::memory_order_relaxed) < k_short; }
    void note(std::chrono::steady_clock::duration time) noexcept {
        m_last_ns.store(std::chrono::nanoseconds(time).count(), std::memory_order_relaxed);
    }

private:
    static constexpr std::int64_t k_short = 10'000'000;
    std::atomic<std::int64_t> m_last_ns{k_short};
};

struct call_options {
    const void* site = nullptr;
    /// May call Python functions: then it must not run on a thread that has Python frames.
    bool calls_python = false;
};

bool may_be_guest(const call_options& how, const call_history& past) noexcept;

/// As a task of its own; the calling thread waits and handles signals. When a handler raises, the
/// task is asked to stop, and the call ends without waiting for it.
template <class F>
auto run_as_task(const call_options& how, F f) {
    std::stop_source stop;
    detail::pool& where = pool_here();
    unfinished_work::add();
    auto result = [&] {
        const without_gil away;  // waking a worker may take some us
        return async({.stack = stack_class::large,
                      .pool = &where,
                      .site = how.site,
                      .stop = stop.get_token()},
                     [work = std::move(f)]() mutable {
                         struct at_end {
                             ~at_end() { unfinished_work::remove(); }
                         } counted;
                         return work();
                     });
    }();
    try {
        wait_in_slices(
            [&](auto time) { return result.wait_for(time) == std::future_status::ready; });
    } catch (...) {
        stop.request_stop();
        const without_gil away;
        result = {};
        throw;
    }
    const without_gil away;
    return result.get();
}

/// Runs `f` on a worker, without the GIL, and returns its result or throws its exception. Within a
/// Python function that a worker runs: as a part of it, on this worker alone. Else the calling
/// thread takes the place of a sleeping worker where it may, and otherwise waits. Requires: the
/// GIL; `f` owns what it uses. Errors also: what a signal's handler raises.
template <class F>
auto run_native(const call_options& how, call_history& past, F f) {
    if (detail::current_worker() != nullptr) {
        const waiting_frames below;
        const without_gil away;
        const pin_to_worker here;
        return f();
    }
    const auto begun = std::chrono::steady_clock::now();
    struct note_time {
        call_history& past;
        std::chrono::steady_clock::time_point begun;
        ~note_time() { past.note(std::chrono::steady_clock::now() - begun); }
    } const noted{past, begun};
    if (!may_be_guest(how, past)) {
        return run_as_task(how, std::move(f));
    }
    detail::pool& where = pool_here();
    const unfinished_work::counted counted;
    const waiting_frames below;
    const without_gil away;
    return detail::run_on(where, how.site, f);
}

/// The place of a Python function, for reports: "relax (Python) at solver.py:42". Requires: the
/// GIL.
const void* site_of(PyObject* function);

}  // namespace quern::python
