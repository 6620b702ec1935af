// SPDX-License-Identifier: BSL-1.0
// Receiving, posting by the program, the end.
#include "job.hpp"

#include <quern/base/detail/assert.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/task/this_task.hpp>

#include <sched.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

namespace quern::localities::detail {

namespace {

/// Receives that are posted, for all links together. More messages wait in the MPI library.
constexpr int k_receives = 4;

/// Messages that may wait for credits of one link before the program has to wait: 2 MiB.
constexpr std::size_t k_most_queued = 64;

/// How often the program then lets others run before it sleeps, and how long: a few messages are
/// sent meanwhile (8 us each; a guess).
constexpr int k_yields = 16;
constexpr std::chrono::microseconds k_room_pause{50};

/// Between two rounds of the end: at first, and at most.
constexpr std::chrono::microseconds k_first_pause{20};
constexpr std::chrono::microseconds k_longest_pause{1000};
/// The end then says what it waits for, as far as that is a mistake.
constexpr std::chrono::seconds k_patience_at_end{10};

/// Whether the caller is a task that may let others run.
bool is_in_task() noexcept {
    const quern::detail::worker* const here = quern::detail::current_worker();
    return here != nullptr && here->stats().phase() == worker_phase::running;
}

}  // namespace

job::job(runtime& parcels_run_in)
    : m_pool(parcels_run_in.default_pool()), m_port(*this, k_message_bytes, k_receives) {
    for (int other = 0; other < count(); ++other) {
        m_links.push_back(std::make_unique<link>(m_port, m_store, other));
    }
}

void job::meet() noexcept {
    std::array<std::uint64_t, 1> ranks{1};
    m_port.sum(ranks);
}

job::~job() = default;

void job::has_received(int from, std::span<const std::byte> bytes) noexcept {
    QUERN_ASSERT(bytes.size() >= sizeof(message_header), "a message without a header");
    message_header header{};
    std::memcpy(&header, bytes.data(), sizeof header);
    m_messages_received.fetch_add(1, std::memory_order_relaxed);
    m_bytes_received.fetch_add(bytes.size(), std::memory_order_relaxed);
    link_to(from).has_credits(header.credits);
    const auto parcels = bytes.subspan(sizeof header);
    if (parcels.empty()) {
        has_ended(1);
    } else {
        detail::run_parcels(*this, m_pool.get(), from, header.first,
                            parcels);  // until message_has_run
    }
}

/// First lets others run, then sleeps: the receiver may need this core.
void job::wait_for_room(int to) noexcept {
    const link& way = link_to(to);
    for (int turns = 0; way.queued() > k_most_queued; ++turns) {
        m_port.look();
        const bool yields = turns < k_yields;
        if (is_in_task()) {
            yields ? quern::this_task::yield() : quern::this_task::sleep_for(k_room_pause);
        } else if (yields) {
            ::sched_yield();
        } else {
            std::this_thread::sleep_for(k_room_pause);
        }
    }
}

std::uint64_t job::begun() const noexcept {
    std::uint64_t all = m_counts.begun();
    for (const auto& each : m_links) {
        all += each->begun();
    }
    return all;
}

job_totals& job_totals::operator+=(const job_totals& other) noexcept {
    parcels_sent += other.parcels_sent;
    parcels_run += other.parcels_run;
    coalesced += other.coalesced;
    chunks += other.chunks;
    messages_sent += other.messages_sent;
    messages_received += other.messages_received;
    calls_waiting += other.calls_waiting;
    bytes_sent += other.bytes_sent;
    bytes_received += other.bytes_received;
    objects.made += other.objects.made;
    objects.sent += other.objects.sent;
    objects.missed += other.objects.missed;
    objects.sent_on += other.objects.sent_on;
    objects.moved += other.objects.moved;
    return *this;
}

job_totals job::totals() const noexcept {
    job_totals all;
    std::uint64_t alone = 0;
    for (const auto& each : m_links) {
        const link_counts counts = each->counts();
        all.parcels_sent += counts.parcels;
        all.messages_sent += counts.messages;
        all.bytes_sent += counts.bytes;
        all.chunks += counts.chunks;
        alone += counts.messages - counts.credits_only;
        alone += each->queued();
    }
    all.coalesced = all.parcels_sent - std::min(alone, all.parcels_sent);
    all.parcels_run = m_parcels_run.load(std::memory_order_relaxed);
    all.messages_received = m_messages_received.load(std::memory_order_relaxed);
    all.calls_waiting = m_calls.waiting();
    all.bytes_received = m_bytes_received.load(std::memory_order_relaxed);
    all.objects = m_objects.totals();
    return all;
}

void job::say_what_is_pinned() const noexcept {
    if (const int pins = m_pins.load(std::memory_order_relaxed); pins != 0) {
        std::fprintf(stderr,
                     "quern: locality %d has waited for %lld s at the end of the session for %d "
                     "pinned object%s, of object::pin() or here_or_null(), which must end before "
                     "the session\n",
                     here(), static_cast<long long>(k_patience_at_end.count()), pins,
                     pins == 1 ? "" : "s");
    }
}

void job::end() noexcept {
    end_rule rule;
    auto pause = k_first_pause;
    const auto begun_at = std::chrono::steady_clock::now();
    bool has_waited = false;
    for (;;) {
        std::array<std::uint64_t, 2> sums{begun(), m_counts.ended()};
        m_port.sum(sums);
        if (rule.has_ended(sums[0], sums[1])) {
            break;
        }
        if (!has_waited && std::chrono::steady_clock::now() - begun_at > k_patience_at_end) {
            has_waited = true;
            say_what_is_pinned();
        }
        pause = rule.has_changed() ? k_first_pause : std::min(2 * pause, k_longest_pause);
        std::this_thread::sleep_for(pause);
    }
    m_has_closed.store(true, std::memory_order_relaxed);
    m_objects.detach();
    m_port.close();
    m_names.clear();
    m_communicators.clear();
    m_objects.end_all();
}

}  // namespace quern::localities::detail
