// SPDX-License-Identifier: BSL-1.0
// Who reads what a printer prints: its process, or, in a session of localities, the root for all.
// Thread safe.
#pragma once

#include <quern/counters/counter.hpp>

#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

namespace quern::counters::detail {

class job_reader {
public:
    using function = std::function<snapshot()>;

    /// From now on `read` reads for the job; empty: another process does, and prints.
    void begin(function read) {
        const std::scoped_lock lock(m_lock);
        m_reader = read ? reader::root : reader::another;
        m_read = std::move(read);
    }
    /// The job has ended: what is still to be printed has been read.
    void end() {
        const std::scoped_lock lock(m_lock);
        m_reader = reader::ended;
        m_read = nullptr;
    }

    bool is_alone() const noexcept { return now() == reader::process; }
    /// Whether the process reads its own last values: also if the job has not come to its end.
    bool reads_own_last() const noexcept {
        const reader who = now();
        return who == reader::process || who == reader::root;
    }
    /// What reads now; empty: nothing is read here.
    function reading(function own) const {
        const std::scoped_lock lock(m_lock);
        return m_reader == reader::process ? std::move(own) : m_read;
    }

private:
    enum class reader : std::uint8_t { process, root, another, ended };

    reader now() const noexcept {
        const std::scoped_lock lock(m_lock);
        return m_reader;
    }

    mutable std::mutex m_lock;
    reader m_reader = reader::process;
    function m_read;  ///< of the root
};

}  // namespace quern::counters::detail
