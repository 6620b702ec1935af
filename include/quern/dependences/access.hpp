// SPDX-License-Identifier: BSL-1.0
// What a task says it reads and writes: in, out, inout and concurrent, of an object, a range, or a
// sentinel. Values, given to domain::spawn; they refer to memory and copy nothing.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/dependences/detail/region.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>

namespace quern {

/// An address that stands for an order alone: no data, and no overlap with data. A body gets no
/// view of it.
///
///     quern::domain work;
///     const int phase = 0;
///     work.spawn(quern::out(quern::sentinel(phase)), [] { std::puts("first"); });
///     work.spawn(quern::in(quern::sentinel(phase)), [] { std::puts("second"); });
struct sentinel_at {
    const volatile void* address;
};
template <class T>
sentinel_at sentinel(const volatile T& at) noexcept {
    return {&at};
}

// Each of the four takes:
//   an object                       view: a reference; const for `in`
//   a contiguous container or span  its elements; view: a span. std::array and T[N] are objects
//   (pointer, n)                    n elements; view: a span
//   a sentinel                      no view
// Errors: std::invalid_argument for a null pointer with n > 0, and for n that is negative or larger
// than memory. A range without elements orders nothing. A pointer alone does not compile: name *p
// or (p, n). Neither does a temporary object.

/// Reads. After the last writers; readers may run at the same time.
template <class X>
constexpr auto in(X&& what) {
    return detail::access_to<detail::access_kind::read>(std::forward<X>(what));
}
template <class T>
constexpr auto in(T* first, std::ptrdiff_t n) {
    return detail::range_access<detail::access_kind::read, const T>(first, n);
}

/// Writes without reading. After all readers and writers; renames nothing.
template <class X>
constexpr auto out(X&& what) {
    return detail::access_to<detail::access_kind::write>(std::forward<X>(what));
}
template <class T>
constexpr auto out(T* first, std::ptrdiff_t n) {
    return detail::range_access<detail::access_kind::write, T>(first, n);
}

/// Reads and writes. After all readers and writers.
template <class X>
constexpr auto inout(X&& what) {
    return detail::access_to<detail::access_kind::write>(std::forward<X>(what));
}
template <class T>
constexpr auto inout(T* first, std::ptrdiff_t n) {
    return detail::range_access<detail::access_kind::write, T>(first, n);
}

/// As inout, but tasks with `concurrent` accesses of the same data may run at the same time: they
/// synchronise by themselves, for instance by atomics.
template <class X>
constexpr auto concurrent(X&& what) {
    return detail::access_to<detail::access_kind::concurrent>(std::forward<X>(what));
}
template <class T>
constexpr auto concurrent(T* first, std::ptrdiff_t n) {
    return detail::range_access<detail::access_kind::concurrent, T>(first, n);
}

/// What taskwait(on(...)) waits for: the tasks that a task with these accesses would wait for. An
/// object or container alone counts as inout.
template <class... Wanted>
constexpr auto on(Wanted&&... wanted) {
    return detail::waited_regions<sizeof...(Wanted)>{
        {detail::region_to_wait_for(std::forward<Wanted>(wanted))...}};
}

}  // namespace quern
