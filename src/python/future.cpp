// SPDX-License-Identifier: BSL-1.0
#include "future.hpp"

#include <quern/base/detail/atomics.hpp>
#include <quern/task/blocking_region.hpp>

#include <algorithm>
#include <climits>
#include <utility>

namespace quern::python {

namespace {

PyObject* cancelled_error() {
    static PyObject* const type =
        nb::object(nb::module_::import_("concurrent.futures").attr("CancelledError"))
            .release()
            .ptr();
    return type;
}

/// The exception that is set, with its traceback. A new reference.
PyObject* take_raised() noexcept {
    PyObject* type = nullptr;
    PyObject* value = nullptr;
    PyObject* traceback = nullptr;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != nullptr) {
        PyException_SetTraceback(value, traceback);
    }
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return value;
}

}  // namespace

future::future() noexcept : runnable(run_queued) {
    last_as({.stack = stack_class::large});  // Python's own recursion is deep
}

future::~future() { clear(); }

void future::set_call(PyObject* self, PyObject* function, PyObject* arguments,
                      PyObject* keywords) noexcept {
    m_self = self;
    m_function = function;
    m_arguments = arguments;
    m_keywords = keywords;
}

void future::start() {
    detail::pool& where = pool_here();
    site = site_of(m_function);
    Py_INCREF(m_self);  // the queue's
    m_is_counted = true;
    unfinished_work::add();
    where.make_ready(*this);
}

detail::context* future::run_queued(detail::work& item) {
    auto& self = static_cast<future&>(static_cast<runnable&>(item));
    PyObject* const object = self.m_self;
    if (!self.begun.load(std::memory_order_relaxed)) {
        if (detail::context* const larger = detail::begin_task(self)) {
            return larger;
        }
        if (self.claim()) {
            {
                const detail::task_body body(detail::task_body::part_of::task);
                self.execute_on_worker();
            }
            detail::count_task();
            return nullptr;
        }
    }
    detail::count_no_task();
    release(object);
    return nullptr;
}

void future::execute_on_worker() noexcept {
    const auto execute_here = [this] {
        const with_gil entered;
        PyObject* const queues_reference = m_self;
        execute();
        Py_DECREF(queues_reference);  // perhaps the last one
    };
    if (has_waiting_frames()) {
        const blocking_region elsewhere;
        execute_here();
    } else {
        execute_here();
    }
}

void future::execute() noexcept {
    PyObject* const result = PyObject_Call(m_function, m_arguments, m_keywords);
    end(result, result == nullptr ? take_raised() : nullptr);
}

/// Takes over the references.
void future::end(PyObject* result, PyObject* error) noexcept {
    m_result = result;
    m_error = error;
    m_traceback = error != nullptr ? PyException_GetTraceback(error) : nullptr;
    m_state.store(k_done, std::memory_order_seq_cst);
    if (m_is_awaited.load(std::memory_order_seq_cst)) {
        detail::std_atomics::futex_wake(m_state, INT_MAX);
    }
    for (event* const each : std::exchange(m_waiting_tasks, {})) {
        each->set();
    }
    if (std::exchange(m_is_counted, false)) {
        unfinished_work::remove();
    }
    for (PyObject* const each : std::exchange(m_callbacks, {})) {
        call_back(each);
        Py_DECREF(each);
    }
    Py_CLEAR(m_function);
    Py_CLEAR(m_arguments);
    Py_CLEAR(m_keywords);
}

void future::call_back(PyObject* callback) noexcept {
    PyObject* const nothing = PyObject_CallOneArg(callback, m_self);
    if (nothing == nullptr) {
        PyErr_WriteUnraisable(callback);
    }
    Py_XDECREF(nothing);
}

void future::wait_on_worker() {
    event ended;
    m_waiting_tasks.push_back(&ended);
    const waiting_frames below;
    const without_gil away;
    const pin_to_worker here;
    ended.wait();
}

bool future::wait(std::optional<double> seconds) {
    if (is_done()) {
        return true;
    }
    if (!seconds && m_function != nullptr && m_is_begun_by_waiter && claim()) {
        execute();
        return true;
    }
    if (!seconds && detail::current_worker() != nullptr) {
        wait_on_worker();
        return true;
    }
    using clock = std::chrono::steady_clock;
    const auto limit =
        seconds ? clock::now() + std::chrono::duration_cast<clock::duration>(
                                     std::chrono::duration<double>(std::clamp(*seconds, 0.0, 1e9)))
                : clock::time_point::max();
    m_is_awaited.store(true, std::memory_order_seq_cst);
    wait_in_slices([&](std::chrono::nanoseconds time) {
        if (!is_done()) {
            const auto left = seconds ? limit - clock::now() : clock::duration(time);
            if (left > clock::duration::zero()) {
                detail::std_atomics::futex_wait_for(m_state, k_pending,
                                                    std::min<std::chrono::nanoseconds>(time, left));
            }
        }
        return is_done() || (seconds && clock::now() >= limit);
    });
    return is_done();
}

nb::object future::result() {
    if (m_error != nullptr) {
        // As it was raised: each result() would add its own frames to it otherwise.
        PyException_SetTraceback(m_error, m_traceback != nullptr ? m_traceback : Py_None);
        PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(m_error)), m_error);
        throw nb::python_error();
    }
    return nb::borrow(m_result != nullptr ? m_result : Py_None);
}

nb::object future::exception() { return nb::borrow(m_error != nullptr ? m_error : Py_None); }

void future::set_result(nb::object value) {
    if (!claim()) {
        throw std::logic_error("quern.future: it has a result or a task already");
    }
    end(value.release().ptr(), nullptr);
}

void future::set_exception(nb::object error) {
    if (PyExceptionInstance_Check(error.ptr()) == 0) {
        throw nb::type_error("quern.future.set_exception: an exception object is accepted");
    }
    if (!claim()) {
        throw std::logic_error("quern.future: it has a result or a task already");
    }
    end(nullptr, error.release().ptr());
}

bool future::cancel() {
    if (!claim()) {
        return m_is_cancelled;
    }
    end_as_cancelled();
    return true;
}

void future::end_as_cancelled() noexcept {
    m_is_cancelled = true;
    end(nullptr, PyObject_CallNoArgs(cancelled_error()));
}

void future::add_done_callback(nb::object callback) {
    if (is_done()) {
        call_back(callback.ptr());
    } else {
        m_callbacks.push_back(callback.release().ptr());
    }
}

int future::traverse(visitproc visit, void* argument) noexcept {
    const auto each = [&](PyObject* object) {
        return object != nullptr ? visit(object, argument) : 0;
    };
    for (PyObject* const object :
         {m_function, m_arguments, m_keywords, m_result, m_error, m_traceback}) {
        if (const int stop = each(object)) {
            return stop;
        }
    }
    for (PyObject* const callback : m_callbacks) {
        if (const int stop = each(callback)) {
            return stop;
        }
    }
    return 0;
}

void future::clear() noexcept {
    for (PyObject* const each : std::exchange(m_callbacks, {})) {
        Py_DECREF(each);
    }
    Py_CLEAR(m_function);
    Py_CLEAR(m_arguments);
    Py_CLEAR(m_keywords);
    Py_CLEAR(m_result);
    Py_CLEAR(m_error);
    Py_CLEAR(m_traceback);
}

}  // namespace quern::python
