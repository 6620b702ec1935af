// SPDX-License-Identifier: BSL-1.0
// `quern top` of a job: a line for each of its ranks on this machine.
#pragma once

#include "live/program.hpp"
#include "top/subject.hpp"
#include "top/watch.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace quern::tool {

/// What a rank did, over all its pools.
struct top_rank {
    int rank = 0;
    unsigned workers = 0;
    unsigned active_workers = 0;
    std::uint64_t queued = 0;
    std::uint64_t suspended = 0;
    top_rates rates;
    top_frame frame;
};

struct top_job_frame {
    int ranks = 0;  ///< of the whole job
    std::vector<top_rank> shown;
};

/// Shows the ranks that have a runtime; cannot_ask is thrown when none has one any more.
class top_job final : public top_subject {
public:
    /// Requires: ranks of one job.
    explicit top_job(const std::vector<found_program>& ranks);

    void look() override;
    void renew() override;
    std::vector<std::string> lines(top_order order, std::size_t width) const override;
    std::string as_json() const override;

private:
    struct watched {
        int rank;
        pid_t number;
        std::unique_ptr<top_watch> watch;
    };
    void add(pid_t number, int rank);
    void add_new_ones();
    template <class F>
    void for_each_rank(F f);

    const pid_t m_starter;
    std::vector<watched> m_watched{};
    top_job_frame m_frame{};
};

}  // namespace quern::tool
