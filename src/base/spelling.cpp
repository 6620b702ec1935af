// SPDX-License-Identifier: BSL-1.0
// Parses demangled names and paths.
#include "spelling.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace quern::detail {

namespace {

constexpr std::string_view k_lambda = "{lambda(";
constexpr std::size_t k_nowhere = std::string_view::npos;

struct parts {
    std::size_t lambda = k_nowhere;  ///< the first component that is a lambda
    std::size_t last = 0;            ///< start of the last component
    std::size_t begin = 0;           ///< behind the return type
};

/// Finds the components of a name that are not in brackets.
parts parts_of(std::string_view name) noexcept {
    parts found;
    int depth = 0;
    bool has_lambda = false;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool is_first = i == 0 || name.substr(0, i).ends_with("::");
        if (depth == 0 && is_first) {
            found.last = i;
            if (!has_lambda && name.substr(i).starts_with(k_lambda)) {
                found.lambda = i;
                has_lambda = true;
            }
        }
        const char c = name[i];
        if (c == ' ' && depth == 0 && !has_lambda) {
            found.begin = i + 1;
        }
        depth += c == '<' || c == '(' || c == '{' ? 1 : c == '>' || c == ')' || c == '}' ? -1 : 0;
    }
    return found;
}

void add_lambda_of(fixed_text& text, std::string_view function) noexcept {
    if (function.ends_with("::")) {
        function.remove_suffix(2);
    }
    if (function.empty()) {
        text.add("lambda");
    } else {
        add_shortened(text, function);
        text.add("'s lambda");
    }
}

/// The rest of a name from the beginning of the template argument around a position.
std::string_view argument_around(std::string_view name, std::size_t at) noexcept {
    int depth = 0;
    for (std::size_t i = at; i-- > 0;) {
        const char c = name[i];
        if (depth == 0 && (c == '<' || c == ',' || c == '(')) {
            name.remove_prefix(name[i + 1] == ' ' ? i + 2 : i + 1);
            return name;
        }
        depth += c == '>' || c == ')' || c == '}' ? 1 : c == '<' || c == '(' || c == '{' ? -1 : 0;
    }
    return name;
}

}  // namespace

/// Compilers move the bodies of OpenMP's constructs into functions of their own.
static std::string_view without_part_of_openmp(std::string_view name) noexcept {
    for (const std::string_view part : {" [clone ._omp_fn.", "._omp_fn.", ".omp_outlined"}) {
        const std::size_t at = name.find(part);
        if (at != k_nowhere && at != 0) {
            return name.substr(0, at);
        }
    }
    return name;
}

void add_shortened(fixed_text& text, std::string_view name) noexcept {
    name = without_part_of_openmp(name);
    text.add(name.substr(0, k_longest_name)).add(name.size() > k_longest_name ? "..." : "");
}

void add_without_arguments(fixed_text& text, std::string_view name) noexcept {
    constexpr std::string_view k_operator = "operator";
    fixed_text plain;
    int depth = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        const bool is_operator = name.substr(0, i).ends_with(k_operator) ||
                                 name.substr(0, i).ends_with("operator<") ||
                                 name.substr(0, i).ends_with("-");
        if (c == '<' && !is_operator && depth++ == 0) {
            plain.add("<>");
        } else if (c == '>' && !is_operator && depth > 0) {
            --depth;
        } else if (depth == 0) {
            plain.add(name.substr(i, 1));
        }
    }
    add_shortened(text, plain.view());
}

std::string_view first_template_argument(std::string_view name) noexcept {
    const std::size_t open = name.find('<');
    if (open == std::string_view::npos) {
        return name;
    }
    int depth = 0;
    for (std::size_t i = open + 1; i < name.size(); ++i) {
        const char c = name[i];
        if (depth == 0 && (c == ',' || c == '>')) {
            return name.substr(open + 1, i - open - 1);
        }
        depth += c == '<' || c == '(' || c == '{' ? 1 : c == '>' || c == ')' || c == '}' ? -1 : 0;
    }
    return name;
}

void add_readable(fixed_text& text, std::string_view name) noexcept {
    const parts found = parts_of(name);
    const std::string_view last = name.substr(found.last);
    const bool is_type = last.starts_with(k_lambda);
    if (found.lambda == k_nowhere || (!is_type && !last.starts_with("operator()"))) {
        add_shortened(text, name);
        return;
    }
    add_lambda_of(text, name.substr(found.begin, found.lambda - found.begin));
    const std::size_t number = last.rfind('#');
    if (is_type && number != k_nowhere) {
        text.add(" ").add(last.substr(number, last.find('}', number) - number));
    }
}

void add_inlined_lambda(fixed_text& text, std::string_view outer) noexcept {
    const std::size_t inner = outer.find(k_lambda);
    if (inner == k_nowhere) {
        const std::string_view function = outer.substr(parts_of(outer).begin);
        add_lambda_of(text, function.starts_with("quern::") ? "" : function);
        return;
    }
    const std::string_view function = argument_around(outer, inner);
    const std::size_t end = inner - static_cast<std::size_t>(function.data() - outer.data());
    const std::size_t begin = parts_of(function).begin;
    add_lambda_of(text, function.substr(begin, end - begin));
}

void add_path(fixed_text& text, std::string_view path) noexcept {
    constexpr std::size_t k_deepest = 64;
    std::array<std::string_view, k_deepest> kept;
    std::size_t count = 0;
    const bool is_absolute = path.starts_with('/');
    for (std::string_view rest = path; !rest.empty();) {
        const std::size_t slash = std::min(rest.find('/'), rest.size());
        const std::string_view part = rest.substr(0, slash);
        rest.remove_prefix(std::min(slash + 1, rest.size()));
        if (part.empty() || part == ".") {
            continue;
        }
        if (part == "..") {
            count -= count != 0 ? 1 : 0;
        } else if (count == k_deepest) {
            text.add(path);
            return;
        } else {
            kept[count++] = part;
        }
    }
    for (std::size_t i = 0; i < count; ++i) {
        text.add(i != 0 || is_absolute ? "/" : "").add(kept[i]);
    }
}

}  // namespace quern::detail
