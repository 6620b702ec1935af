// SPDX-License-Identifier: BSL-1.0
// Collects, sends, gives credits back.
#include "links.hpp"

#include "parcel_trace.hpp"

#include <cstring>
#include <mutex>
#include <utility>

namespace quern::localities::detail {

void message::add(const parcel_header& header, std::span<const std::byte> bytes) noexcept {
    std::byte* const at = m_bytes.data() + m_used;
    std::memcpy(at, &header, sizeof header);
    if (!bytes.empty()) {
        std::memcpy(at + sizeof header, bytes.data(), bytes.size());
    }
    m_used += size_of(header);
}

void message::set_header(const message_header& header) noexcept {
    std::memcpy(m_bytes.data(), &header, sizeof header);
}

message_store::~message_store() {
    while (m_free != nullptr) {
        delete std::exchange(m_free, m_free->next);
    }
}

message& message_store::take() {
    {
        const std::scoped_lock lock(m_lock);
        if (m_free != nullptr) {
            message& one = *m_free;
            m_free = one.next;
            --m_kept;
            one.next = nullptr;
            one.begin();
            return one;
        }
    }
    auto* const made = new message;
    made->home = this;
    return *made;
}

void message_store::give(message& one) noexcept {
    {
        const std::scoped_lock lock(m_lock);
        if (m_kept < k_most_kept) {
            one.next = m_free;
            m_free = &one;
            ++m_kept;
            return;
        }
    }
    delete &one;
}

/// The message that is to be sent now, or null. Under the lock.
message* link::take_next() noexcept {
    if (m_first == nullptr || m_credits == 0) {
        return nullptr;
    }
    message* const one = std::exchange(m_first, m_first->next);
    if (m_first == nullptr) {
        m_last = nullptr;
    }
    m_queued = m_queued - 1;
    --m_credits;
    one->next = nullptr;
    one->set_header({.credits = std::exchange(m_owed, 0U), .first = one->first});
    m_counts.messages = m_counts.messages + 1;
    return one;
}

void link::post(const parcel_header& header, std::span<const std::byte> bytes,
                std::uint64_t apart) {
    message* ready = nullptr;
    std::uint32_t number = 0;
    {
        const std::scoped_lock lock(m_lock);
        number = static_cast<std::uint32_t>(m_counts.parcels);
        if (m_last == nullptr || m_last->room() < size_of(header)) {
            message& fresh = m_store.take();
            (m_last == nullptr ? m_first : m_last->next) = &fresh;
            m_last = &fresh;
            m_last->first = number;
            m_queued = m_queued + 1;
        }
        m_last->add(header, bytes);
        m_counts.parcels = m_counts.parcels + 1;
        m_counts.bytes = m_counts.bytes + size_of(header);
        ready = take_next();
    }
    if (ready != nullptr) {
        send(*ready);
    }
    detail::trace_parcel(true, m_to, number, bytes.size() + apart);
}

void link::has_credits(std::uint32_t count) noexcept {
    if (count == 0) {
        return;
    }
    message* ready = nullptr;
    {
        const std::scoped_lock lock(m_lock);
        m_credits += count;
        message** end = &ready;
        while (message* const one = take_next()) {
            *end = one;
            end = &one->next;
        }
    }
    send_all(ready);
}

/// A message that only gives credits back costs none.
void link::message_has_run() noexcept {
    std::uint32_t owed = 0;
    {
        const std::scoped_lock lock(m_lock);
        if (++m_owed < k_most_owed) {
            return;
        }
        owed = std::exchange(m_owed, 0U);
        m_counts.messages = m_counts.messages + 1;
        m_counts.credits_only = m_counts.credits_only + 1;
    }
    message& one = m_store.take();
    one.set_header({.credits = owed, .first = 0});
    send(one);
}

void link::send_all(message* first) noexcept {
    while (first != nullptr) {
        message& one = *std::exchange(first, first->next);
        one.next = nullptr;
        send(one);
    }
}

void link::send(message& one) noexcept {
    m_port.send(m_to, one.whole(),
                {[](void* argument) noexcept {
                     auto& sent = *static_cast<message*>(argument);
                     sent.home->give(sent);
                 },
                 &one});
}

std::uint32_t link::number_chunks(std::uint32_t count) noexcept {
    const std::scoped_lock lock(m_lock);
    const std::uint32_t first = m_next_chunk;
    m_next_chunk += count;
    m_counts.chunks = m_counts.chunks + count;
    return first;
}

void link::send_chunk(std::uint32_t number, std::span<const std::byte> bytes,
                      mpi::detail::port_action after) noexcept {
    {
        const std::scoped_lock lock(m_lock);
        m_counts.bytes = m_counts.bytes + bytes.size();
    }
    m_port.send_large(m_to, tag_of(number), bytes, after);
}

}  // namespace quern::localities::detail
