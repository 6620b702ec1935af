// SPDX-License-Identifier: BSL-1.0
// Work over a range in which each block needs a value from all blocks before it: scans, and copies
// of some elements. A worker finishes a block whose value is known in one pass; ahead of those it
// surveys blocks, so that their successors' values become known early and several can be finished
// at the same time. Without idle workers every block is finished in one pass. No worker ever waits.
#pragma once

#include <quern/algorithms/detail/chunked_loop.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern::detail {

/// How many blocks behind the last known value are surveyed at most: what a survey has read and
/// noted should still be in a cache when the block is finished. Guessed.
inline constexpr std::size_t k_look_ahead = 16;

/// The blocks of [begin, last). `Work` has, besides a type value, three functions.
/// survey(note, first, last) returns the value of a block on its own. finish(note, before, first,
/// last) does the block's work, where `before` is the value of all blocks before it, and returns
/// the value up to its own end; the block may be surveyed or not. combine(before, own) returns the
/// value up to the end of a block. A `Work::note`, one per block, carries from survey to finish
/// what saves work there.
template <class Work>
class ordered_blocks {
public:
    using value = typename Work::value;

    ordered_blocks(Work& work, std::size_t begin, std::size_t last, std::size_t size, value before)
        : m_work(work),
          m_begin(begin),
          m_last(last),
          m_size(size),
          m_blocks(detail::divide_up(last - begin, size) + 1) {
        m_blocks.front().before.emplace(std::move(before));
    }

    std::size_t count() const noexcept { return m_blocks.size() - 1; }

    /// Works until there is nothing left that this worker can do. Calls another one in when a thief
    /// asks and there are further blocks to finish.
    void run(fork_slot* slot, stop_signal& stop) {
        for (;;) {
            const step next = take_step();
            if (next.kind == step::none || stop.asks()) {
                return;
            }
            if (next.is_more && context::of(slot).wanted()) {
                quern::fork_join(
                    fork_context(slot),
                    [this, &stop](fork_context c) {
                        const under_signal running(&stop);
                        detail::run_part(stop, [&] { run(c.slot(), stop); });
                    },
                    [this, &next](fork_context) { do_step(next); });
            } else {
                context::of(slot).offer_if_wanted();
                do_step(next);
            }
        }
    }

    /// The value of the whole range. Requires: everything has been run.
    value take_value() { return std::move(*m_blocks.back().before); }

private:
    enum class state : std::uint8_t { untouched, in_survey, surveyed, taken };

    struct step {
        enum { none, survey, combine, finish } kind = none;
        std::size_t block = 0;
        bool is_more = false;  ///< another worker could finish a block now
    };

    struct block {
        std::optional<value> before{};  ///< the value of all blocks before it
        std::optional<value> own{};     ///< its value on its own
        typename Work::note note{};
        state is = state::untouched;
    };

    std::size_t first_of(std::size_t b) const noexcept { return m_begin + b * m_size; }
    std::size_t last_of(std::size_t b) const noexcept { return std::min(first_of(b + 1), m_last); }

    bool can_be_finished(std::size_t b) const noexcept {
        return b < count() && b <= m_known &&
               (m_blocks[b].is == state::untouched || m_blocks[b].is == state::surveyed);
    }

    /// To extend the known values comes first, then to finish a block, then to survey one. The last
    /// block is not surveyed, because no other one needs its value.
    step take_step() {
        const std::scoped_lock lock(m_mutex);
        if (m_known < count() && m_blocks[m_known].is != state::in_survey &&
            m_blocks[m_known].own && !m_is_combining) {
            m_is_combining = true;
            return {step::combine, m_known};
        }
        while (m_to_finish < count() && m_blocks[m_to_finish].is == state::taken) {
            ++m_to_finish;
        }
        std::size_t b = m_to_finish;
        while (b <= m_known && b < count() && !can_be_finished(b)) {
            ++b;
        }
        if (can_be_finished(b)) {
            m_blocks[b].is = state::taken;
            m_to_survey = std::max(m_to_survey, b + 1);
            return {step::finish, b, can_be_finished(b + 1)};
        }
        m_to_survey = std::max(m_to_survey, m_known + 1);
        if (m_to_survey + 1 < count() && m_to_survey - m_known <= k_look_ahead) {
            m_blocks[m_to_survey].is = state::in_survey;
            return {step::survey, m_to_survey++};
        }
        return {};
    }

    void do_step(const step& next) {
        block& at = m_blocks[next.block];
        const std::size_t first = first_of(next.block);
        const std::size_t last = last_of(next.block);
        if (next.kind == step::survey) {
            std::optional<value> own(m_work.survey(at.note, first, last));
            const std::scoped_lock lock(m_mutex);
            at.own = std::move(own);
            at.is = state::surveyed;
        } else if (next.kind == step::combine) {
            std::optional<value> after(m_work.combine(std::as_const(*at.before), *at.own));
            const std::scoped_lock lock(m_mutex);
            m_is_combining = false;
            set_known(next.block + 1, std::move(after));
        } else {
            std::optional<value> after(
                m_work.finish(at.note, std::as_const(*at.before), first, last));
            const std::scoped_lock lock(m_mutex);
            set_known(next.block + 1, std::move(after));
        }
    }

    /// Requires: m_mutex is held. The value may be known already: a surveyed block is finished
    /// after its value was combined, or before.
    void set_known(std::size_t b, std::optional<value>&& before) {
        if (m_known < b) {
            m_blocks[b].before = std::move(before);
            m_known = b;
        }
    }

    Work& m_work;
    const std::size_t m_begin;
    const std::size_t m_last;
    const std::size_t m_size;
    std::mutex m_mutex;           ///< held for some ns, never while the program's functions run
    std::vector<block> m_blocks;  ///< and one behind them, for the value of the whole range
    std::size_t m_known = 0;      ///< Invariant: the blocks up to this one have their `before`
    std::size_t m_to_finish = 0;  ///< Invariant: all blocks before it are taken
    std::size_t m_to_survey = 0;  ///< Invariant: no block from here on has been touched
    bool m_is_combining = false;
};

/// The longest block: 128 KiB of doubles stay in the cache between survey and finish.
inline constexpr std::size_t k_longest_block = 16'384;
/// Blocks per worker, where there are as many elements.
inline constexpr std::size_t k_blocks_per_worker = 8;
/// What a block should last at least: about ten times the way to another worker and back.
inline constexpr double k_block_ns = 20'000;

/// The size of blocks, if the chunker says one, else 0.
template <class Chunker>
std::size_t block_of(const Chunker& chunks, std::size_t n, std::size_t workers) {
    if constexpr (std::is_same_v<Chunker, grain>) {
        return chunks.iterations;
    } else if constexpr (requires { chunks.size_for(n, workers); }) {
        return chunks.size_for(n, workers);
    } else {
        return 0;  // also the chunkers that measure first
    }
}

/// Finishes elements from 0 on until that has taken some us; returns their number. `size` becomes
/// the size for the blocks that follow.
template <class Work>
std::size_t begin_in_order(Work& work, std::size_t n, std::size_t workers,
                           typename Work::value& before, std::size_t begin_with,
                           std::size_t& size) {
    chunk_size chunk = chunk_size::growing_from(begin_with);
    std::size_t done = 0;
    while (done < n && !chunk.settled()) {
        const std::size_t end = done + std::min(n - done, chunk.get());
        chunk.run([&] {
            typename Work::note none{};
            before = work.finish(none, std::as_const(before), done, end);
        });
        done = end;
    }
    const double per_chunk = k_block_ns / k_chunk_ns;
    const auto wanted = static_cast<std::size_t>(static_cast<double>(chunk.get()) * per_chunk);
    const std::size_t most = std::max<std::size_t>((n - done) / (k_blocks_per_worker * workers), 1);
    size = std::min({std::max<std::size_t>(wanted, 1), most, k_longest_block});
    return done;
}

/// Does the work for [0, n), n > 0, and returns the value of the whole range. `begin_with` as for
/// for_chunks.
template <class How, class Work>
typename Work::value run_in_order(const How& how, std::size_t n, Work& work,
                                  typename Work::value before, std::size_t begin_with) {
    const auto finish = [&](std::size_t first, std::size_t last) {
        typename Work::note none{};
        before = work.finish(none, std::as_const(before), first, last);
    };
    if constexpr (How::k_is_parallel) {
        if (!detail::is_for_caller(how, n, begin_with)) {
            detail::run_loop_of(how, [&](fork_slot* slot, stop_signal& stop) {
                const std::size_t workers = detail::parts_for(slot);
                if (workers == 1) {
                    finish(0, n);
                    return;
                }
                std::size_t size = detail::block_of(how.policy.chunks(), n, workers);
                std::size_t done = 0;
                if (size == 0) {
                    done = detail::begin_in_order(work, n, workers, before, begin_with, size);
                }
                if (done == n) {
                    return;
                }
                ordered_blocks<Work> blocks(work, done, n, std::min(size, n), std::move(before));
                const auto run = [&](fork_slot* at) { blocks.run(at, stop); };
                detail::run_runners(slot, std::min(workers, blocks.count()), stop, run);
                before = blocks.take_value();
            });
            return before;
        }
    }
    finish(0, n);
    return before;
}

}  // namespace quern::detail
