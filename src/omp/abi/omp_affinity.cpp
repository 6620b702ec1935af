// SPDX-License-Identifier: BSL-1.0
// Functions omp_* that describe threads in a format, and those about leagues of teams.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "abi/league.hpp"
#include "core/settings.hpp"
#include "core/team.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

using namespace quern::omp;

namespace quern::omp {

league_values& values_of_leagues() {
    static league_values* const values = new league_values;  // outlives exit()
    return *values;
}

}  // namespace quern::omp

namespace {

struct shared_format {
    std::mutex lock;
    std::string text = the_settings().affinity_format;
};

shared_format& the_format() {
    static shared_format* const format = new shared_format;  // outlives exit()
    return *format;
}

std::string copy_of_format() {
    shared_format& format = the_format();
    const std::lock_guard held(format.lock);
    return format.text;
}

void set_format(std::string_view to) {
    shared_format& format = the_format();
    const std::lock_guard held(format.lock);
    format.text = to;
}

/// The processors of the calling thread, such as 0-3,8.
std::string processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    ::sched_getaffinity(0, sizeof set, &set);
    std::string text;
    for (int i = 0; i < CPU_SETSIZE; ++i) {
        if (!CPU_ISSET(i, &set)) {
            continue;
        }
        int last = i;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) {
            ++last;
        }
        text += (text.empty() ? "" : ",") + std::to_string(i);
        if (last != i) {
            text += "-" + std::to_string(last);
        }
        i = last;
    }
    return text;
}

std::string host() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

int number_of_ancestor() noexcept {
    const member* const outside = this_member().of->creator;
    return outside != nullptr ? static_cast<int>(outside->number) : -1;
}

/// The value of a field; its short name, one letter. Empty: there is no such field.
std::string value_of(char field) {
    const member& here = this_member();
    switch (field) {
        case 't':
            return std::to_string(root_team().league_number);
        case 'T':
            return std::to_string(root_team().league_size);
        case 'L':
            return std::to_string(here.of->level);
        case 'n':
            return std::to_string(here.number);
        case 'N':
            return std::to_string(here.of->size);
        case 'a':
            return std::to_string(number_of_ancestor());
        case 'H':
            return host();
        case 'P':
            return std::to_string(::getpid());
        case 'i':
            return std::to_string(::gettid());
        case 'A':
            return processors();
        default:
            return {};
    }
}

char short_name(std::string_view name) noexcept {
    struct pair {
        std::string_view name;
        char letter;
    };
    static constexpr pair k_names[] = {
        {"team_num", 't'},       {"num_teams", 'T'},   {"nesting_level", 'L'},
        {"thread_num", 'n'},     {"num_threads", 'N'}, {"ancestor_tnum", 'a'},
        {"host", 'H'},           {"process_id", 'P'},  {"native_thread_id", 'i'},
        {"thread_affinity", 'A'}};
    for (const pair& each : k_names) {
        if (each.name == name) {
            return each.letter;
        }
    }
    return '?';
}

/// A field after its '%': `[0][.][width]letter` or `[0][.][width]{name}`. Removes it from the text.
std::string expand_field(std::string_view& rest) {
    bool has_zeros = false;
    bool is_right = false;
    std::size_t width = 0;
    if (!rest.empty() && rest.front() == '0') {
        has_zeros = true;
        rest.remove_prefix(1);
    }
    if (!rest.empty() && rest.front() == '.') {
        is_right = true;
        rest.remove_prefix(1);
    }
    while (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest.front())) != 0) {
        width =
            std::min<std::size_t>(width * 10 + static_cast<std::size_t>(rest.front() - '0'), 4096);
        rest.remove_prefix(1);
    }
    if (rest.empty()) {
        return "undefined";
    }
    char letter = rest.front();
    std::size_t used = 1;
    if (letter == '{') {
        const std::size_t end = rest.find('}');
        letter = short_name(rest.substr(1, end == std::string_view::npos ? end : end - 1));
        used = end == std::string_view::npos ? rest.size() : end + 1;
    }
    rest.remove_prefix(used);
    std::string value = value_of(letter);
    if (value.empty()) {
        value = "undefined";
    }
    const std::size_t missing = width > value.size() ? width - value.size() : 0;
    const bool is_number = letter != 'H' && letter != 'A';
    if (!is_right) {
        return value + std::string(missing, ' ');
    }
    if (has_zeros && is_number && value.front() == '-') {
        return "-" + std::string(missing, '0') + value.substr(1);
    }
    return std::string(missing, has_zeros && is_number ? '0' : ' ') + value;
}

/// The format with the values of the calling thread; an empty one is that of the process.
std::string expand(std::string_view format) {
    const std::string own = format.empty() ? copy_of_format() : std::string(format);
    std::string text;
    for (std::string_view rest = own; !rest.empty();) {
        const char next = rest.front();
        rest.remove_prefix(1);
        if (next != '%') {
            text += next;
        } else if (!rest.empty() && rest.front() == '%') {
            text += '%';
            rest.remove_prefix(1);
        } else {
            text += expand_field(rest);
        }
    }
    return text;
}

/// With a zero at the end, as far as there is room. Returns the length of the whole.
std::size_t put(std::string_view text, char* buffer, std::size_t size) noexcept {
    if (size != 0) {
        const std::size_t length = std::min(text.size(), size - 1);
        std::memcpy(buffer, text.data(), length);
        buffer[length] = '\0';
    }
    return text.size();
}

/// As Fortran has strings: filled with blanks.
std::int32_t put_blanks(std::string_view text, char* buffer, std::size_t size) noexcept {
    const std::size_t length = std::min(text.size(), size);
    std::memcpy(buffer, text.data(), length);
    std::memset(buffer + length, ' ', size - length);
    return static_cast<std::int32_t>(text.size());
}

std::string_view without_blanks(const char* text, std::size_t size) noexcept {
    std::string_view view(text, size);
    while (!view.empty() && view.back() == ' ') {
        view.remove_suffix(1);
    }
    return view;
}

std::string_view or_empty(const char* text) noexcept { return text != nullptr ? text : ""; }

void display(std::string_view format) { std::fprintf(stderr, "%s\n", expand(format).c_str()); }

}  // namespace

QUERN_OMP_ENTRY void omp_set_affinity_format(const char* format) { set_format(or_empty(format)); }
QUERN_OMP_ENTRY std::size_t omp_get_affinity_format(char* buffer, std::size_t size) {
    return put(copy_of_format(), buffer, size);
}
QUERN_OMP_ENTRY void omp_display_affinity(const char* format) { display(or_empty(format)); }
QUERN_OMP_ENTRY std::size_t omp_capture_affinity(char* buffer, std::size_t size,
                                                 const char* format) {
    return put(expand(or_empty(format)), buffer, size);
}

QUERN_OMP_ENTRY void omp_set_affinity_format_(const char* format, std::size_t length) {
    set_format(without_blanks(format, length));
}
QUERN_OMP_ENTRY std::int32_t omp_get_affinity_format_(char* buffer, std::size_t size) {
    return put_blanks(copy_of_format(), buffer, size);
}
QUERN_OMP_ENTRY void omp_display_affinity_(const char* format, std::size_t length) {
    display(without_blanks(format, length));
}
QUERN_OMP_ENTRY std::int32_t omp_capture_affinity_(char* buffer, const char* format,
                                                   std::size_t size, std::size_t length) {
    return put_blanks(expand(without_blanks(format, length)), buffer, size);
}

#define QUERN_OMP_LEAGUE(SET, GET, MEMBER)                                                    \
    QUERN_OMP_ENTRY void SET(int number) {                                                    \
        values_of_leagues().MEMBER = number > 0 ? static_cast<unsigned>(number) : 0;          \
    }                                                                                         \
    QUERN_OMP_ENTRY void SET##_(const std::int32_t* number) { SET(*number); }                 \
    QUERN_OMP_ENTRY void SET##_8_(const std::int64_t* number) {                               \
        SET(static_cast<int>(std::clamp<std::int64_t>(*number, 0, 1 << 30)));                 \
    }                                                                                         \
    QUERN_OMP_ENTRY int GET() { return static_cast<int>(values_of_leagues().MEMBER.load()); } \
    QUERN_OMP_ENTRY std::int32_t GET##_() { return GET(); }

QUERN_OMP_LEAGUE(omp_set_num_teams, omp_get_max_teams, teams)
QUERN_OMP_LEAGUE(omp_set_teams_thread_limit, omp_get_teams_thread_limit, thread_limit)
#undef QUERN_OMP_LEAGUE

QUERN_OMP_ENTRY int omp_get_num_teams() { return static_cast<int>(root_team().league_size); }
QUERN_OMP_ENTRY std::int32_t omp_get_num_teams_() { return omp_get_num_teams(); }
QUERN_OMP_ENTRY int omp_get_team_num() { return static_cast<int>(root_team().league_number); }
QUERN_OMP_ENTRY std::int32_t omp_get_team_num_() { return omp_get_team_num(); }

// NOLINTEND(readability-identifier-naming)
