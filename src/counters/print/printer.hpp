// SPDX-License-Identifier: BSL-1.0
// Prints the counters of one runtime as its settings say: at its start, at its end, in between.
#pragma once

#include "print/destination.hpp"
#include "print/job_reader.hpp"

#include <quern/counters/counter.hpp>
#include <quern/counters/format.hpp>
#include <quern/scheduler/detail/exit_action.hpp>
#include <quern/scheduler/detail/periodic_call.hpp>
#include <quern/settings/settings.hpp>

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quern::counters::detail {

/// The patterns of the settings print-counter and trace-counters.
std::vector<std::string> patterns_of(std::string_view setting);

class printer {
public:
    /// Counts from now on. Says on stderr which counters this runtime has not, and leaves them out.
    printer(const runtime& of, const settings& chosen);

    /// The last reading, if that is wanted; none at intervals any more. Thread safe, as is finish:
    /// the process may be interrupted while the runtime ends.
    void stop() noexcept;
    /// Prints it.
    void finish() noexcept { m_finishes->perform(); }

    /// See job_printing.hpp.
    bool prints() const noexcept { return m_to.is_open() && m_set.size() != 0; }
    void print_for_job(int localities, job_reader::function read) noexcept;
    void end_intervals() noexcept;
    void print_at_end(std::optional<snapshot> last) noexcept;
    snapshot read_for_job(int locality);

private:
    std::string print_last() noexcept;
    void print(const snapshot& read);
    void print_now() noexcept;
    void add(const std::string& pattern);
    snapshot read_own(int locality);
    snapshot read_alone();

    print_format m_format;
    bool m_at_end;
    destination m_to;
    counter_set m_set;
    const bool m_in_job;                    ///< with other processes, whose patterns these are too
    std::vector<std::string> m_localities;  ///< of each counter of the set; empty: of all
    unsigned m_sequence = 0;
    job_reader m_reader;
    std::optional<snapshot> m_last;  ///< read at the end, and not yet printed
    std::mutex m_stopping;
    bool m_stopped = false;
    std::optional<quern::detail::periodic_call> m_prints;  ///< uses the members above
    std::optional<quern::detail::exit_action> m_finishes;
};

}  // namespace quern::counters::detail
