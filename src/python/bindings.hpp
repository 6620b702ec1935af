// SPDX-License-Identifier: BSL-1.0
// The parts of the module quern._core, one function for each source.
#pragma once

#include <nanobind/nanobind.h>

namespace quern::python {

void bind_running(nanobind::module_& m);
void bind_future(nanobind::module_& m);
void bind_trees(nanobind::module_& m);
void bind_tasks(nanobind::module_& m);
void bind_observing(nanobind::module_& m);

/// Which Python exception each C++ exception becomes.
void translate_exceptions();

}  // namespace quern::python
