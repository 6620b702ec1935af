// SPDX-License-Identifier: BSL-1.0
// All parallel algorithms. Not part of quern.hpp, because each program uses a few of them and they
// take long to compile; include the header of a family where that matters.
#pragma once

#include <quern/algorithms/adjacent_difference.hpp>
#include <quern/algorithms/compare.hpp>
#include <quern/algorithms/copy.hpp>
#include <quern/algorithms/count.hpp>
#include <quern/algorithms/execution.hpp>
#include <quern/algorithms/fill.hpp>
#include <quern/algorithms/find.hpp>
#include <quern/algorithms/for_each.hpp>
#include <quern/algorithms/is_sorted.hpp>
#include <quern/algorithms/merge.hpp>
#include <quern/algorithms/minmax.hpp>
#include <quern/algorithms/parallel_for.hpp>
#include <quern/algorithms/partial_sort.hpp>
#include <quern/algorithms/partition.hpp>
#include <quern/algorithms/pipeline.hpp>
#include <quern/algorithms/reduce.hpp>
#include <quern/algorithms/remove.hpp>
#include <quern/algorithms/replace.hpp>
#include <quern/algorithms/reverse.hpp>
#include <quern/algorithms/scan.hpp>
#include <quern/algorithms/search.hpp>
#include <quern/algorithms/set_operations.hpp>
#include <quern/algorithms/sort.hpp>
#include <quern/algorithms/transform.hpp>
#include <quern/algorithms/uninitialized.hpp>
