// SPDX-License-Identifier: BSL-1.0
// Finds the nearest match of a misspelt word, for the error messages of options, environment
// variables and keys. Called only for rejected input; must never be used to accept a misspelt word.
#pragma once

#include <quern/base/detail/config.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quern::detail {

/// ASCII only, so independent of the locale.
constexpr char lower_case(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Edits that turn `a` into `b`: insert, delete, replace, or swap two neighbours (optimal string
/// alignment). Ignores case. Cost: |a| * |b|.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) {
        last[j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const char x = lower_case(a[i - 1]);
            const char y = lower_case(b[j - 1]);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (x == y ? 0u : 1u)});
            if (i > 1 && j > 1 && x == lower_case(b[j - 2]) && lower_case(a[i - 2]) == y) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

/// Whether one of the words is the beginning of the other, and long enough to be meant. Ignores
/// case.
constexpr bool is_beginning(std::string_view a, std::string_view b) noexcept {
    constexpr std::size_t k_least = 3;  // characters; a shorter beginning fits too many words
    const std::size_t size = std::min(a.size(), b.size());
    for (std::size_t i = 0; i < size; ++i) {
        if (lower_case(a[i]) != lower_case(b[i])) {
            return false;
        }
    }
    return size >= k_least;
}

/// The candidate with the fewest edits. Empty if none is near: within a third of the longer word,
/// at least one edit, or the beginning of the word, or the word its beginning. Such a one comes
/// after those with one edit and before those with two. The first of equals wins. `Requires:` the
/// candidates' text outlives the result.
inline std::string_view nearest_match(std::string_view word,
                                      std::span<const std::string_view> candidates) {
    constexpr std::size_t k_longest_word =
        64;  // characters; longer input is not a misspelling of a known word
    std::string_view best;
    std::pair<std::size_t, std::size_t> fewest;  // the rank, and the edits
    if (word.empty() || word.size() > k_longest_word) {
        return best;
    }
    for (const std::string_view candidate : candidates) {
        const std::size_t limit =
            std::max<std::size_t>(1, std::max(word.size(), candidate.size()) / 3);
        const std::size_t edits = edit_distance(word, candidate);
        const bool begins = is_beginning(word, candidate);
        const std::pair its(edits <= 1 || !begins ? 2 * edits : 3, edits);
        if ((edits <= limit || begins) && (best.empty() || its < fewest)) {
            best = candidate;
            fewest = its;
        }
    }
    return best;
}

/// The tail of an error message: "accepted: a, b, c; did you mean 'a'?", without the question if
/// there is no near match.
inline std::string accepted_values(std::string_view word,
                                   std::span<const std::string_view> candidates) {
    std::string text = "accepted: ";
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        text.append(i == 0 ? "" : ", ").append(candidates[i]);
    }
    const std::string_view nearest = nearest_match(word, candidates);
    if (!nearest.empty()) {
        text.append("; did you mean '").append(nearest).append("'?");
    }
    return text;
}

}  // namespace quern::detail
