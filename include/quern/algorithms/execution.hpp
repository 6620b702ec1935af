// SPDX-License-Identifier: BSL-1.0
// Execution policies: the first argument of every parallel algorithm says whether it may run in
// parallel, on which pool, in which chunks, and whether the call waits. A policy is a constexpr
// value. The algorithms: docs/algorithms.md.
#pragma once

#include <quern/algorithms/chunkers.hpp>
#include <quern/scheduler/runtime.hpp>

#include <type_traits>

namespace quern {

/// par(as_future): the call starts a task and returns the quern::future of its result. HPX spells
/// it par(task).
struct as_future_t {
    explicit as_future_t() = default;
};
// NOLINTNEXTLINE(readability-identifier-naming): as the names of the policies
inline constexpr as_future_t as_future{};

namespace detail {

enum class execution_mode : unsigned char { seq, unseq, par, par_unseq };

/// A policy: mode, chunker, pool, and whether the call returns a future. Each function returns
/// another policy.
template <execution_mode Mode, class Chunker = lazy, bool IsFuture = false>
class policy {
public:
    static constexpr execution_mode k_mode = Mode;
    static constexpr bool k_is_parallel =
        Mode == execution_mode::par || Mode == execution_mode::par_unseq;
    static constexpr bool k_is_future = IsFuture;

    constexpr policy() noexcept = default;
    constexpr policy(Chunker chunks, pool* where) noexcept : m_chunker(chunks), m_pool(where) {}

    /// The pool whose workers take part; by default the caller's, outside of tasks the default
    /// runtime's first. The pool must outlive the call. Throws std::logic_error in the child of a
    /// fork().
    policy on(pool_ref where) const { return {m_chunker, &where.get()}; }
    policy on(const runtime& where) const { return on(where.default_pool()); }

    /// How to divide the range.
    template <chunker Other>
    constexpr policy<Mode, Other, IsFuture> with(Other chunks) const noexcept {
        return {chunks, m_pool};
    }
    constexpr policy<Mode, remembered_chunk_size, IsFuture> with(
        persistent_auto_chunk_size& memory) const noexcept {
        return {{&memory}, m_pool};
    }

    constexpr policy<Mode, Chunker, true> operator()(as_future_t) const noexcept {
        return {m_chunker, m_pool};
    }

    constexpr policy<Mode, Chunker, false> without_future() const noexcept {
        return {m_chunker, m_pool};
    }
    constexpr const Chunker& chunks() const noexcept { return m_chunker; }
    /// Null: the caller's.
    constexpr pool* where() const noexcept { return m_pool; }

private:
    [[no_unique_address]] Chunker m_chunker{};
    pool* m_pool = nullptr;
};

template <class T>
inline constexpr bool k_is_policy = false;
template <execution_mode Mode, class Chunker, bool IsFuture>
inline constexpr bool k_is_policy<policy<Mode, Chunker, IsFuture>> = true;

}  // namespace detail

using sequenced_policy = detail::policy<detail::execution_mode::seq>;
using unsequenced_policy = detail::policy<detail::execution_mode::unseq>;
using parallel_policy = detail::policy<detail::execution_mode::par>;
using parallel_unsequenced_policy = detail::policy<detail::execution_mode::par_unseq>;

// NOLINTBEGIN(readability-identifier-naming): names of the standard
/// On the calling thread, in order.
inline constexpr sequenced_policy seq{};
/// On the calling thread; calls may be interleaved, so they must not take locks.
inline constexpr unsequenced_policy unseq{};
/// In parallel; calls for different elements must be independent, and may suspend.
///
///     quern::for_each(quern::par, x.begin(), x.end(), [](double& e) { e *= 2; });
///     auto sum = quern::reduce(quern::par(quern::as_future), x.begin(), x.end(), 0.0);
///     quern::for_each(quern::par.with(quern::static_chunk_size(1000)), x, [](double& e) { ++e; });
inline constexpr parallel_policy par{};
/// In parallel, and calls of one thread may be interleaved.
inline constexpr parallel_unsequenced_policy par_unseq{};
// NOLINTEND(readability-identifier-naming)

template <class T>
inline constexpr bool is_execution_policy_v = detail::k_is_policy<std::remove_cvref_t<T>>;

namespace detail {

/// A compiler prints this name for a call with another first argument, such as std::execution::par.
template <class T>
inline constexpr bool k_first_argument_is_quern_par_seq_or_unseq = is_execution_policy_v<T>;

}  // namespace detail

/// A policy, also by reference and const.
template <class T>
concept execution_policy = detail::k_first_argument_is_quern_par_seq_or_unseq<T>;

}  // namespace quern
