// SPDX-License-Identifier: BSL-1.0
// The output of a runtime's counters. Write errors are reported on stderr and do not stop the run.
#pragma once

#include <cstdio>
#include <memory>
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
    unsigned m_lost = 0;  ///< failed writes
    int m_error = 0;      ///< of the first failed write
    std::unique_ptr<std::FILE, closer> m_file;
};

}  // namespace quern::counters::detail
