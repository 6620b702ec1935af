// SPDX-License-Identifier: BSL-1.0
// The interpreter's lock (GIL) on threads of Quern's, and Python objects that any thread may let
// go.
#pragma once

#include <Python.h>

#include <memory>

namespace quern::python {

/// Holds the GIL on the calling thread, whose thread state is made at the first time and kept until
/// the thread ends. Requires: the thread does not hold it. No task may wait while one of these
/// lives: another would run on the same thread state.
class with_gil {
public:
    with_gil();
    ~with_gil();
    with_gil(const with_gil&) = delete;
    with_gil& operator=(const with_gil&) = delete;
};

/// Gives the GIL away while it lives. Requires: the thread holds it, and holds it again, being the
/// same thread, when this is destroyed.
class without_gil {
public:
    without_gil() noexcept : m_state(PyEval_SaveThread()) {}
    ~without_gil();
    without_gil(const without_gil&) = delete;
    without_gil& operator=(const without_gil&) = delete;

private:
    PyThreadState* m_state;
};

/// Whether Python functions of this thread wait below for native work: then no other Python
/// function may run on it, because the last that has begun would have to end first.
bool has_waiting_frames() noexcept;

/// Python functions of this thread wait as long as it lives.
class waiting_frames {
public:
    waiting_frames() noexcept;
    ~waiting_frames();
    waiting_frames(const waiting_frames&) = delete;
    waiting_frames& operator=(const waiting_frames&) = delete;
};

/// Gives a reference back; on a thread without the GIL later, by one that has it. noexcept, any
/// thread; after the interpreter's end nothing is done.
void release(PyObject* object) noexcept;

/// Keeps an object alive; copies need no GIL. Requires: the GIL.
std::shared_ptr<void> keep(PyObject* object);

/// The object that keep() made this of, or null.
PyObject* object_kept_by(const std::shared_ptr<void>& owner) noexcept;

/// The interpreter ends: no thread of Quern's enters it any more.
void end_of_interpreter() noexcept;

}  // namespace quern::python
