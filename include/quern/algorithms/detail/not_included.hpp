// SPDX-License-Identifier: BSL-1.0
// The names of the parallel algorithms for programs that include quern.hpp, which does not define
// them because they take long to compile: a call then says in which header its algorithm is. Where
// that header is included, quern::name is only its function, since a using-directive gives way.
#pragma once

#include <quern/algorithms/execution.hpp>

#include <type_traits>

namespace quern {

namespace detail::not_included {

template <class Policy>
inline constexpr bool k_never = !std::is_same_v<Policy, Policy>;

// An ellipsis, so that every other function is a better match where a program names both: a
// using-directive for namespace quern is one for this one, too. A macro, because a message must be
// a literal.
#define QUERN_NOT_INCLUDED(name, header)                                                  \
    template <execution_policy Policy>                                                    \
    auto name(Policy&&, ...) {                                                            \
        static_assert(k_never<Policy>, "quern::" #name " is in <quern/algorithms/" header \
                                       ">, which <quern/quern.hpp> does not include");    \
    }

QUERN_NOT_INCLUDED(adjacent_difference, "adjacent_difference.hpp")
QUERN_NOT_INCLUDED(mismatch, "compare.hpp")
QUERN_NOT_INCLUDED(equal, "compare.hpp")
QUERN_NOT_INCLUDED(lexicographical_compare, "compare.hpp")
QUERN_NOT_INCLUDED(copy, "copy.hpp")
QUERN_NOT_INCLUDED(copy_n, "copy.hpp")
QUERN_NOT_INCLUDED(move, "copy.hpp")
QUERN_NOT_INCLUDED(copy_if, "copy.hpp")
QUERN_NOT_INCLUDED(count, "count.hpp")
QUERN_NOT_INCLUDED(count_if, "count.hpp")
QUERN_NOT_INCLUDED(any_of, "count.hpp")
QUERN_NOT_INCLUDED(none_of, "count.hpp")
QUERN_NOT_INCLUDED(all_of, "count.hpp")
QUERN_NOT_INCLUDED(fill, "fill.hpp")
QUERN_NOT_INCLUDED(fill_n, "fill.hpp")
QUERN_NOT_INCLUDED(generate, "fill.hpp")
QUERN_NOT_INCLUDED(generate_n, "fill.hpp")
QUERN_NOT_INCLUDED(find, "find.hpp")
QUERN_NOT_INCLUDED(find_if, "find.hpp")
QUERN_NOT_INCLUDED(find_if_not, "find.hpp")
QUERN_NOT_INCLUDED(find_first_of, "find.hpp")
QUERN_NOT_INCLUDED(adjacent_find, "find.hpp")
QUERN_NOT_INCLUDED(for_each, "for_each.hpp")
QUERN_NOT_INCLUDED(for_each_n, "for_each.hpp")
QUERN_NOT_INCLUDED(for_loop, "for_each.hpp")
QUERN_NOT_INCLUDED(is_sorted_until, "is_sorted.hpp")
QUERN_NOT_INCLUDED(is_sorted, "is_sorted.hpp")
QUERN_NOT_INCLUDED(is_partitioned, "is_sorted.hpp")
QUERN_NOT_INCLUDED(is_heap_until, "is_sorted.hpp")
QUERN_NOT_INCLUDED(is_heap, "is_sorted.hpp")
QUERN_NOT_INCLUDED(merge, "merge.hpp")
QUERN_NOT_INCLUDED(inplace_merge, "merge.hpp")
QUERN_NOT_INCLUDED(min_element, "minmax.hpp")
QUERN_NOT_INCLUDED(max_element, "minmax.hpp")
QUERN_NOT_INCLUDED(minmax_element, "minmax.hpp")
QUERN_NOT_INCLUDED(nth_element, "partial_sort.hpp")
QUERN_NOT_INCLUDED(partial_sort, "partial_sort.hpp")
QUERN_NOT_INCLUDED(partial_sort_copy, "partial_sort.hpp")
QUERN_NOT_INCLUDED(partition, "partition.hpp")
QUERN_NOT_INCLUDED(stable_partition, "partition.hpp")
QUERN_NOT_INCLUDED(partition_copy, "partition.hpp")
QUERN_NOT_INCLUDED(transform_reduce, "reduce.hpp")
QUERN_NOT_INCLUDED(reduce, "reduce.hpp")
QUERN_NOT_INCLUDED(reduce_deterministic, "reduce.hpp")
QUERN_NOT_INCLUDED(remove_if, "remove.hpp")
QUERN_NOT_INCLUDED(remove, "remove.hpp")
QUERN_NOT_INCLUDED(remove_copy_if, "remove.hpp")
QUERN_NOT_INCLUDED(remove_copy, "remove.hpp")
QUERN_NOT_INCLUDED(unique, "remove.hpp")
QUERN_NOT_INCLUDED(unique_copy, "remove.hpp")
QUERN_NOT_INCLUDED(replace, "replace.hpp")
QUERN_NOT_INCLUDED(replace_if, "replace.hpp")
QUERN_NOT_INCLUDED(replace_copy, "replace.hpp")
QUERN_NOT_INCLUDED(replace_copy_if, "replace.hpp")
QUERN_NOT_INCLUDED(swap_ranges, "reverse.hpp")
QUERN_NOT_INCLUDED(reverse, "reverse.hpp")
QUERN_NOT_INCLUDED(reverse_copy, "reverse.hpp")
QUERN_NOT_INCLUDED(rotate, "reverse.hpp")
QUERN_NOT_INCLUDED(rotate_copy, "reverse.hpp")
QUERN_NOT_INCLUDED(inclusive_scan, "scan.hpp")
QUERN_NOT_INCLUDED(exclusive_scan, "scan.hpp")
QUERN_NOT_INCLUDED(transform_inclusive_scan, "scan.hpp")
QUERN_NOT_INCLUDED(transform_exclusive_scan, "scan.hpp")
QUERN_NOT_INCLUDED(search, "search.hpp")
QUERN_NOT_INCLUDED(search_n, "search.hpp")
QUERN_NOT_INCLUDED(find_end, "search.hpp")
QUERN_NOT_INCLUDED(includes, "set_operations.hpp")
QUERN_NOT_INCLUDED(set_union, "set_operations.hpp")
QUERN_NOT_INCLUDED(set_intersection, "set_operations.hpp")
QUERN_NOT_INCLUDED(set_difference, "set_operations.hpp")
QUERN_NOT_INCLUDED(set_symmetric_difference, "set_operations.hpp")
QUERN_NOT_INCLUDED(sort, "sort.hpp")
QUERN_NOT_INCLUDED(stable_sort, "sort.hpp")
QUERN_NOT_INCLUDED(sort_by_key, "sort.hpp")
QUERN_NOT_INCLUDED(transform, "transform.hpp")
QUERN_NOT_INCLUDED(uninitialized_copy, "uninitialized.hpp")
QUERN_NOT_INCLUDED(uninitialized_copy_n, "uninitialized.hpp")
QUERN_NOT_INCLUDED(uninitialized_move, "uninitialized.hpp")
QUERN_NOT_INCLUDED(uninitialized_move_n, "uninitialized.hpp")
QUERN_NOT_INCLUDED(uninitialized_fill, "uninitialized.hpp")
QUERN_NOT_INCLUDED(uninitialized_fill_n, "uninitialized.hpp")
QUERN_NOT_INCLUDED(uninitialized_default_construct, "uninitialized.hpp")
QUERN_NOT_INCLUDED(uninitialized_default_construct_n, "uninitialized.hpp")
QUERN_NOT_INCLUDED(uninitialized_value_construct, "uninitialized.hpp")
QUERN_NOT_INCLUDED(uninitialized_value_construct_n, "uninitialized.hpp")
QUERN_NOT_INCLUDED(destroy, "uninitialized.hpp")
QUERN_NOT_INCLUDED(destroy_n, "uninitialized.hpp")

#undef QUERN_NOT_INCLUDED

}  // namespace detail::not_included

using namespace detail::not_included;  // NOLINT(google-build-using-namespace): see above

}  // namespace quern
