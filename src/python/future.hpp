// SPDX-License-Identifier: BSL-1.0
// quern.future: a Python function that runs as a task, and its result.
#pragma once

#include "running.hpp"

#include <quern/scheduler/detail/queued_task.hpp>
#include <quern/sync/event.hpp>

#include <atomic>
#include <cstdint>
#include <vector>

namespace quern::python {

/// Lies in a Python object. What is not atomic is used with the GIL held. The queue of ready tasks
/// has a reference of its own to the object, so the future lives until its entry there is empty.
class future final : public detail::runnable {
public:
    future() noexcept;
    ~future();
    future(const future&) = delete;
    future& operator=(const future&) = delete;

    /// Takes over references. Queues nothing.
    void set_call(PyObject* self, PyObject* function, PyObject* arguments,
                  PyObject* keywords) noexcept;
    /// Makes the task ready.
    void start();

    bool is_done() const noexcept { return m_state.load(std::memory_order_acquire) == k_done; }
    bool is_running() const noexcept { return begun.load(std::memory_order_relaxed) && !is_done(); }
    bool is_cancelled() const noexcept { return m_is_cancelled; }
    bool has_failed() const noexcept { return m_error != nullptr; }
    /// The task has others before it that must end first.
    void must_not_be_begun_by_waiter() noexcept { m_is_begun_by_waiter = false; }
    /// True: the caller must run or end it.
    bool claim() noexcept { return !begun.exchange(true, std::memory_order_relaxed); }

    /// Runs the function. Requires: the GIL, and claim() was true.
    void execute() noexcept;
    /// The same on a worker, without the GIL: on another thread if Python functions wait on this.
    void execute_on_worker() noexcept;

    /// Waits. False: the time is over. Requires: the GIL. Throws what a signal's handler raises.
    bool wait(std::optional<double> seconds);
    /// A new reference. Raises the function's exception.
    nb::object result();
    nb::object exception();

    void set_result(nb::object value);
    void set_exception(nb::object error);
    /// Ends it without running it. False: it has begun.
    bool cancel();
    void add_done_callback(nb::object callback);

    int traverse(visitproc visit, void* argument) noexcept;
    void clear() noexcept;

private:
    static constexpr std::uint32_t k_pending = 0;
    static constexpr std::uint32_t k_done = 1;

    static detail::context* run_queued(detail::work& item);
    void end(PyObject* result, PyObject* error) noexcept;
    void end_as_cancelled() noexcept;
    void call_back(PyObject* callback) noexcept;
    void wait_on_worker();

    std::atomic<std::uint32_t> m_state{k_pending};
    std::atomic<bool> m_is_awaited{false};  ///< by a thread that sleeps
    bool m_is_cancelled = false;
    bool m_is_counted = false;
    bool m_is_begun_by_waiter = true;
    PyObject* m_self = nullptr;  ///< not a reference
    PyObject* m_function = nullptr;
    PyObject* m_arguments = nullptr;
    PyObject* m_keywords = nullptr;
    PyObject* m_result = nullptr;
    PyObject* m_error = nullptr;
    PyObject* m_traceback = nullptr;
    std::vector<PyObject*> m_callbacks;
    std::vector<event*> m_waiting_tasks;
};

/// A new Python object with a future in it.
nb::object make_future(future*& inside);

}  // namespace quern::python
