// SPDX-License-Identifier: BSL-1.0
// Where a runtime prints its counters. What cannot be written is told on stderr, and the run goes
// on.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

namespace quern::counters::detail {

class destination {
public:
    /// `path` is stdout, stderr, none or a file; that a file cannot be opened is told at once. With
    /// `replace` each write replaces what is in the file.
    destination(std::string path, bool replace);
    ~destination();
    destination(const destination&) = delete;
    destination& operator=(const destination&) = delete;

    /// False: nothing would be written, so nothing need be read.
    bool is_open() const noexcept { return m_open; }
    void write(const std::string& text) noexcept;
    /// "in counters.csv", "on stdout".
    std::string in_words() const;

private:
    struct closer {
        void operator()(std::FILE* file) const noexcept { std::fclose(file); }
    };

    bool write_to(std::FILE* file, const std::string& text) noexcept;
    bool write_anew(const std::string& text) noexcept;

    std::string m_path;
    bool m_replace;
    bool m_open = true;
    unsigned m_lost = 0;  ///< writes that failed
    int m_error = 0;      ///< of the first of them
    std::unique_ptr<std::FILE, closer> m_file;
};

}  // namespace quern::counters::detail
