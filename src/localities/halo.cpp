// SPDX-License-Identifier: BSL-1.0
// How the rows of a halo are divided, and what is refused.
#include <quern/localities/halo.hpp>
#include <quern/localities/partitioned_vector.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace quern::localities::detail {

namespace {

constexpr std::uint64_t k_most_elements = std::uint64_t{1} << 48U;  // 256 TiB of bytes

[[noreturn]] void refuse_halo(const std::string& why) {
    throw std::invalid_argument("quern: localities::halo " + why);
}

std::string words_of(const std::vector<double>& weights) {
    std::string words;
    for (const double each : weights) {
        words += (words.empty() ? "" : ", ") + std::to_string(each);
    }
    return words.empty() ? "none" : words;
}

/// Two members must say the same of something.
template <class Value, class Words>
void require_equal(const char* what, const Value& first, const Value& other, int first_locality,
                   int other_locality, Words words) {
    if (!(first == other)) {
        detail::refuse_halo(std::string(what) + " " + words(other) + " at locality " +
                            std::to_string(other_locality) + ", and " + words(first) +
                            " at locality " + std::to_string(first_locality) +
                            "; accepted: the same at all members");
    }
}

void require_same(const std::vector<halo_shape>& shapes, const std::vector<int>& members) {
    const halo_shape& first = shapes.front();
    for (std::size_t i = 1; i < shapes.size(); ++i) {
        const halo_shape& other = shapes[i];
        const auto require = [&](const char* what, const auto& a, const auto& b, auto words) {
            detail::require_equal(what, a, b, members.front(), members[i], words);
        };
        const auto number = [](std::uint64_t n) { return std::to_string(n); };
        require("with rows", first.rows, other.rows, number);
        require("with width", first.options.width, other.options.width, number);
        require("with row_length", first.options.row_length, other.options.row_length, number);
        require("with is_periodic", first.options.is_periodic, other.options.is_periodic,
                [](bool is) { return std::string(is ? "true" : "false"); });
        require("with weights", first.options.weights, other.options.weights, words_of);
    }
}

void require_numbers(const halo_shape& of) {
    if (of.options.width == 0) {
        detail::refuse_halo("with width 0; accepted: at least 1");
    }
    if (of.options.row_length == 0) {
        detail::refuse_halo("with row_length 0; accepted: at least 1");
    }
    if (of.rows > k_most_elements / of.options.row_length) {
        detail::refuse_halo("of " + std::to_string(of.rows) + " rows of " +
                            std::to_string(of.options.row_length) +
                            " elements; accepted: at most 2^48 elements");
    }
}

}  // namespace

std::vector<std::uint64_t> borders_of_blocks(const std::vector<halo_shape>& shapes,
                                             const std::vector<int>& members) {
    for (const halo_shape& each : shapes) {  // first, as a NaN is not equal to itself
        if (!each.options.weights.empty()) {
            detail::require_weights(each.options.weights, members.size(), "halo");
        }
    }
    detail::require_same(shapes, members);
    const halo_shape& all = shapes.front();
    detail::require_numbers(all);
    std::vector<std::uint64_t> borders(1, 0);
    const auto sizes =
        detail::sizes_of_parts(all.rows, members.size(), all.options.weights, "halo");
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] < all.options.width) {
            detail::refuse_halo("of " + std::to_string(all.rows) + " rows: locality " +
                                std::to_string(members[i]) + " would have " +
                                std::to_string(sizes[i]) + "; accepted: at least the width, " +
                                std::to_string(all.options.width) + ", at each member");
        }
        borders.push_back(borders.back() + sizes[i]);
    }
    return borders;
}

std::size_t place_of_here(const std::vector<int>& members) {
    return static_cast<std::size_t>(std::find(members.begin(), members.end(), localities::here()) -
                                    members.begin());
}

void refuse_block(std::size_t size, const halo_shape& of, std::uint64_t own_rows) {
    const std::uint64_t rows = own_rows + 2 * of.options.width;
    detail::refuse_halo("of " + std::to_string(own_rows) + " own rows: a block of " +
                        std::to_string(size) +
                        " elements; accepted: " + std::to_string(rows * of.options.row_length) +
                        ", which are those of " + std::to_string(rows) + " rows with the ghosts");
}

void refuse_no_halo() {
    throw std::logic_error(
        "quern: localities::halo that refers to none; accepted: one that was made with a "
        "communicator, or a copy of it");
}

}  // namespace quern::localities::detail
