// SPDX-License-Identifier: BSL-1.0
// What the requests of this rank stand for: MPI does not tell what an MPI_Wait waits for. For the
// report on a job that hangs, and kept only while the job is watched (job_watch.hpp).
#pragma once

#include "known_comms.hpp"
#include "operation.hpp"

#include <quern/base/detail/spin_lock.hpp>

#include <mpi.h>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace quern::mpi::detail {

/// Thread safe.
class open_requests {
public:
    static open_requests& of_process() noexcept;

    /// Whether there are any. Relaxed: for the caller's own requests.
    static bool any() noexcept { return s_count.load(std::memory_order_relaxed) != 0; }

    /// Calls MPI.
    void add(MPI_Request made, const call_note& what) noexcept;
    /// Of the call that has given it; 0: not known. The library may use a request again as soon as
    /// it has ended.
    std::uint64_t serial_of(MPI_Request request) noexcept;
    /// Unless it is that of a later call by now.
    void remove(MPI_Request ended, std::uint64_t serial) noexcept;

    std::optional<shared_note> find(MPI_Request request) noexcept;
    std::vector<std::pair<MPI_Request, shared_note>> all();

private:
    struct entry {
        MPI_Request request;
        shared_note note;
        std::uint64_t serial;
    };

    static std::atomic<std::size_t> s_count;

    quern::detail::spin_lock m_lock;
    std::unordered_map<std::uint64_t, entry> m_all;
    std::uint64_t m_last_serial = 0;
};

/// Around a call that may end requests: afterwards those that it has ended are not open any more.
class ended_requests {
public:
    explicit ended_requests(const MPI_Request* requests, int count = 1) noexcept : m_now(requests) {
        if (open_requests::any()) [[unlikely]] {
            remember(count);
        }
    }
    ended_requests(const ended_requests&) = delete;
    ended_requests& operator=(const ended_requests&) = delete;
    ~ended_requests() {
        if (!m_before.empty()) [[unlikely]] {
            forget();
        }
    }

private:
    void remember(int count) noexcept;
    void forget() noexcept;

    const MPI_Request* m_now;
    std::vector<std::pair<MPI_Request, std::uint64_t>> m_before;  ///< with their serials
};

}  // namespace quern::mpi::detail
