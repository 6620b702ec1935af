// SPDX-License-Identifier: BSL-1.0
// What a task says it reads and writes: in, out, inout, concurrent and commutative, of an object, a
// range, or a sentinel; weak: its children do. Values, given to domain::spawn; they refer to memory
// and copy nothing.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/dependences/detail/region.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>

namespace quern {

/// An address that stands only for an order: no data, and no overlap with data. A body gets no
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

// Each of the five takes:
//   an object                       view: a reference; const for `in`
//   a contiguous container or span  its elements; view: a span. std::array and T[N] are objects
//   (pointer, n)                    n elements; view: a span
//   a sentinel                      no view
// Errors: std::invalid_argument for a null pointer with n > 0, and for n that is negative or larger
// than memory. A range without elements orders nothing. A bare pointer does not compile: name *p
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

/// Writes without reading. After all readers and writers, unless the object is `renamed`.
template <class X>
constexpr auto out(X&& what) {
    return detail::as_out(detail::access_to<detail::access_kind::write>(std::forward<X>(what)));
}
template <class T>
constexpr auto out(T* first, std::ptrdiff_t n) {
    return detail::as_out(detail::range_access<detail::access_kind::write, T>(first, n));
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

/// As inout, but the tasks with `commutative` accesses of the same data run in any order, one at a
/// time. A task takes all of its commutative objects or none, so a task that waits keeps no object
/// from others. When several wait for one object, the largest rank comes first.
///
///     quern::domain work;
///     double sum = 0;
///     for (int i = 0; i < 10; ++i) {
///         work.spawn(quern::commutative(sum), [i](double& s) { s += i; });  // no atomics needed
///     }
template <class X>
constexpr auto commutative(X&& what) {
    return detail::access_to<detail::access_kind::commutative>(std::forward<X>(what));
}
template <class T>
constexpr auto commutative(T* first, std::ptrdiff_t n) {
    return detail::range_access<detail::access_kind::commutative, T>(first, n);
}

/// An access only of the task's children: the task itself does not use the data, so it begins
/// without waiting for them, and creates the children that use them while earlier tasks still run.
/// Each child waits as if it were a task of the outer domain. No view. Children of a task with
/// weak(commutative(x)) exclude each other on all of x. Later tasks wait until all children that
/// use the region have ended; where they should follow part by part, name the parts one by one.
///
/// Source: Perez, Beltran, Labarta, Ayguade, IPDPS 2017, weak accesses.
///
///     quern::domain work;
///     std::vector<int> v(1000);
///     quern::access_list parts;
///     for (std::size_t i = 0; i < v.size(); i += 100) {
///         parts.add(quern::weak(quern::inout(&v[i], 100)));
///     }
///     for (int step = 0; step < 10; ++step) {
///         work.spawn(parts, [&v] {
///             for (std::size_t i = 0; i < v.size(); i += 100) {
///                 quern::spawn(quern::inout(&v[i], 100), [](auto part) { ++part[0]; });
///             }
///         });  // the children of ten steps run in ten chains: no step waits for all of another
///     }
template <detail::an_access A>
constexpr auto weak(const A& access) {
    return detail::weak_access<A>(access);
}

/// What taskwait(on(...)) waits for: the tasks that a task with these accesses would wait for. A
/// bare object or container counts as inout.
template <class... Wanted>
constexpr auto on(Wanted&&... wanted) {
    return std::make_tuple(detail::access_to_wait_for(std::forward<Wanted>(wanted))...);
}

}  // namespace quern
