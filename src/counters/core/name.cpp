// SPDX-License-Identifier: BSL-1.0
// Splitting counter names and reporting where one is malformed.
#include <quern/counters/name.hpp>

#include <algorithm>
#include <stdexcept>

namespace quern::counters {

namespace {

constexpr std::string_view k_locality = "locality#";

[[noreturn]] void malformed(std::string_view text, std::size_t at, const std::string& expected) {
    throw std::invalid_argument("quern: counter name '" + std::string(text) + "': at character " +
                                std::to_string(at + 1) + ": expected " + expected);
}

bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_wildcard(char c) noexcept { return c == '*' || c == '?'; }

bool may_begin(char c) noexcept { return is_letter(c) || c == '_' || is_wildcard(c); }
bool may_follow(char c) noexcept { return may_begin(c) || (c >= '0' && c <= '9') || c == '-'; }

/// The end of the word that begins at `from`.
std::size_t end_of_word(std::string_view text, std::size_t from, const char* what) {
    if (from >= text.size() || !may_begin(text[from])) {
        malformed(text, from, std::string(what) + ", which begins with a letter");
    }
    std::size_t end = from;
    while (end < text.size() && may_follow(text[end])) {
        ++end;
    }
    return end;
}

/// The brace that closes the one at `open`.
std::size_t closing_brace(std::string_view text, std::size_t open) {
    std::size_t depth = 0;
    for (std::size_t i = open; i < text.size(); ++i) {
        depth += text[i] == '{' ? 1 : 0;
        depth -= text[i] == '}' ? 1 : 0;
        if (depth == 0) {
            return i;
        }
    }
    malformed(text, text.size(), "'}'");
}

void check_instance(std::string_view text, std::size_t from, std::string_view instance) {
    std::size_t fault = 0;
    if (instance.empty()) {
        malformed(text, from, "an instance such as locality#0/total");
    }
    if (instance.front() == '/' || is_wildcard(instance.front())) {
        return;  // the name of another counter, or a pattern for whole instances
    }
    if (!parse_instance(instance, fault)) {
        malformed(text, from + fault,
                  "an instance: locality#0/total, locality#0/worker-thread#0, "
                  "locality#0/pool#NAME/total or locality#0/pool#NAME/worker-thread#0");
    }
}

/// Words separated by '/', up to '@' or the end.
std::size_t end_of_name(std::string_view text, std::size_t at) {
    for (;;) {
        at = end_of_word(text, at, "a name");
        if (at == text.size() || text[at] == '@') {
            return at;
        }
        if (text[at] != '/') {
            malformed(text, at, "'/', '@' or the end");
        }
        ++at;
    }
}

bool take_front(std::string_view& text, std::string_view front) noexcept {
    const bool is_there = text.substr(0, front.size()) == front;
    text.remove_prefix(is_there ? front.size() : 0);
    return is_there;
}

bool is_number(std::string_view text) noexcept {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || is_wildcard(c);
    });
}

}  // namespace

counter_name parse_name(std::string_view text) {
    counter_name parts;
    if (text == "*") {
        parts.object = "*";
        return parts;
    }
    if (text.empty() || text.front() != '/') {
        malformed(text, 0, "'/'");
    }
    std::size_t at = end_of_word(text, 1, "an object such as threads");
    parts.object = text.substr(1, at - 1);
    if (at < text.size() && text[at] == '{') {
        const std::size_t close = closing_brace(text, at);
        parts.instance = text.substr(at + 1, close - at - 1);
        check_instance(text, at + 1, parts.instance);
        at = close + 1;
    } else if (at == text.size() && has_wildcards(text)) {
        return parts;
    }
    if (at == text.size() || text[at] != '/') {
        malformed(text, at, "'/' and a name");
    }
    const std::size_t end = end_of_name(text, at + 1);
    parts.name = text.substr(at + 1, end - at - 1);
    if (end < text.size()) {
        parts.parameters = text.substr(end + 1);
        if (parts.parameters.empty()) {
            malformed(text, end + 1, "parameters");
        }
    }
    return parts;
}

std::optional<instance_name> parse_instance(std::string_view text, std::size_t& fault_at) {
    const std::size_t whole = text.size();
    std::string_view rest = text;
    instance_name parts;
    const auto fault = [&] {
        fault_at = whole - rest.size();
        return std::nullopt;
    };
    if (take_front(rest, k_locality)) {
        const std::size_t slash = std::min(rest.find('/'), rest.size());
        if (!matches(rest.substr(0, slash), "0") || slash == rest.size()) {
            return fault();
        }
        rest.remove_prefix(slash + 1);
    }
    if (take_front(rest, "pool#")) {
        const std::size_t slash = std::min(rest.find('/'), rest.size());
        if (slash == 0 || slash == rest.size()) {
            return fault();
        }
        parts.pool = rest.substr(0, slash);
        rest.remove_prefix(slash + 1);
    }
    if (rest == "total") {
        return parts;
    }
    if (rest == "*") {
        parts.worker = rest;
        return parts;
    }
    if (take_front(rest, "worker-thread#") && is_number(rest)) {
        parts.worker = rest;
        return parts;
    }
    return fault();
}

bool has_wildcards(std::string_view text) noexcept {
    return std::any_of(text.begin(), text.end(), is_wildcard);
}

bool matches(std::string_view pattern, std::string_view text) noexcept {
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;  // the last '*'; its text ends at `covered`
    std::size_t covered = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            covered = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++covered;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::vector<std::string> split_names(std::string_view list) {
    std::vector<std::string> names;
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t i = 0; i <= list.size(); ++i) {
        if (i == list.size() || (depth == 0 && list.substr(i, 2) == ",/")) {
            names.emplace_back(list.substr(begin, i - begin));
            begin = i + 1;
            continue;
        }
        depth += list[i] == '{' ? 1 : list[i] == '}' ? -1 : 0;
    }
    return names;
}

}  // namespace quern::counters
