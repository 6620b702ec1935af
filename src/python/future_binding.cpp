// SPDX-License-Identifier: BSL-1.0
// The Python class quern.future, and quern.spawn.
#include "bindings.hpp"
#include "future.hpp"

#include <nanobind/stl/optional.h>

#include <string>

namespace quern::python {

namespace {

int traverse_future(PyObject* self, visitproc visit, void* arg) {  // Py_VISIT needs these names
    Py_VISIT(Py_TYPE(self));
    return nb::inst_ready(self) ? nb::inst_ptr<future>(self)->traverse(visit, arg) : 0;
}

int clear_future(PyObject* self) {
    nb::inst_ptr<future>(self)->clear();
    return 0;
}

const PyType_Slot k_future_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(traverse_future)},
    {Py_tp_clear, reinterpret_cast<void*>(clear_future)},
    {0, nullptr},
};

[[noreturn]] void raise_timeout(std::optional<double> seconds) {
    PyErr_Format(PyExc_TimeoutError, "quern.future: no result within %s seconds",
                 std::to_string(seconds.value_or(0)).c_str());
    throw nb::python_error();
}

nb::object spawn(nb::handle function, nb::args arguments, nb::kwargs keywords) {
    if (PyCallable_Check(function.ptr()) == 0) {
        PyErr_Format(PyExc_TypeError, "quern.spawn: %R is not callable; a function is accepted",
                     function.ptr());
        throw nb::python_error();
    }
    future* inside = nullptr;
    nb::object made = make_future(inside);
    PyObject* named = nullptr;
    if (keywords.size() != 0) {
        named = keywords.release().ptr();
    }
    inside->set_call(made.ptr(), nb::borrow(function).release().ptr(), arguments.release().ptr(),
                     named);
    inside->start();
    return made;
}

void bind_methods(nb::class_<future>& type) {
    using seconds = std::optional<double>;
    type.def(
        "result",
        [](future& self, seconds timeout) {
            if (!self.wait(timeout)) {
                raise_timeout(timeout);
            }
            return self.result();
        },
        nb::arg("timeout") = nb::none());
    type.def(
        "exception",
        [](future& self, seconds timeout) {
            if (!self.wait(timeout)) {
                raise_timeout(timeout);
            }
            return self.exception();
        },
        nb::arg("timeout") = nb::none());
    type.def("done", &future::is_done);
    type.def("running", &future::is_running);
    type.def("cancelled", &future::is_cancelled);
    type.def("cancel", &future::cancel);
    type.def("set_result", &future::set_result, nb::arg("value"));
    type.def("set_exception", &future::set_exception, nb::arg("error"));
    type.def("add_done_callback", &future::add_done_callback, nb::arg("callback"));
}

}  // namespace

nb::object make_future(future*& inside) {
    static const nb::handle type = nb::type<future>();
    nb::object made = nb::inst_alloc(type);
    inside = new (nb::inst_ptr<future>(made)) future();
    nb::inst_mark_ready(made);
    return made;
}

void bind_future(nb::module_& m) {
    nb::class_<future> type(m, "future", nb::type_slots(k_future_slots),
                            nb::is_weak_referenceable());
    type.def("__init__", [](nb::pointer_and_handle<future> self) {
        auto* const made = new (self.p) future();
        made->set_call(self.h.ptr(), nullptr, nullptr, nullptr);
    });
    bind_methods(type);
    m.def("spawn", &spawn, nb::arg("function"), nb::arg("arguments"), nb::arg("keywords"));
}

}  // namespace quern::python
