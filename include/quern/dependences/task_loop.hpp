// SPDX-License-Identifier: BSL-1.0
// task_loop: a loop whose chunks are dependent tasks. Each chunk names its own accesses, so loops
// over the same data follow each other chunk by chunk, without a barrier between them.
#pragma once

#include <quern/dependences/domain.hpp>
#include <quern/dependences/spawn.hpp>

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace quern {

/// Several accesses as one value: what `accesses_of_chunk` returns.
///
///     std::vector<double> a(100), b(100);
///     auto of_chunk = [&](auto from, auto to) {
///         return quern::accesses(quern::in(&a[from], to - from), quern::out(&b[from], to - from));
///     };
template <detail::an_access... Accesses>
constexpr std::tuple<Accesses...> accesses(const Accesses&... all) {
    return {all...};
}

namespace detail {

/// Iterations of a chunk. 0: a grain of the library's choice. Throws std::invalid_argument.
std::ptrdiff_t chunk_of_loop(std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t grain,
                             const pool& where);

/// The function of a chunk's task: with the views of its accesses, or without.
template <class F>
struct chunk_body {
    template <class... Views>
        requires std::is_invocable_v<F&, std::ptrdiff_t, std::ptrdiff_t, Views...>
    void operator()(Views&&... views) { body(begin, end, std::forward<Views>(views)...); }

    F body;
    std::ptrdiff_t begin;
    std::ptrdiff_t end;
};

template <an_access A>
constexpr std::tuple<A> tuple_of_accesses(A access) {
    return {std::move(access)};
}
template <an_access... Accesses>
constexpr std::tuple<Accesses...> tuple_of_accesses(std::tuple<Accesses...> all) {
    return all;
}

template <class Of, class F>
void spawn_chunks(domain_core& home, const task_attributes& wanted, std::ptrdiff_t first,
                  std::ptrdiff_t last, std::ptrdiff_t grain, Of& accesses_of_chunk, const F& body) {
    const std::ptrdiff_t chunk = detail::chunk_of_loop(first, last, grain, home.home_pool());
    for (std::ptrdiff_t begin = first; begin != last;) {
        const std::ptrdiff_t end = last - begin > chunk ? begin + chunk : last;
        std::apply(
            [&](const auto&... each) {
                const creation_timing making;
                detail::spawn_in(home, wanted, each..., chunk_body<F>{body, begin, end});
            },
            detail::tuple_of_accesses(accesses_of_chunk(begin, end)));
        begin = end;
    }
}

}  // namespace detail

/// Divides [first, last) into chunks of `grain` iterations, the last one with the rest, and adds a
/// task for each to the domain, in their order. The accesses of a task are what
/// accesses_of_chunk(begin, end) returns: accesses(in(...), out(...)), a std::tuple of them, or one
/// access. The task calls body(begin, end, views...) or body(begin, end), on a copy of the body.
/// Does not wait for the tasks. Grain 0: a twelfth of a worker's share, at least 1, so that later
/// loops can follow chunk by chunk.
///
/// Errors: std::invalid_argument for first > last, and for a negative grain; then no task is added.
/// Otherwise as domain::spawn(), and what accesses_of_chunk throws; then the earlier chunks are
/// tasks. Thread safety: only the owner of the domain. Cost: a spawn() for each chunk.
///
/// Source: OpenMP's taskloop, with a depend clause for each chunk as in OmpSs-2's `task for`.
///
///     std::vector<double> a(10'000, 1.0), b(10'000);
///     const auto n = std::ssize(a);
///     quern::domain work;
///     quern::task_loop(
///         work, 0, n, 1000,
///         [&](auto from, auto to) { return quern::out(&b[from], to - from); },
///         [&a](auto from, auto to, auto part) {
///             for (auto i = from; i < to; ++i) part[i - from] = 2 * a[i];
///         });
///     double sum = 0;
///     quern::task_loop(
///         work, 0, n, 1000,
///         [&](auto from, auto to) {
///             return quern::accesses(quern::in(&b[from], to - from), quern::inout(sum));
///         },
///         [](auto, auto, auto part, double& s) {
///             for (double x : part) s += x;
///         });
///     work.taskwait();  // sum == 20'000
template <class Of, class F>
QUERN_ALWAYS_INLINE void task_loop(domain& work, std::ptrdiff_t first, std::ptrdiff_t last,
                                   std::ptrdiff_t grain, Of&& accesses_of_chunk, const F& body) {
    detail::spawn_chunks(detail::core_of(work, "task_loop"), {.site = detail::code_address()},
                         first, last, grain, accesses_of_chunk, body);
}
/// With attributes, which all of its tasks get.
template <class Of, class F>
QUERN_ALWAYS_INLINE void task_loop(domain& work, const task_attributes& wanted,
                                   std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t grain,
                                   Of&& accesses_of_chunk, const F& body) {
    detail::spawn_chunks(detail::core_of(work, "task_loop"),
                         detail::dependent_at(detail::code_address(), wanted), first, last, grain,
                         accesses_of_chunk, body);
}

/// In a dependent task: the tasks are its children, as those of quern::spawn(). std::logic_error if
/// the caller is no dependent task.
template <class Of, class F>
QUERN_ALWAYS_INLINE void task_loop(std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t grain,
                                   Of&& accesses_of_chunk, const F& body) {
    detail::spawn_chunks(detail::domain_of_running("task_loop"), {.site = detail::code_address()},
                         first, last, grain, accesses_of_chunk, body);
}
template <class Of, class F>
QUERN_ALWAYS_INLINE void task_loop(const task_attributes& wanted, std::ptrdiff_t first,
                                   std::ptrdiff_t last, std::ptrdiff_t grain,
                                   Of&& accesses_of_chunk, const F& body) {
    detail::spawn_chunks(detail::domain_of_running("task_loop"),
                         detail::dependent_at(detail::code_address(), wanted), first, last, grain,
                         accesses_of_chunk, body);
}

}  // namespace quern
