// SPDX-License-Identifier: BSL-1.0
// What a locality has while its session lives: the port to the others, a link to each, the calls
// that wait for answers, and the counts by which the job ends. Protocol: README.md.
#pragma once

#include "arrivals.hpp"
#include "calls.hpp"
#include "communicators.hpp"
#include "links.hpp"
#include "modules.hpp"
#include "names.hpp"
#include "objects.hpp"
#include "stop_requests.hpp"

#include <quern/base/detail/atomics.hpp>
#include <quern/localities/detail/end_of_job.hpp>
#include <quern/localities/detail/parcel.hpp>
#include <quern/mpi/detail/message_port.hpp>
#include <quern/scheduler/runtime.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace quern::localities::detail {

/// What the counters show.
struct job_totals {
    std::uint64_t parcels_sent = 0;
    std::uint64_t parcels_run = 0;
    std::uint64_t coalesced = 0;
    std::uint64_t chunks = 0;
    std::uint64_t messages_sent = 0;
    std::uint64_t messages_received = 0;
    std::uint64_t calls_waiting = 0;
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_received = 0;
    object_totals objects{};

    job_totals& operator+=(const job_totals& other) noexcept;
};
/// Of all sessions of the process.
job_totals totals_of_job() noexcept;

class job final : mpi::detail::port_user {
public:
    /// Collective. Requires: MPI is initialised.
    explicit job(runtime& parcels_run_in);
    ~job();
    job(const job&) = delete;
    job& operator=(const job&) = delete;

    int here() const noexcept { return m_port.rank(); }
    int count() const noexcept { return m_port.size(); }
    pool_ref pool() const noexcept { return m_pool; }
    const module_table& modules() const noexcept { return m_modules; }
    call_table& calls() noexcept { return m_calls; }
    stoppable_calls& stoppable() noexcept { return m_stoppable; }
    object_table& objects() noexcept { return m_objects; }
    name_table& names() noexcept { return m_names; }
    communicator_table& communicators() noexcept { return m_communicators; }
    link& link_to(int other) noexcept { return *m_links[static_cast<std::size_t>(other)]; }
    mpi::detail::message_port& port() noexcept { return m_port; }

    /// Returns when all ranks have called it: none posts before all are able to run parcels.
    void meet() noexcept;

    /// Posts a parcel: its bytes, and its chunks and stop tokens if there are any.
    void post(int to, code_place code, std::uint64_t call, outgoing_parcel&& parcel);
    /// The same of a parcel without chunks.
    void post(int to, code_place code, std::uint64_t call, std::span<const std::byte> bytes) {
        if (bytes.size() > k_most_bytes) [[unlikely]] {
            post_apart(to, code, call, bytes);
            return;
        }
        link_to(to).post({.size = static_cast<std::uint32_t>(bytes.size()),
                          .chunk = 0,
                          .code = code,
                          .call = call},
                         bytes);
    }
    /// For the program, before it posts: waits while too much is queued for that locality.
    void wait_for_room(int to) noexcept;

    /// A local call has begun; parcels and messages are counted by their links. What has ended:
    /// local calls, parcels that have run, messages of which all parcels have begun.
    void has_begun(std::uint64_t count) noexcept { m_counts.has_begun(count); }
    void has_ended(std::uint64_t count) noexcept { m_counts.has_ended(count); }

    /// An object is used in place, which is also a local call.
    void pin() noexcept { m_pins.fetch_add(1, std::memory_order_relaxed); }
    void unpin() noexcept { m_pins.fetch_sub(1, std::memory_order_relaxed); }

    void parcels_have_run(std::uint64_t count) noexcept {
        m_parcels_run.fetch_add(count, std::memory_order_relaxed);
        has_ended(count);
    }
    void has_received_chunk(std::uint64_t bytes) noexcept {
        m_bytes_received.fetch_add(bytes, std::memory_order_relaxed);
    }
    job_totals totals() const noexcept;

    /// Nothing can be posted any more.
    bool has_closed() const noexcept { return m_has_closed.load(std::memory_order_relaxed); }

    /// Returns when the whole job has nothing to do. Collective. README.md, section "The end".
    void end() noexcept;
    /// For an exception that ends this rank.
    void abandon() noexcept { m_port.abandon(); }

private:
    /// Largest number of bytes of a parcel that travels in a message. A parcel's size is rounded up
    /// to a multiple of 8; all others here are.
    static constexpr std::size_t k_most_bytes =
        k_message_bytes - sizeof(message_header) - sizeof(parcel_header);
    static_assert(k_most_bytes % 8 == 0);

    std::uint64_t lend_tokens(int to, std::uint64_t call, token_list&& tokens);
    void post_apart(int to, code_place code, std::uint64_t call, std::span<const std::byte> bytes);
    void send_apart(link& way, parcel_header header, std::vector<std::byte>&& bytes,
                    const chunk_list& chunks, std::unique_ptr<kept_values> kept);
    void has_received(int from, std::span<const std::byte> bytes) noexcept override;
    std::uint64_t begun() const noexcept;
    void say_what_is_pinned() const noexcept;

    pool_ref m_pool;
    module_table m_modules;
    message_store m_store;
    call_table m_calls;
    stoppable_calls m_stoppable;
    object_table m_objects{*this};
    name_table m_names;
    communicator_table m_communicators{*this};
    work_counts<quern::detail::std_atomics> m_counts;  ///< what links have begun is in the links
    std::atomic<bool> m_has_closed{false};
    std::atomic<int> m_pins{0};
    std::atomic<std::uint64_t> m_parcels_run{0};
    std::atomic<std::uint64_t> m_messages_received{0};
    std::atomic<std::uint64_t> m_bytes_received{0};
    std::vector<std::unique_ptr<link>> m_links;
    mpi::detail::message_port m_port;  ///< last: it receives at once
};

}  // namespace quern::localities::detail
