// SPDX-License-Identifier: BSL-1.0
// Writing to stdout, stderr or a file, and reporting lost output.
#include "print/destination.hpp"

#include "core/tables.hpp"

#include <quern/base/detail/output_place.hpp>
#include <quern/topology/system_root.hpp>

#include <cerrno>
#include <new>
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
    // A second runtime of the process appends to the output of the first.
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

/// A concurrent reader sees the old or the new file.
bool destination::write_anew(const std::string& text) noexcept {
    try {
        replacement anew(m_path);
        std::unique_ptr<std::FILE, closer> file(std::fopen(anew.path().c_str(), "we"));
        return file != nullptr && write_to(file.get(), text) && std::fclose(file.release()) == 0 &&
               anew.put();
    } catch (const std::bad_alloc&) {
        errno = ENOMEM;
        return false;
    }
}

std::string destination::in_words() const { return place_in_words(m_path); }

void destination::write(const std::string& text) noexcept {
    if (!m_open) {
        return;
    }
    std::FILE* const stream = standard_stream(m_path);
    std::FILE* const file = stream != nullptr ? stream : m_file.get();
    errno = 0;
    if (!(m_replace ? write_anew(text) : write_to(file, text)) && m_lost++ == 0) {
        m_error = errno;
    }
}

}  // namespace quern::counters::detail
