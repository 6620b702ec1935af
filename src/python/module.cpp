// SPDX-License-Identifier: BSL-1.0
// The module quern._core: what the package quern is made of. Not for users.
#include "bindings.hpp"
#include "values.hpp"

#include <nanobind/stl/string.h>

NB_MODULE(_core, m) {
    using namespace quern::python;
    // A module that was removed from sys.modules and is imported again: there is one runtime.
    static PyObject* first_contents = nullptr;
    if (first_contents != nullptr) {
        PyDict_Update(PyModule_GetDict(m.ptr()), first_contents);
        return;
    }
    // Tasks that Ctrl-C has abandoned keep their objects to the end.
    nanobind::set_leak_warnings(false);
    import_numpy();
    translate_exceptions();
    bind_running(m);
    bind_future(m);
    bind_trees(m);
    bind_tasks(m);
    bind_observing(m);
    m.attr("numpy_loops") = use_loops_of_numpy();
    m.attr("numpy_blas") = use_blas_of_numpy();
    first_contents = PyDict_Copy(PyModule_GetDict(m.ptr()));
}
