// SPDX-License-Identifier: BSL-1.0
// The way to one other locality: parcels are collected into messages, and messages wait for
// credits. Protocol and proof: README.md, section "Links".
#pragma once

#include <quern/localities/detail/parcel.hpp>

#include <quern/base/detail/relaxed.hpp>
#include <quern/base/detail/spin_lock.hpp>
#include <quern/mpi/detail/message_port.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace quern::localities::detail {

/// Of a message, at most. As large as messages that a library still copies through shared memory
/// without asking the receiver (guessed from the limits of UCX and Open MPI, 4 to 64 KiB).
inline constexpr std::size_t k_message_bytes = 32 * 1024;

/// Messages that may be under way on a link, sent and not yet run, before parcels are collected.
inline constexpr std::uint32_t k_credits = 4;

/// How many credits the receiver keeps before it sends them in a message of their own.
inline constexpr std::uint32_t k_most_owed = k_credits / 2;

/// At the beginning of each message.
struct message_header {
    std::uint32_t credits;  ///< that the sender gives back
    std::uint32_t first;    ///< the number of its first parcel on the link, for traces
};

class message_store;

/// The parcels of a message that is being filled or sent.
class message {
public:
    std::size_t room() const noexcept { return m_bytes.size() - m_used; }
    bool empty() const noexcept { return m_used == sizeof(message_header); }
    /// Requires: room for both. The size in the header is a multiple of 8 and covers both.
    void add(const parcel_header& header, std::span<const std::byte> bytes) noexcept;
    void begin() noexcept { m_used = sizeof(message_header); }
    void set_header(const message_header& header) noexcept;
    std::span<const std::byte> whole() const noexcept { return {m_bytes.data(), m_used}; }

    message* next = nullptr;
    message_store* home = nullptr;
    std::uint32_t first = 0;  ///< as message_header

private:
    std::size_t m_used = sizeof(message_header);
    alignas(8) std::array<std::byte, k_message_bytes> m_bytes;
};

/// Messages that are not in use. Any thread.
class message_store {
public:
    message_store() = default;
    ~message_store();
    message_store(const message_store&) = delete;
    message_store& operator=(const message_store&) = delete;

    message& take();
    void give(message& one) noexcept;

private:
    static constexpr std::size_t k_most_kept = 64;

    quern::detail::spin_lock m_lock;
    message* m_free = nullptr;
    std::size_t m_kept = 0;
};

/// Counted since the session began, by link.
struct link_counts {
    quern::detail::relaxed<std::uint64_t> parcels = 0;       ///< posted
    quern::detail::relaxed<std::uint64_t> messages = 0;      ///< sent
    quern::detail::relaxed<std::uint64_t> credits_only = 0;  ///< of these, without parcels
    quern::detail::relaxed<std::uint64_t> bytes = 0;         ///< of both, and of chunks
    quern::detail::relaxed<std::uint64_t> chunks = 0;        ///< sent
};

class link {
public:
    link(mpi::detail::message_port& port, message_store& store, int to) noexcept
        : m_port(port), m_store(store), m_to(to) {}

    /// Adds a parcel to the last message, which is sent if there is a credit. `apart`: bytes of it
    /// that travel beside it. Any thread. Throws std::bad_alloc; then the parcel is not posted.
    void post(const parcel_header& header, std::span<const std::byte> bytes,
              std::uint64_t apart = 0);

    /// Numbers for as many chunks of one parcel: the first one.
    std::uint32_t number_chunks(std::uint32_t count) noexcept;
    /// Sends a chunk of that number.
    void send_chunk(std::uint32_t number, std::span<const std::byte> bytes,
                    mpi::detail::port_action after) noexcept;
    std::uint32_t tag_of(std::uint32_t chunk) const noexcept {
        return chunk % m_port.largest_tag();
    }

    /// The other side gives credits back.
    void has_credits(std::uint32_t count) noexcept;
    /// All parcels of a message of the other side have begun.
    void message_has_run() noexcept;

    /// Messages that wait for credits. A guess for other threads.
    std::size_t queued() const noexcept { return m_queued; }
    /// Any thread, without the lock: each of them is right for itself.
    const link_counts& counts() const noexcept { return m_counts; }
    /// Parcels and messages: both end at the other side.
    std::uint64_t begun() const noexcept {
        const std::scoped_lock lock(m_lock);
        return m_counts.parcels + m_counts.messages;
    }

private:
    message* take_next() noexcept;
    void send(message& one) noexcept;
    void send_all(message* first) noexcept;

    mpi::detail::message_port& m_port;
    message_store& m_store;
    const int m_to;

    mutable quern::detail::spin_lock m_lock;
    // Invariant: between two operations m_credits is 0 or no message waits.
    message* m_first = nullptr;  ///< waits for a credit longest
    message* m_last = nullptr;   ///< is being filled
    quern::detail::relaxed<std::size_t> m_queued = 0;
    std::uint32_t m_credits = k_credits;
    std::uint32_t m_owed = 0;  ///< credits to give back
    std::uint32_t m_next_chunk = 0;
    link_counts m_counts;
};

}  // namespace quern::localities::detail
