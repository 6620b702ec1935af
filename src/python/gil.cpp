// SPDX-License-Identifier: BSL-1.0
#include "gil.hpp"

#include <quern/base/detail/config.hpp>

#include <atomic>
#include <cstddef>
#include <new>

#include <unistd.h>

namespace quern::python {

namespace {

std::atomic<bool> g_interpreter_ended{false};

/// Calls take(), which takes the GIL. When the interpreter is ending, Python ends the calling
/// thread there by unwinding its stack, and above may be functions that must not throw: the thread
/// waits for the end of the process instead, as from Python 3.14 on.
template <class F>
void take_gil(F&& take) noexcept {
    try {
        take();
    } catch (...) {
        while (true) {
            ::pause();
        }
    }
}

/// The thread state of a thread that Python does not know. Removed when the thread ends.
class kept_thread_state {
public:
    void make() {
        // Never released: its release would remove the state each time.
        take_gil([] { PyGILState_Ensure(); });
        m_state = PyThreadState_Get();
    }
    ~kept_thread_state() {
        if (m_state != nullptr && !g_interpreter_ended.load(std::memory_order_acquire)) {
            take_gil([this] { PyEval_RestoreThread(m_state); });
            PyThreadState_Clear(m_state);
            PyThreadState_DeleteCurrent();
        }
    }

private:
    PyThreadState* m_state = nullptr;
};

thread_local kept_thread_state t_kept;
thread_local int t_waiting_frames = 0;

/// An object to be released, in a list that any thread adds to.
struct released {
    PyObject* object;
    released* next;
};
std::atomic<released*> g_released{nullptr};

void release_all() noexcept {
    released* each = g_released.exchange(nullptr, std::memory_order_acquire);  // pairs with release
    while (each != nullptr) {
        released* const next = each->next;
        Py_DECREF(each->object);
        delete each;
        each = next;
    }
}

struct release_kept {
    void operator()(void* object) const noexcept { release(static_cast<PyObject*>(object)); }
};

int release_all_soon(void* /*unused*/) noexcept {
    release_all();
    return 0;
}

}  // namespace

// Not inlined: a task may continue on another thread, and the address of what is thread-local must
// not be kept beyond a wait.
QUERN_NOINLINE with_gil::with_gil() {
    if (PyThreadState* const own = PyGILState_GetThisThreadState()) {
        take_gil([own] { PyEval_RestoreThread(own); });
    } else {
        t_kept.make();
    }
    if (g_released.load(std::memory_order_relaxed) != nullptr) {
        release_all();
    }
}

with_gil::~with_gil() { PyEval_SaveThread(); }

without_gil::~without_gil() {
    take_gil([this] { PyEval_RestoreThread(m_state); });
    if (g_released.load(std::memory_order_relaxed) != nullptr) {
        release_all();
    }
}

QUERN_NOINLINE bool has_waiting_frames() noexcept { return t_waiting_frames != 0; }
QUERN_NOINLINE waiting_frames::waiting_frames() noexcept { ++t_waiting_frames; }
QUERN_NOINLINE waiting_frames::~waiting_frames() { --t_waiting_frames; }

void release(PyObject* object) noexcept {
    if (object == nullptr || g_interpreter_ended.load(std::memory_order_acquire)) {
        return;
    }
    if (PyGILState_GetThisThreadState() != nullptr && PyGILState_Check() != 0) {
        Py_DECREF(object);
        return;
    }
    auto* const entry = new (std::nothrow) released{object, nullptr};
    if (entry == nullptr) {
        return;  // the object is lost: there is no memory
    }
    released* first = g_released.load(std::memory_order_relaxed);
    do {
        entry->next = first;
    } while (!g_released.compare_exchange_weak(first, entry, std::memory_order_release,
                                               std::memory_order_relaxed));
    if (first == nullptr) {
        Py_AddPendingCall(release_all_soon,
                          nullptr);  // when it is full, the next with the GIL does
    }
}

std::shared_ptr<void> keep(PyObject* object) {
    Py_INCREF(object);
    return std::shared_ptr<void>(object, release_kept());
}

PyObject* object_kept_by(const std::shared_ptr<void>& owner) noexcept {
    return std::get_deleter<release_kept>(owner) != nullptr ? static_cast<PyObject*>(owner.get())
                                                            : nullptr;
}

void end_of_interpreter() noexcept { g_interpreter_ended.store(true, std::memory_order_release); }

}  // namespace quern::python
