// SPDX-License-Identifier: BSL-1.0
// Writing to stdout, stderr or a file, and reporting lost output.
#include "print/destination.hpp"

#include "core/tables.hpp"

#include <quern/base/detail/output_place.hpp>
#include <quern/settings/detail/job.hpp>
#include <quern/topology/system_root.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <new>
#include <string_view>
#include <utility>

namespace quern::counters::detail {

using quern::detail::is_special;
using quern::detail::place_in_words;
using quern::detail::replacement;
using quern::detail::standard_stream;

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
    if (standard_stream(m_path) != nullptr || is_special(m_path)) {
        m_replace = false;
    }
    if (standard_stream(m_path) != nullptr) {
        return;
    }
    const bool is_in_job = quern::detail::ranks_of_job() > 1;
    m_is_shared = is_in_job && !is_special(m_path) && !quern::detail::is_of_one_rank(m_path);
    m_is_first = is_first_use(m_path);
    if (is_in_job && quern::detail::rank_in_job() != "0") {
        return;  // perhaps rank 0 writes for all
    }
    m_open = open();
    if (m_replace && m_file != -1) {
        ::close(std::exchange(m_file, -1));
    }
}

destination::~destination() {
    if (m_file != -1) {
        ::close(m_file);
    }
    if (m_lost != 0) {
        complain(m_path, m_error,
                 m_lost == 1 ? "a print of counters is lost"
                             : std::to_string(m_lost) + " prints of counters are lost");
    }
}

/// A second runtime of the process appends to the output of the first.
bool destination::open() noexcept {
    const int anew = m_is_first && !m_is_shared ? O_TRUNC : 0;
    m_file = ::open(m_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | anew, 0666);
    if (m_file == -1) {
        complain(m_path, errno, "the counters of this runtime are not written");
    }
    return m_file != -1;
}

/// Before the file is written to.
bool destination::is_ready(bool is_for_job) noexcept {
    if (!m_replace && m_file == -1 && !open()) {
        m_open = false;
        return false;
    }
    if (!m_is_shared || std::exchange(m_has_written, true)) {
        return true;
    }
    if (!is_for_job) {
        say_that_all_write();
    } else if (m_is_first && !m_replace && ::ftruncate(m_file, 0) != 0) {
        complain(m_path, errno, "it keeps what was in it");
    }
    return true;
}

namespace {

constinit std::atomic<bool> g_all_said{false};

bool write_to(std::FILE* file, const std::string& text) noexcept {
    return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

/// By one write, so that blocks of several processes do not mix.
bool write_to(int file, std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t written = ::write(file, text.data(), text.size());
        if (written == -1 && errno != EINTR) {
            return false;
        }
        text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
    return true;
}

}  // namespace

void destination::say_that_all_write() const noexcept {
    if (quern::detail::rank_in_job() == "0" && !g_all_said.exchange(true)) {
        std::fprintf(stderr,
                     "quern: print-counter-destination is '%s': each of the %lu ranks of this job "
                     "%s; %%r in the path gives each rank a file of its own\n",
                     m_path.c_str(), quern::detail::ranks_of_job(),
                     m_replace ? "replaces that file" : "appends to that file");
    }
}

/// A concurrent reader sees the old or the new file.
bool destination::write_anew(const std::string& text) noexcept {
    try {
        replacement anew(m_path);
        std::FILE* const file = std::fopen(anew.path().c_str(), "we");
        if (file == nullptr) {
            return false;
        }
        const bool is_written = write_to(file, text);
        return std::fclose(file) == 0 && is_written && anew.put();
    } catch (const std::bad_alloc&) {
        errno = ENOMEM;
        return false;
    }
}

std::string destination::in_words() const { return place_in_words(m_path); }

void destination::write(const std::string& text, bool is_for_job) noexcept {
    if (!m_open) {
        return;
    }
    std::FILE* const stream = standard_stream(m_path);
    if (stream == nullptr && !is_ready(is_for_job)) {
        return;
    }
    errno = 0;
    const bool is_written = stream != nullptr ? write_to(stream, text)
                            : m_replace       ? write_anew(text)
                                              : write_to(m_file, text);
    if (!is_written && m_lost++ == 0) {
        m_error = errno;
    }
}

}  // namespace quern::counters::detail
