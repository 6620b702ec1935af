// SPDX-License-Identifier: BSL-1.0
// Recursive algorithms, which divide a range by its contents instead of into chunks: sorting,
// merging, selecting. They fork with fork_both and fork_each, as far as `forks` allows.
#pragma once

#include <quern/algorithms/detail/block_size.hpp>
#include <quern/algorithms/detail/chunked_loop.hpp>

#include <algorithm>
#include <cstddef>

namespace quern::detail {

/// Where an algorithm may fork. Without a slot it runs on the calling thread.
struct forks {
    fork_slot* slot = nullptr;
    stop_signal* stop = nullptr;
    std::size_t workers = 1;
    std::size_t grain = 0;  ///< so many elements are not divided

    bool allowed_for(std::size_t n) const noexcept { return slot != nullptr && n > grain; }
    bool stopped() const noexcept { return stop != nullptr && stop->asks(); }
    forks at(fork_slot* other) const noexcept { return {other, stop, workers, grain}; }
    forks none() const noexcept { return at(nullptr); }
};

/// Calls f(forks) on a worker of the policy's pool. `grain` is for chunkers that name no size.
/// `begin_with` as for for_chunks.
template <class How, class F>
void with_forks(const How& how, std::size_t n, std::size_t begin_with, std::size_t grain, F&& f) {
    if (detail::is_for_caller(how, n, begin_with)) {
        f(forks{});
        return;
    }
    if constexpr (How::k_is_parallel) {
        detail::run_loop_of(how, [&](fork_slot* slot, stop_signal& stop) {
            const std::size_t workers = detail::parts_for(slot);
            const std::size_t wanted =
                n == 0 ? 0 : detail::block_of(how.policy.chunks(), n, workers);
            f(forks{workers == 1 ? nullptr : slot, &stop, workers, wanted != 0 ? wanted : grain});
        });
    }
}

/// Calls first(forks) and second(forks), in parallel if forks are allowed.
template <class F, class G>
void fork_both(const forks& where, F&& first, G&& second) {
    if (where.slot == nullptr) {
        first(where);
        second(where);
        return;
    }
    quern::fork_join(
        fork_context(where.slot),
        [&where, &second](fork_context c) {
            const under_signal running(where.stop);
            second(where.at(c.slot()));
        },
        [&where, &first](fork_context c) { first(where.at(c.slot())); });
}

/// Calls f(i) for each i in [first, last).
template <class F>
void fork_each(const forks& where, std::size_t first, std::size_t last, F& f) {
    if (last - first < 2) {
        if (first != last) {
            f(first);
        }
        return;
    }
    const std::size_t middle = first + (last - first) / 2;
    detail::fork_both(
        where, [&](const forks& here) { detail::fork_each(here, first, middle, f); },
        [&](const forks& here) { detail::fork_each(here, middle, last, f); });
}

/// Calls f(first, last) for parts of [0, n) of at least `least` elements, a few for each worker. If
/// one throws, other algorithms under the same signal stop, too.
template <class F>
void fork_parts(const forks& where, std::size_t n, std::size_t least, F&& f) {
    const std::size_t most = where.slot == nullptr ? 1 : where.workers * 4;
    const std::size_t parts = std::max<std::size_t>(1, std::min(most, n / least));
    const auto run = [&](std::size_t p) {
        const std::size_t first = n / parts * p;
        const std::size_t last = p + 1 == parts ? n : n / parts * (p + 1);
        if (where.stop == nullptr) {
            f(first, last);
        } else {
            detail::run_part(*where.stop, [&] { f(first, last); });
        }
    };
    detail::fork_each(where, 0, parts, run);
}

}  // namespace quern::detail
