// SPDX-License-Identifier: BSL-1.0
// How a parallel algorithm divides its range into chunks: the argument of par.with(). The default,
// lazy, needs no tuning. The others are those of HPX, by its names, for programs whose chunk size
// was measured. Their rules become chunks in detail/division.hpp.
#pragma once

#include <quern/algorithms/grain.hpp>
#include <quern/base/detail/config.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace quern {

namespace detail {

/// The value, if it is one that a chunker accepts.
constexpr std::size_t at_least_one(const char* chunker, std::size_t value) {
    if (value == 0) {
        throw std::invalid_argument("quern: " + std::string(chunker) +
                                    "(0): accepted are 1 and more");
    }
    return value;
}

constexpr std::size_t divide_up(std::size_t n, std::size_t by) noexcept {
    return n / by + (n % by != 0 ? 1 : 0);
}

/// Chunks per core unless the program says otherwise.
inline constexpr std::size_t k_chunks_per_core = 4;  // the default of HPX

}  // namespace detail

/// The default. Each worker gets a contiguous part of the range and divides it only when an idle
/// worker asks for work; a chunk, the work between two checks for such a request, grows until it
/// lasts 2 us. As parallel_for with grain::automatic(). `quern::grain` itself is a chunker too.
struct lazy {};

/// Chunks of `n` iterations. Each worker begins with a contiguous row of them, the same one each
/// time. Without a number: four chunks per core. Throws std::invalid_argument for 0.
class static_chunk_size {
public:
    constexpr static_chunk_size() noexcept = default;
    constexpr explicit static_chunk_size(std::size_t n)
        : m_size(detail::at_least_one("static_chunk_size", n)) {}

    constexpr std::size_t size_for(std::size_t n, std::size_t cores) const noexcept {
        return m_size != 0 ? m_size : detail::divide_up(n, detail::k_chunks_per_core * cores);
    }

private:
    std::size_t m_size = 0;  ///< 0: from the number of cores
};

/// Chunks of `n` iterations, without a number of 1. A worker takes the next chunk of the whole
/// range when it has finished one. For iterations of very different durations; costs a shared
/// atomic operation per chunk. Throws std::invalid_argument for 0.
class dynamic_chunk_size {
public:
    constexpr dynamic_chunk_size() noexcept = default;
    constexpr explicit dynamic_chunk_size(std::size_t n)
        : m_size(detail::at_least_one("dynamic_chunk_size", n)) {}

    constexpr std::size_t size_for(std::size_t, std::size_t) const noexcept { return m_size; }

private:
    std::size_t m_size = 1;
};

/// As dynamic_chunk_size with sizes that fall: each chunk is the unfinished part of the range
/// divided by the number of cores, but not less than `min` iterations. Throws std::invalid_argument
/// for 0.
class guided_chunk_size {
public:
    constexpr guided_chunk_size() noexcept = default;
    constexpr explicit guided_chunk_size(std::size_t min)
        : m_min(detail::at_least_one("guided_chunk_size", min)) {}

    /// The size of the next chunk of `left` iterations.
    constexpr std::size_t size_for(std::size_t left, std::size_t cores) const noexcept {
        return std::min(left, std::max(m_min, left / cores));
    }

private:
    std::size_t m_min = 1;
};

/// Chunks that last about `target`: the caller runs and times the first hundredth of the range, at
/// least one iteration, before the others begin. Each core gets a chunk even if it is shorter than
/// that. Throws std::invalid_argument if the target is not positive.
class auto_chunk_size {
public:
    using duration = std::chrono::nanoseconds;

    constexpr auto_chunk_size() noexcept = default;
    constexpr explicit auto_chunk_size(duration target) : m_target(target) {
        if (target <= duration::zero()) {
            throw std::invalid_argument("quern: auto_chunk_size(" + std::to_string(target.count()) +
                                        " ns): accepted are 1 ns and more");
        }
    }

    /// The iterations to time.
    static constexpr std::size_t sample_of(std::size_t n) noexcept {
        return std::max<std::size_t>(n / 100, 1);
    }

    std::size_t size_for(std::size_t n, std::size_t cores, double ns_per_iteration) const noexcept {
        const double wanted = static_cast<double>(m_target.count()) / ns_per_iteration;
        const std::size_t most = std::max<std::size_t>(detail::divide_up(n, cores), 1);
        return wanted < static_cast<double>(most)
                   ? std::max<std::size_t>(static_cast<std::size_t>(wanted), 1)
                   : most;
    }

private:
    duration m_target = std::chrono::microseconds(200);  // the default of HPX
};

/// As auto_chunk_size, but only its first loop is timed. The program keeps the object and passes it
/// by reference; it must outlive the calls, and all of them should run the same code.
///
///     static quern::persistent_auto_chunk_size chunks;
///     quern::for_each(quern::par.with(chunks), x.begin(), x.end(), [](double& e) { e += 1; });
class persistent_auto_chunk_size {
public:
    constexpr persistent_auto_chunk_size() noexcept = default;
    constexpr explicit persistent_auto_chunk_size(auto_chunk_size::duration target)
        : m_rule(target) {}
    persistent_auto_chunk_size(const persistent_auto_chunk_size&) = delete;
    persistent_auto_chunk_size& operator=(const persistent_auto_chunk_size&) = delete;

    const auto_chunk_size& rule() const noexcept { return m_rule; }
    /// 0: not yet measured.
    double ns_per_iteration() const noexcept { return m_ns.load(std::memory_order_relaxed); }
    void remember(double ns) noexcept { m_ns.store(ns, std::memory_order_relaxed); }

private:
    auto_chunk_size m_rule;
    std::atomic<double> m_ns{0};
};

/// Chunks whose size is a power of two: at least two per core, four in a range of 2^19 iterations
/// and more, eight from 2^25.
struct adaptive_static_chunk_size {
    static constexpr std::size_t size_for(std::size_t n, std::size_t cores) noexcept {
        const std::size_t per_core = n >= std::size_t{1} << 25   ? 8
                                     : n >= std::size_t{1} << 19 ? 4
                                                                 : 2;
        return std::bit_floor(std::max<std::size_t>(n / (per_core * cores), 1));
    }
};

/// At most `n` chunks of equal size. Throws std::invalid_argument for 0.
class max_num_chunks {
public:
    constexpr explicit max_num_chunks(std::size_t n)
        : m_count(detail::at_least_one("max_num_chunks", n)) {}

    constexpr std::size_t size_for(std::size_t n, std::size_t) const noexcept {
        return detail::divide_up(n, m_count);
    }

private:
    std::size_t m_count;
};

/// One chunk for each of `n` cores, so that at most so many workers take part. Throws
/// std::invalid_argument for 0.
class num_cores {
public:
    constexpr explicit num_cores(std::size_t n) : m_count(detail::at_least_one("num_cores", n)) {}

    constexpr std::size_t size_for(std::size_t n, std::size_t) const noexcept {
        return detail::divide_up(n, m_count);
    }

private:
    std::size_t m_count;
};

namespace detail {

/// What a policy keeps of a persistent_auto_chunk_size.
struct remembered_chunk_size {
    persistent_auto_chunk_size* memory;
};

template <class T, class... Others>
concept same_as_one_of = (std::same_as<T, Others> || ...);

}  // namespace detail

/// The types that par.with() accepts by value.
template <class T>
concept chunker =
    detail::same_as_one_of<T, lazy, grain, static_chunk_size, dynamic_chunk_size, guided_chunk_size,
                           auto_chunk_size, adaptive_static_chunk_size, max_num_chunks, num_cores>;

}  // namespace quern
