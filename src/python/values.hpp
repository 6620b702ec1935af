// SPDX-License-Identifier: BSL-1.0
// Python objects as values of the layer arrays, and back. All of this requires the GIL.
#pragma once

#include "gil.hpp"

#include <nanobind/nanobind.h>

#include <quern/arrays/value.hpp>

#include <optional>
#include <string>

namespace quern::python {

/// NumPy arrays of the five types share their memory; NumPy scalars are arrays without dimensions.
/// bool, int, float, None, str, slice, Ellipsis, tuple, list and dtypes are values; what is left is
/// passed on as it is. Throws arrays::type_error for an array of another type, std::overflow_error
/// for an int beyond 64 bits.
arrays::value to_value(nanobind::handle object);

/// An array owns its memory, or is a view of the object that does; the same object if it is one
/// that came in. Without dimensions: a NumPy scalar.
nanobind::object to_python(const arrays::value& of);

/// NumPy's number of a type, and back: empty for a type that is not accepted.
int numpy_type_of(arrays::dtype type) noexcept;
std::optional<arrays::dtype> dtype_of_numpy(int type_number) noexcept;

/// Imports NumPy's C interface. Throws nanobind::python_error.
void import_numpy();

/// Puts NumPy's own inner loops in the place of the kernels of layer arrays. Gives how many.
int use_loops_of_numpy();

/// Has the layer arrays use the BLAS that NumPy has loaded. Gives its path; empty: it found none,
/// and the layer looks for one itself.
std::string use_blas_of_numpy();

}  // namespace quern::python
