// SPDX-License-Identifier: BSL-1.0
// hpx::execution::seq, par and similar policies, and how the algorithms of this header set run
// under them: par is quern::parallel_for, which splits only for an idle worker.
#pragma once

#include <quern/algorithms/parallel_for.hpp>
#include <quern/compat/hpx/async.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace hpx::execution {

struct task_policy_tag {};
inline constexpr task_policy_tag task{};

namespace experimental {

/// The number of iterations between two checks for requests of idle workers.
struct static_chunk_size {
    std::size_t iterations = 0;
    explicit static_chunk_size(std::size_t n = 0) : iterations(n) {}
};
using dynamic_chunk_size = static_chunk_size;
using guided_chunk_size = static_chunk_size;
/// Chosen by Quern.
struct auto_chunk_size {
    template <class... Ts>
    explicit auto_chunk_size(const Ts&...) {}
};
struct persistent_auto_chunk_size : auto_chunk_size {
    using auto_chunk_size::auto_chunk_size;
};
struct num_cores {
    explicit num_cores(std::size_t) {}
};
struct max_num_chunks {
    explicit max_num_chunks(std::size_t) {}
};

}  // namespace experimental

/// A policy; `Task` says that the algorithm returns a future.
template <bool Parallel, bool Task>
class basic_policy {
public:
    static constexpr bool k_parallel = Parallel;
    static constexpr bool k_task = Task;

    constexpr basic_policy() noexcept = default;
    constexpr basic_policy(const parallel_executor& e, quern::grain g)
        : m_executor(e), m_grain(g) {}

    constexpr basic_policy<Parallel, true> operator()(task_policy_tag) const {
        return {m_executor, m_grain};
    }
    /// Runs on the pool of an executor.
    template <class Executor>
    constexpr basic_policy on(const Executor& e) const {
        if constexpr (std::is_same_v<Executor, parallel_executor>) {
            return {e, m_grain};
        } else {
            return *this;
        }
    }
    template <class... Parameters>
    constexpr basic_policy with(const Parameters&... parameters) const {
        basic_policy changed = *this;
        (changed.obey(parameters), ...);
        return changed;
    }

    const parallel_executor& executor() const noexcept { return m_executor; }
    quern::grain grain() const noexcept { return m_grain; }

private:
    template <class Parameter>
    constexpr void obey(const Parameter& p) {
        if constexpr (std::is_same_v<Parameter, experimental::static_chunk_size>) {
            m_grain = quern::grain{p.iterations};
        }
    }

    parallel_executor m_executor;
    quern::grain m_grain{};
};

using sequenced_policy = basic_policy<false, false>;
using unsequenced_policy = basic_policy<false, false>;
using parallel_policy = basic_policy<true, false>;
using parallel_unsequenced_policy = basic_policy<true, false>;
using sequenced_task_policy = basic_policy<false, true>;
using parallel_task_policy = basic_policy<true, true>;
inline constexpr sequenced_policy seq{};
inline constexpr unsequenced_policy unseq{};
inline constexpr parallel_policy par{};
inline constexpr parallel_unsequenced_policy par_unseq{};

}  // namespace hpx::execution

namespace hpx {

template <class T>
struct is_execution_policy : std::false_type {};
template <bool Parallel, bool Task>
struct is_execution_policy<execution::basic_policy<Parallel, Task>> : std::true_type {};
template <class T>
inline constexpr bool is_execution_policy_v = is_execution_policy<std::remove_cvref_t<T>>::value;

namespace parallel::execution {
using hpx::execution::par;
using hpx::execution::par_unseq;
using hpx::execution::seq;
using hpx::execution::task;
}  // namespace parallel::execution

namespace detail {

template <class T>
concept policy = is_execution_policy_v<T>;

/// Whether an algorithm over these iterators runs in parallel under that policy.
template <class Policy, class... Its>
inline constexpr bool k_splits = std::remove_cvref_t<Policy>::k_parallel &&
                                 (std::random_access_iterator<Its> && ...);

/// Calls the algorithm's body: on this thread, as a task, or on the pool of the policy's executor.
/// Exceptions of a parallel one become an exception_list, except std::bad_alloc.
template <class Policy, class Body>
auto run_under(const Policy& how, Body body) {
    auto guarded = [body = std::move(body)]() mutable -> decltype(body()) {
        if constexpr (!Policy::k_parallel) {
            return body();
        } else {
            try {
                return body();
            } catch (const std::bad_alloc&) {
                throw;
            } catch (const exception_list&) {
                throw;
            } catch (...) {
                throw exception_list(std::current_exception());
            }
        }
    };
    const quern::task_attributes wanted = how.executor().attributes();
    if constexpr (Policy::k_task) {
        return start_async(wanted, std::move(guarded));
    } else {
        if (wanted.pool != nullptr) {
            return start_async(wanted, std::move(guarded)).get();
        }
        return guarded();
    }
}

/// f(i) for every i below n.
template <bool Parallel, class Policy, class F>
void for_indices(const Policy& how, std::size_t n, F&& f) {
    if constexpr (Parallel) {
        quern::parallel_for(std::size_t(0), n, how.grain(), std::forward<F>(f));
    } else {
        for (std::size_t i = 0; i < n; ++i) {
            f(i);
        }
    }
}

/// The reduction of map(i) for every i below n.
template <bool Parallel, class Policy, class T, class Map, class Combine>
T reduce_indices(const Policy& how, std::size_t n, T initial, Map&& map, Combine&& combine) {
    if constexpr (Parallel) {
        return quern::parallel_reduce(std::size_t(0), n, how.grain(), std::move(initial),
                                      std::forward<Map>(map), std::forward<Combine>(combine));
    } else {
        for (std::size_t i = 0; i < n; ++i) {
            initial = combine(std::move(initial), map(i));
        }
        return initial;
    }
}

template <class It>
std::size_t count_between(It first, It last) {
    return static_cast<std::size_t>(std::distance(first, last));
}
template <class It>
It moved(It first, std::size_t n) {
    return std::next(first, static_cast<typename std::iterator_traits<It>::difference_type>(n));
}

/// The first i below n for which test(i) holds, or n. Skips iterations beyond one that holds.
template <bool Parallel, class Policy, class Test>
std::size_t find_index(const Policy& how, std::size_t n, Test&& test) {
    if constexpr (Parallel) {
        std::atomic<std::size_t> found{n};
        for_indices<true>(how, n, [&](std::size_t i) {
            // relaxed: shares only the number; the loop's end orders the data that the tests have
            // read
            std::size_t least = found.load(std::memory_order_relaxed);
            if (i < least && test(i)) {
                while (i < least &&
                       !found.compare_exchange_weak(least, i, std::memory_order_relaxed)) {
                }
            }
        });
        return found.load(std::memory_order_relaxed);
    } else {
        std::size_t i = 0;
        while (i < n && !test(i)) {
            ++i;
        }
        return i;
    }
}

}  // namespace detail
}  // namespace hpx
