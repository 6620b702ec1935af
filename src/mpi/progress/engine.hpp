// SPDX-License-Identifier: BSL-1.0
// The one place from which MPI is called while a runtime lives: the entrance, the table of requests
// that tasks wait for, and the look at them. Protocol and proof: README.md of the layer.
#pragma once

#include "progress/operation.hpp"

#include <quern/base/detail/function_ref.hpp>
#include <quern/base/detail/relaxed.hpp>

#include <mpi.h>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quern::mpi::detail {

/// Since the process began. Written inside the entrance.
struct engine_counts {
    quern::detail::relaxed<std::uint64_t> polls = 0;
    quern::detail::relaxed<std::uint64_t> polls_in_vain = 0;
    quern::detail::relaxed<std::uint64_t> waited = 0;  ///< operations that did not end at once
    quern::detail::relaxed<std::uint64_t> ended = 0;   ///< of these
};

class engine {
public:
    static engine& of_process() noexcept;

    /// Whether calls must use the entrance: a runtime lives. Else MPI is called directly.
    bool is_shared() const noexcept { return m_runtimes.load(std::memory_order_acquire) != 0; }
    void runtime_begins() noexcept { m_runtimes.fetch_add(1, std::memory_order_acq_rel); }
    void runtime_ends() noexcept { m_runtimes.fetch_sub(1, std::memory_order_acq_rel); }
    /// As runtime_begins() if a runtime lives; else false.
    bool share_further() noexcept;

    /// Runs an operation of the caller and returns its code when it has ended. Suspends a task;
    /// another thread sleeps.
    int run(waiting_operation& one) noexcept;

    /// Begins an operation that tells others; it may have been destroyed when this returns.
    void start(operation& one) noexcept;

    /// Looks at what is outstanding, and tells what has ended, unless another thread is inside.
    /// True: something has ended.
    bool look() noexcept;

    /// Operations begun that have not ended, "MPI_Recv from rank 1 ...; ...". For reports. Waits up
    /// to 20 ms for the entrance; without it, names the call in which another thread is, if known.
    /// `of`: those of that poller only; null: all.
    std::string describe_outstanding(const pool_poller* of = nullptr) noexcept;

    using visit_function = quern::detail::function_ref<void(
        std::span<operation* const> with_request, std::span<operation* const> attempted)>;
    /// An error that ends the job is raised: names the calls that have failed. By an error handler,
    /// in the entrance.
    void say_failed(int code) noexcept;

    /// Where MPI has called a function of the program: `call`, or, if that is null, the calls whose
    /// ends a look may find, "MPI_Allreduce, MPI_Reduce". By the holder of the entrance, or while
    /// it does not run.
    std::string describe_inside(const char* call) const;

    /// Calls f with all that has begun and not ended, in the entrance; f may call MPI. Waits up to
    /// 20 ms for the entrance, else returns false. Requires: is_shared().
    bool visit(visit_function f) noexcept;

    const engine_counts& counts() const noexcept { return m_counts; }
    std::uint64_t outstanding() const noexcept {
        return m_outstanding.load(std::memory_order_relaxed);
    }

private:
    /// What has ended, to be told outside the entrance; the oldest first.
    class ended_list;

    bool begin_inside(operation& one) noexcept;
    void begin(operation& one, ended_list& ended) noexcept;
    void add(operation& one) noexcept;
    void leave(ended_list& ended) noexcept;
    bool enter_for_report() noexcept;
    void look_at_requests(ended_list& ended);
    void look_at_attempts(ended_list& ended);

    std::atomic<int> m_runtimes{0};
    std::atomic<std::uint64_t> m_outstanding{0};
    entrance_type m_entrance;
    // The rest is the holder's.
    std::vector<MPI_Request> m_requests;  ///< `m_owners[i]` ends with `m_requests[i]`
    std::vector<operation*> m_owners;
    std::vector<operation*> m_attempts;
    operation* m_current = nullptr;  ///< begun or looked at alone
    std::size_t m_next = 0;          ///< the request at which the next look begins
    std::size_t m_next_attempt = 0;  ///< the same in m_attempts
    // Of a test of several requests; read by an error handler in it.
    std::size_t m_tested = 0;  ///< the first one
    int m_found = 0;
    std::vector<int> m_indices;
    std::vector<MPI_Status> m_statuses;
    engine_counts m_counts;
};

/// A function that returns without waiting for other ranks.
inline int run_plain(const call_note& what, plain_operation::call_function call) noexcept {
    plain_operation one(what, call);
    return engine::of_process().run(one);
}

}  // namespace quern::mpi::detail
