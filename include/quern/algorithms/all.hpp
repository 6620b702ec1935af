// SPDX-License-Identifier: BSL-1.0
// All parallel algorithms. Not part of quern.hpp, because each program uses a few of them and they
// take long to compile; include the header of a family where that matters.
#pragma once

#include <quern/algorithms/execution.hpp>
#include <quern/algorithms/for_each.hpp>
#include <quern/algorithms/parallel_for.hpp>
#include <quern/algorithms/reduce.hpp>
