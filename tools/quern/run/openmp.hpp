// SPDX-License-Identifier: BSL-1.0
// `quern run --openmp`: a program that was compiled with -fopenmp finds Quern's OpenMP library in
// place of its own.
#pragma once

#include <string>

namespace quern::tool {

/// Sets the environment in which such a program starts. `how` is "preload" (the default where it is
/// empty), which leaves what Quern's library lacks to the program's own, or "replace", where that
/// is not loaded. Throws usage_error for other words, std::runtime_error where the library is not
/// installed.
void use_openmp_library(const std::string& how);

}  // namespace quern::tool
