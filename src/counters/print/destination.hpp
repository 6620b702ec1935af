// SPDX-License-Identifier: BSL-1.0
// The output of a runtime's counters. Write errors are reported on stderr and do not stop the run.
// In an MPI job all ranks may have one path: then they append to the file, each block by one write,
// and rank 0 says so. Ranks after the first open it when they write.
#pragma once

#include <cstdio>
#include <string>

namespace quern::counters::detail {

class destination {
public:
    /// `path` is stdout, stderr, none or a file; a file that cannot be opened is reported at once.
    /// With `replace` each write replaces the content of the file.
    destination(std::string path, bool replace);
    ~destination();
    destination(const destination&) = delete;
    destination& operator=(const destination&) = delete;

    /// False: nothing would be written, so readings are not needed.
    bool is_open() const noexcept { return m_open; }
    /// `is_for_job`: only this process writes, for all.
    void write(const std::string& text, bool is_for_job) noexcept;
    /// "in counters.csv", "on stdout".
    std::string in_words() const;

private:
    bool open() noexcept;
    bool is_ready(bool is_for_job) noexcept;
    void say_that_all_write() const noexcept;
    bool write_anew(const std::string& text) noexcept;

    std::string m_path;
    bool m_replace;
    bool m_open = true;
    bool m_is_shared = false;  ///< with the other ranks
    bool m_is_first = false;   ///< of the process at this path
    bool m_has_written = false;
    unsigned m_lost = 0;  ///< failed writes
    int m_error = 0;      ///< of the first failed write
    int m_file = -1;
};

}  // namespace quern::counters::detail
