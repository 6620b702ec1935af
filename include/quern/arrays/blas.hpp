// SPDX-License-Identifier: BSL-1.0
// Which library computes matrix products and factorisations: found when it is first needed, not
// linked (docs/design/0046-arrays-and-blas.md).
#pragma once

#include <quern/base/detail/config.hpp>

#include <string>

namespace quern::arrays {

/// What the primitives of linear algebra use.
struct blas_info {
    std::string path;              ///< as it was opened; empty: none, products by loops of our own
    std::string lapack_path;       ///< of the factorisations; empty: none, so they throw
    int integer_bits = 0;          ///< of the library's integers, 32 or 64
    bool has_own_threads = false;  ///< it divides large calls among threads of its own
};

/// The library in use; looks for one at the first call: that of use_blas_library, one that the
/// program is linked with, then OpenBLAS (its serial variant first), BLIS and the system's libblas
/// with liblapack. Errors: none; without a library `path` is empty, and factorisations throw
/// std::runtime_error with the names that were tried. Thread safe; some ns but for the first call.
///
///     if (quern::arrays::blas_library().path.empty()) std::puts("no BLAS: products are slow");
blas_info blas_library();

/// Uses this library from now on, for instance the one that another language has loaded already.
/// Names with 32- and 64-bit integers and with SciPy's prefix are found. Errors:
/// std::invalid_argument if it cannot be opened, has no BLAS, or divides its calls among threads of
/// OpenMP; the one in use stays. Thread safe; operations under way end with the library that they
/// began with.
///
///     quern::arrays::use_blas_library("/usr/lib/x86_64-linux-gnu/openblas-serial/libblas.so.3");
void use_blas_library(const std::string& path);

}  // namespace quern::arrays
