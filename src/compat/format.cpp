// SPDX-License-Identifier: BSL-1.0
// Parses a format: text between placeholders, and a number and a format in each.
#include <quern/compat/hpx/format.hpp>

#include <charconv>
#include <stdexcept>

namespace hpx::util::detail {

namespace {

void write_place(std::ostream& out, std::string_view place, const write_value* values,
                 std::size_t count, std::size_t& next) {
    const std::size_t colon = place.find(':');
    const std::string_view number = place.substr(0, colon);
    std::size_t which = next + 1;
    std::from_chars(number.data(), number.data() + number.size(), which);
    next = which;
    if (which == 0 || which > count) {
        throw std::runtime_error("hpx::util::format: there is no value " + std::to_string(which));
    }
    values[which - 1](
        out, colon == std::string_view::npos ? std::string_view() : place.substr(colon + 1));
}

}  // namespace

void format_with(std::ostream& out, std::string_view text, const write_value* values,
                 std::size_t count) {
    std::size_t next = 0;
    while (!text.empty()) {
        const char first = text.front();
        if ((first == '{' || first == '}') && text.size() > 1 && text[1] == first) {
            out << first;
            text.remove_prefix(2);
            continue;
        }
        const std::size_t end = first == '{' ? text.find('}') : std::string_view::npos;
        if (end == std::string_view::npos) {
            out << first;
            text.remove_prefix(1);
            continue;
        }
        write_place(out, text.substr(1, end - 1), values, count, next);
        text.remove_prefix(end + 1);
    }
}

}  // namespace hpx::util::detail
