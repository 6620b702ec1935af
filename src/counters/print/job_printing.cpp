// SPDX-License-Identifier: BSL-1.0
// Names of counters with the number of a locality, and the printers for a layer that has several.
#include <quern/counters/detail/job_printing.hpp>

#include "core/tables.hpp"
#include "print/printer.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace quern::counters::detail {

namespace {

constexpr std::string_view k_locality = "locality#";
constexpr std::string_view k_alone = "locality#0";

/// "locality#0/" with another number, wherever it is.
std::string with_number(std::string text, const std::string& number, const std::string& other) {
    const std::string before = std::string(k_locality) + number + "/";
    const std::string after = std::string(k_locality) + other + "/";
    for (std::size_t at = text.find(before); at != std::string::npos;
         at = text.find(before, at + after.size())) {
        text.replace(at, before.size(), after);
    }
    return text;
}

template <class F>
void with_printer(const runtime& of, F&& f) {
    if (const auto entry = find_living(of); entry && entry->printing != nullptr) {
        f(*entry->printing);
    }
}

}  // namespace

job_pattern take_apart(std::string_view pattern) {
    job_pattern parts{.localities = "", .at_one = std::string(pattern)};
    const std::size_t begin = parts.at_one.find("{" + std::string(k_locality));
    if (begin >= parts.at_one.find('@')) {
        static_cast<void>(parse_name(pattern));
        return parts;
    }
    const std::size_t number = begin + 1 + k_locality.size();
    const std::size_t end = std::min(parts.at_one.find_first_of("/}", number), parts.at_one.size());
    const std::size_t digits = end - number;
    parts.localities = parts.at_one.substr(number, digits);
    // As many wildcards, so that places in the message are those of the pattern.
    const std::string any(digits, '*');
    try {
        static_cast<void>(parse_name(std::string(pattern).replace(number, digits, any)));
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(with_number(error.what(), any, parts.localities));
    }
    parts.at_one.replace(number, digits, "0");
    return parts;
}

std::string words_as_written(const std::string& message, const job_pattern& pattern) {
    return pattern.localities.empty() ? message : with_number(message, "0", pattern.localities);
}

std::string name_at_locality(const std::string& name, int locality) {
    const std::size_t at = name.find("{" + std::string(k_alone) + "/");
    if (at == std::string::npos) {
        return name;
    }
    std::string in_job = name;
    return in_job.replace(at + 1, k_alone.size(),
                          std::string(k_locality) + std::to_string(locality));
}

bool prints_counters(const runtime& of) noexcept {
    bool prints = false;
    with_printer(of, [&](const printer& one) { prints = one.prints(); });
    return prints;
}

void print_for_job(const runtime& of, int localities, std::function<snapshot()> read) noexcept {
    with_printer(of, [&](printer& one) { one.print_for_job(localities, std::move(read)); });
}

void end_intervals(const runtime& of) noexcept {
    with_printer(of, [](printer& one) { one.end_intervals(); });
}

void print_at_end(const runtime& of, std::optional<snapshot> last) noexcept {
    with_printer(of, [&](printer& one) { one.print_at_end(std::move(last)); });
}

snapshot read_for_job(const runtime& of, int locality) {
    snapshot read;
    with_printer(of, [&](printer& one) { read = one.read_for_job(locality); });
    return read;
}

}  // namespace quern::counters::detail
