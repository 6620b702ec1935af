// SPDX-License-Identifier: BSL-1.0
// Writing to stdout, stderr or a file, and saying what was lost.
#include "destination.hpp"

#include "tables.hpp"

#include <quern/topology/system_root.hpp>

#include <cerrno>
#include <utility>

namespace quern::counters::detail {

namespace {

void complain(const std::string& path, int error, const std::string& what) {
    std::fprintf(stderr, "quern: print-counter-destination is '%s': %s; %s\n", path.c_str(),
                 topology::errno_text(error).c_str(), what.c_str());
}

}  // namespace

destination::destination(std::string path, bool replace)
    : m_path(std::move(path)), m_replace(replace) {
    if (m_path == "none") {
        m_open = false;
        return;
    }
    if (m_path == "stdout" || m_path == "stderr") {
        m_replace = false;
        return;
    }
    // A second runtime of the process goes on where the first one has ended.
    m_file.reset(std::fopen(m_path.c_str(), is_first_use(m_path) ? "we" : "ae"));
    if (m_file == nullptr) {
        complain(m_path, errno, "the counters of this runtime are not written");
        m_open = false;
    }
    if (m_replace) {
        m_file.reset();
    }
}

destination::~destination() {
    if (m_lost != 0) {
        complain(m_path, m_error,
                 m_lost == 1 ? "a print of counters is lost"
                             : std::to_string(m_lost) + " prints of counters are lost");
    }
}

bool destination::write_to(std::FILE* file, const std::string& text) noexcept {
    return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

/// Whoever reads the file meanwhile sees the old or the new one.
bool destination::write_anew(const std::string& text) noexcept {
    const std::string beside = m_path + ".new";
    const std::unique_ptr<std::FILE, closer> file(std::fopen(beside.c_str(), "we"));
    return file != nullptr && write_to(file.get(), text) &&
           std::rename(beside.c_str(), m_path.c_str()) == 0;
}

std::string destination::in_words() const {
    return (m_path == "stdout" || m_path == "stderr" ? "on " : "in ") + m_path;
}

void destination::write(const std::string& text) noexcept {
    if (!m_open) {
        return;
    }
    std::FILE* const file = m_path == "stdout"   ? stdout
                            : m_path == "stderr" ? stderr
                                                 : m_file.get();
    errno = 0;
    if (!(m_replace ? write_anew(text) : write_to(file, text)) && m_lost++ == 0) {
        m_error = errno;
    }
}

}  // namespace quern::counters::detail
