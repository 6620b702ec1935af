// SPDX-License-Identifier: BSL-1.0
// The recording of one worker: a growing sequence of events up to a limit, and the statistics of
// its kinds of tasks. Written by the worker under the lock of its lane, read after it is detached.
#pragma once

#include "record/site_table.hpp"
#include "record/sleep_meter.hpp"
#include "record/wait_table.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace quern::trace::detail {

enum class event_kind : std::uint8_t { piece, parked, theft, wait, message, message_more };

/// Properties of a piece, as bits.
struct piece_flags {
    static constexpr unsigned k_first = 1, k_suspended = 2, k_covered = 4, k_inlined = 8,
                              k_stolen = 16, k_continued = 32;
};

/// 48 bits and 16 in one word: enough for a day of ticks, and for more tasks than a process can
/// create.
class packed {
public:
    constexpr packed() = default;
    constexpr packed(std::uint64_t low, std::uint64_t high) noexcept
        : m_bits((low & k_mask) | high << k_low_bits) {}
    constexpr std::uint64_t low() const noexcept { return m_bits & k_mask; }
    constexpr std::uint64_t high() const noexcept { return m_bits >> k_low_bits; }

private:
    static constexpr unsigned k_low_bits = 48;
    static constexpr std::uint64_t k_mask = (std::uint64_t{1} << k_low_bits) - 1;

    std::uint64_t m_bits = 0;
};

/// Times in ticks since the recording began.
struct event {
    packed begin_site{};
    packed length_kind{};  ///< length; kind, and above it the flags
    packed task_wait{};    ///< task or victim of a theft; high half of the queue time
    packed cause_wait{};

    /// The queue time has a resolution of 64 ticks and saturates.
    static constexpr std::uint64_t k_unknown = 0xffff'ffff;
    static constexpr unsigned k_unit = 64;

    std::uint64_t begin() const noexcept { return begin_site.low(); }
    std::uint64_t length() const noexcept { return length_kind.low(); }
    std::uint64_t site() const noexcept { return begin_site.high(); }
    std::uint64_t task() const noexcept { return task_wait.low(); }
    std::uint64_t cause() const noexcept { return cause_wait.low(); }
    event_kind kind() const noexcept { return static_cast<event_kind>(length_kind.high() & 0xff); }
    std::uint64_t flags() const noexcept { return length_kind.high() >> 8U; }
    std::uint64_t waited() const noexcept { return task_wait.high() << 16U | cause_wait.high(); }

    /// Of a message: the length is its bytes, the flags say whether it was sent, `cause_wait` holds
    /// the peer in 32 bits and the tag above it. The event after it has its order as the beginning
    /// and its context as the length.
    static packed pack_ends(int peer, int tag) noexcept {
        const auto tag_bits = static_cast<std::uint32_t>(tag);
        return {static_cast<std::uint32_t>(peer) | std::uint64_t{tag_bits & 0xffffU} << 32U,
                tag_bits >> 16U};
    }
    int peer() const noexcept {
        return static_cast<int>(static_cast<std::uint32_t>(cause_wait.low()));
    }
    int tag() const noexcept {
        return static_cast<int>(
            static_cast<std::uint32_t>(cause_wait.low() >> 32U | cause_wait.high() << 16U));
    }
};
static_assert(sizeof(event) == 32);

class track final : public sink {
public:
    /// Keeps at most that many events; 0: only statistics. `sampling` as in sink; null `measured`:
    /// no events are counted.
    track(tick_count start, std::uint64_t most_events, std::uint32_t sampling = 1,
          const std::shared_ptr<const wanted_events>& measured = nullptr)
        : m_start(start),
          m_most(most_events),
          m_sampling(sampling),
          m_meter(measured != nullptr ? std::make_unique<event_meter>(measured) : nullptr) {}

    void begins(const beginning&) noexcept override { m_sleeps.begin(); }
    void piece_ends(const piece& ended) noexcept override;
    void piece_begins(bool adjoins) noexcept override;
    bool measures() const noexcept override { return m_meter != nullptr; }
    bool waited(const task_wait& wait) noexcept override;
    void placed(const task_wait& wait, const quern::detail::call_chain& calls) noexcept override;
    void parked(std::uint32_t rank, tick_count begin, tick_count end) noexcept override;
    void stole(std::uint32_t rank, std::uint32_t victim, tick_count at) noexcept override;
    void passed(const message_info& what, std::uint64_t task, tick_count at) noexcept override;
    std::uint32_t sampling() const noexcept override { return m_sampling; }

    const site_table& sites() const noexcept { return m_sites; }
    const wait_table& waits() const noexcept { return m_waits; }
    std::uint64_t size() const noexcept { return m_size; }
    std::uint64_t dropped() const noexcept { return m_dropped; }
    /// Tasks in the statistics; the others are estimated from them.
    std::uint64_t seen() const noexcept { return m_seen; }
    /// Null if no events are counted.
    const event_meter* meter() const noexcept { return m_meter.get(); }
    /// Its readings, of all sites and without weights.
    const event_sums& read() const noexcept { return m_read; }

    template <class Visit>
    void for_each(Visit visit) const {
        for (std::uint64_t i = 0; i < m_size; ++i) {
            visit(m_chunks[i / k_chunk][i % k_chunk]);
        }
    }

    /// The counts of that event: one per wanted event, or none.
    std::span<const std::uint64_t> counts_of(std::uint64_t index) const noexcept {
        const std::size_t counts = counts_each();
        return counts == 0 ? std::span<const std::uint64_t>()
                           : std::span<const std::uint64_t>(
                                 &m_counts[index / k_chunk][index % k_chunk * counts], counts);
    }

    /// Frees the memory of the events.
    void forget_events() noexcept;

private:
    static constexpr std::uint64_t k_chunk = 4096;  ///< events, 128 KiB per chunk (guessed)

    const event_sums* measured(const piece& ended) noexcept;
    void count(const piece& ended, std::uint16_t site) noexcept;
    event* room() noexcept;
    void keep(const event_sums* counted) noexcept;
    std::size_t counts_each() const noexcept {
        return m_meter != nullptr ? m_meter->wanted().kinds.size() : 0;
    }
    std::uint64_t since_start(tick_count at) const noexcept {
        return at > m_start ? at - m_start : 0;
    }

    const tick_count m_start;
    const std::uint64_t m_most;
    const std::uint32_t m_sampling;
    std::uint64_t m_size = 0;
    std::uint64_t m_seen = 0;
    std::uint64_t m_dropped = 0;
    const std::unique_ptr<event_meter> m_meter;
    site_table m_sites;
    wait_table m_waits;
    std::uint16_t m_last_wait = wait_table::k_others;
    event_sums m_read;
    sleep_meter m_sleeps;
    std::vector<std::unique_ptr<event[]>> m_chunks;
    std::vector<std::unique_ptr<std::uint64_t[]>> m_counts;  ///< parallel to m_chunks
};

}  // namespace quern::trace::detail
