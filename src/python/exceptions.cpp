// SPDX-License-Identifier: BSL-1.0
#include "bindings.hpp"

#include <quern/arrays/errors.hpp>
#include <quern/task/stop.hpp>

#include <new>
#include <stdexcept>
#include <typeinfo>

namespace quern::python {

namespace nb = nanobind;

namespace {

/// A class of another module; never released.
PyObject* type_in(const char* module, const char* name) {
    return nb::object(nb::module_::import_(module).attr(name)).release().ptr();
}

void translate(const std::exception_ptr& error, void* /*unused*/) {
    static PyObject* const singular = type_in("numpy.linalg", "LinAlgError");
    static PyObject* const cancelled = type_in("concurrent.futures", "CancelledError");
    try {
        std::rethrow_exception(error);
    } catch (const arrays::type_error& e) {
        PyErr_SetString(PyExc_TypeError, e.what());
    } catch (const arrays::zero_division_error& e) {
        PyErr_SetString(PyExc_ZeroDivisionError, e.what());
    } catch (const std::domain_error& e) {
        PyErr_SetString(singular, e.what());
    } catch (const std::invalid_argument& e) {
        PyErr_SetString(PyExc_ValueError, e.what());
    } catch (const std::length_error& e) {
        PyErr_SetString(PyExc_ValueError, e.what());
    } catch (const std::out_of_range& e) {
        PyErr_SetString(PyExc_IndexError, e.what());
    } catch (const std::logic_error& e) {
        PyErr_SetString(PyExc_RuntimeError, e.what());
    } catch (const std::overflow_error& e) {
        PyErr_SetString(PyExc_OverflowError, e.what());
    } catch (const std::bad_alloc& e) {
        PyErr_SetString(PyExc_MemoryError, e.what());
    } catch (const std::bad_cast& e) {
        PyErr_SetString(PyExc_TypeError, e.what());
    } catch (const task_cancelled& e) {
        PyErr_SetString(cancelled, e.what());
    }
}

}  // namespace

void translate_exceptions() { nb::register_exception_translator(translate); }

}  // namespace quern::python
