// SPDX-License-Identifier: BSL-1.0
// Work over a range in which each element needs a value from all elements before it: scans, copies
// of some elements, set operations. One worker, at the front, works in one pass. Workers that join
// it survey the blocks behind: they compute each block's value on its own. When a window of blocks
// has been surveyed, the values are combined in order and the surveyed blocks are finished in
// parallel. A call without idle workers is one pass. No worker waits for another one's block, and
// there is no lock and no allocation per block. Why: docs/design/0037-ordered-blocks.md.
#pragma once

#include <quern/algorithms/detail/block_size.hpp>
#include <quern/algorithms/detail/chunked_loop.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern::detail {

/// Surveyed blocks of a window per worker, at most.
inline constexpr std::size_t k_blocks_per_worker = 32;

/// Blocks of a window per worker, at least: workers begin and end at different times.
inline constexpr std::size_t k_blocks_of_a_share = 8;

/// Where a combination may cost as much as an element does, a block has this number times the
/// workers of elements: then the combinations, which one worker makes, take an eighth of the time
/// that each worker needs for its blocks.
inline constexpr std::size_t k_elements_per_combine = 4;

/// Runs `Work` on successive windows of a range. `Work` has, besides a type value and a number of
/// elements k_window, five functions.
/// begin_window(first, last) comes before the others in each window. survey(note, first, last)
/// returns the value of a block on its own. combine(before, own) returns the value up to the end of
/// a block. finish(note, before, first, last) does the work of a surveyed block, where `before` is
/// the value of all elements before it. run(before, first, last) does the same for a block that was
/// not surveyed, and returns the value up to its end. A `Work::note`, one per block, carries from
/// survey to finish what saves work there. With k_is_in_place the values are places of the range
/// itself up to which elements are written; with k_combines_by_program combine calls the program's
/// code. A worker's share of a window divided by k_front_part, if that is not 0, is kept for the
/// runner at the front.
template <class Work>
class ordered_windows {
public:
    using value = typename Work::value;

    ordered_windows(Work& work, std::size_t n, std::size_t workers, block_size& size, value before)
        : m_work(work),
          m_size(size),
          m_workers(workers),
          m_blocks(std::min(n, workers * k_blocks_per_worker)),
          m_known(std::move(before)) {
        if constexpr (Work::k_combines_by_program) {
            size.keep_above(
                std::min(k_elements_per_combine * workers, detail::divide_up(n, workers)));
        }
    }

    /// Does the work for [first, end of the window), which is not behind `last`. Returns that end.
    std::size_t run_window(fork_slot* slot, stop_signal& stop, std::size_t first,
                           std::size_t last) {
        const std::size_t most = std::max(Work::k_window, 2 * m_size.get()) * m_workers;
        m_first = first;
        m_length = std::min(last - first, most);
        m_work.begin_window(first, first + m_length);
        if constexpr (Work::k_front_part != 0) {
            m_kept_for_front = std::min(m_length / m_workers, k_blocks_per_worker * m_size.get()) /
                               Work::k_front_part;
        }
        m_longest = m_size.is_given()
                        ? m_length
                        : std::max(m_size.least(),
                                   detail::divide_up(m_length, k_blocks_of_a_share * m_workers));
        m_next.store(pack({0, m_kept_for_front}), std::memory_order_relaxed);
        m_has_front.store(false, std::memory_order_relaxed);
        const std::size_t blocks = detail::divide_up(m_length, std::min(m_size.get(), m_longest));
        detail::run_runners(slot, std::min(m_workers, blocks), stop,
                            [&](fork_slot* at) { take_blocks(at, stop); });
        const claims reached = unpack(m_next.load(std::memory_order_relaxed));
        finish_surveyed(slot, stop, reached.blocks);
        return first + reached.elements;
    }

    /// The value of all windows.
    value take_value() { return std::move(m_known); }

private:
    struct block {
        std::size_t first = 0;
        std::size_t last = 0;
        std::optional<value> before{};  ///< the value of all elements before it
        std::optional<value> own{};     ///< its value on its own
        typename Work::note note{};
    };

    /// What has been taken of a window.
    struct claims {
        std::uint64_t blocks;    ///< to be surveyed
        std::uint64_t elements;  ///< of these and of the blocks at the front
    };
    static constexpr unsigned k_element_bits = 48;
    static std::uint64_t pack(claims c) noexcept { return c.blocks << k_element_bits | c.elements; }
    static claims unpack(std::uint64_t word) noexcept {
        return {word >> k_element_bits, word & ((std::uint64_t{1} << k_element_bits) - 1)};
    }

    /// Takes blocks until the whole window is taken, or as many surveyed blocks as there is room
    /// for. The first runner that comes is at the front until another one takes a block.
    void take_blocks(fork_slot* slot, stop_signal& stop) {
        // relaxed, both: the join of the runners orders what they have done.
        bool is_front = !m_has_front.exchange(true, std::memory_order_relaxed);
        if (is_front) {
            run_kept(slot, stop);
        }
        std::uint64_t word = m_next.load(std::memory_order_relaxed);
        while (!stop.asks()) {
            const claims taken = unpack(word);
            is_front = is_front && taken.blocks == 0;
            if (taken.elements == m_length || (!is_front && taken.blocks == m_blocks.size())) {
                return;
            }
            const std::size_t size =
                std::min<std::size_t>({m_size.get(), m_longest, m_length - taken.elements});
            const claims after{taken.blocks + (is_front ? 0U : 1U), taken.elements + size};
            if (!m_next.compare_exchange_weak(word, pack(after), std::memory_order_relaxed)) {
                continue;
            }
            context::of(slot).offer_if_wanted();
            const std::size_t first = m_first + taken.elements;
            m_size.run(size, [&] {
                if (is_front) {
                    run_at_front(first, size);
                } else {
                    survey(m_blocks[taken.blocks], first, first + size);
                }
            });
            word = m_next.load(std::memory_order_relaxed);
        }
    }

    /// The beginning of the window, which is kept for the runner at the front.
    void run_kept(fork_slot* slot, stop_signal& stop) {
        for (std::size_t done = 0; done < m_kept_for_front && !stop.asks();) {
            const std::size_t size = std::min({m_size.get(), m_longest, m_kept_for_front - done});
            context::of(slot).offer_if_wanted();
            m_size.run(size, [&] { run_at_front(m_first + done, size); });
            done += size;
        }
    }

    void run_at_front(std::size_t first, std::size_t size) {
        m_known = m_work.run(std::as_const(m_known), first, first + size);
    }

    void survey(block& at, std::size_t first, std::size_t last) {
        at.first = first;
        at.last = last;
        at.own.emplace(m_work.survey(at.note, first, last));
    }

    void finish_surveyed(fork_slot* slot, stop_signal& stop, std::size_t count) {
        for (std::size_t b = 0; b < count; ++b) {
            block& at = m_blocks[b];
            at.before.emplace(std::move(m_known));
            m_known = m_work.combine(std::as_const(*at.before), std::as_const(*at.own));
        }
        if constexpr (Work::k_is_in_place) {
            for (std::size_t b = 0; b < count;) {
                b = finish_apart(slot, stop, b, count);
            }
        } else {
            finish(slot, stop, 0, count);
        }
    }

    /// Finishes the blocks from `begin` on whose results lie before all of these blocks, so that no
    /// block writes what another one reads; at least one block. Returns the next one.
    std::size_t finish_apart(fork_slot* slot, stop_signal& stop, std::size_t begin,
                             std::size_t count) {
        const auto after = [&](std::size_t b) {
            return b + 1 == count ? m_known : *m_blocks[b + 1].before;
        };
        std::size_t end = begin;
        while (end < count && after(end) <= m_blocks[begin].first) {
            ++end;
        }
        end = std::max(end, begin + 1);
        finish(slot, stop, begin, end);
        return end;
    }

    /// Finishes [begin, end), in parallel if there are several.
    void finish(fork_slot* slot, stop_signal& stop, std::size_t begin, std::size_t end) {
        const auto range = [&](fork_slot*, std::size_t b, std::size_t last) {
            for (b += begin, last += begin; b < last; ++b) {
                block& at = m_blocks[b];
                m_work.finish(at.note, std::as_const(*at.before), at.first, at.last);
            }
            return true;
        };
        if (end - begin == 1) {
            range(slot, 0, 1);
        } else {
            detail::deal_loop(slot, stop, end - begin, chunk_size(grain::fixed(1)), range);
        }
    }

    Work& m_work;
    block_size& m_size;
    const std::size_t m_workers;
    std::vector<block> m_blocks;
    std::size_t m_first = 0;    ///< of the window
    std::size_t m_length = 0;   ///< of the window
    std::size_t m_longest = 0;  ///< block of the window
    /// Elements that no other runner takes. Where an operation costs the same in a survey, two
    /// workers would else need as long as one.
    std::size_t m_kept_for_front = 0;
    value m_known;  ///< of all elements up to the front; belongs to the runner at the front
    std::atomic<bool> m_has_front{false};
    std::atomic<std::uint64_t> m_next{0};  ///< Invariant: a `claims`
};

/// Does the work for [0, n), n > 0, and returns the value of the whole range. `begin_with` as for
/// for_chunks.
template <class How, class Work>
typename Work::value run_in_order(const How& how, std::size_t n, Work& work,
                                  typename Work::value before, std::size_t begin_with) {
    if constexpr (How::k_is_parallel) {
        if (!detail::is_for_caller(how, n, begin_with)) {
            std::optional<typename Work::value> after;
            detail::run_loop_of(how, [&](fork_slot* slot, stop_signal& stop) {
                const std::size_t workers = detail::parts_for(slot);
                if (workers == 1) {
                    after.emplace(work.run(std::as_const(before), 0, n));
                    return;
                }
                block_size size(std::min(detail::block_of(how.policy.chunks(), n, workers), n),
                                begin_with);
                std::size_t done = 0;
                const std::size_t most = detail::divide_up(n, k_blocks_of_a_share * workers);
                while (done < n && size.is_growing()) {
                    const std::size_t length = std::min({n - done, size.get(), most});
                    size.run(length, [&] {
                        before = work.run(std::as_const(before), done, done + length);
                    });
                    done += length;
                }
                if (done == n) {
                    after.emplace(std::move(before));
                    return;
                }
                ordered_windows<Work> windows(work, n - done, workers, size, std::move(before));
                while (done < n && !stop.asks()) {
                    done = windows.run_window(slot, stop, done, n);
                }
                after.emplace(windows.take_value());
            });
            return std::move(*after);
        }
    }
    return work.run(std::as_const(before), 0, n);
}

}  // namespace quern::detail
