// SPDX-License-Identifier: BSL-1.0
// The trees of the Unbalanced Tree Search benchmark (Olivier et al., "UTS: An Unbalanced Tree
// Search Benchmark", LCPC 2006): a node is a hash, which determines its number of children.
// Published figures of each tree are here too; the search is in main.cpp.
#pragma once

#include "sha1.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace uts {

struct node {
    digest state;
    std::uint32_t depth = 0;
};

/// Published figures of a tree.
struct census {
    std::uint64_t nodes = 0;
    std::uint64_t leaves = 0;
    std::uint32_t depth = 0;

    bool operator==(const census&) const = default;
};

enum class shape { binomial, geometric };

/// Parameters, with their letters in the benchmark.
struct tree {
    std::string_view name;
    shape kind;                 ///< -t
    double root_branching;      ///< -b, of every node if geometric
    std::uint32_t depth_limit;  ///< -d, geometric
    std::uint32_t branching;    ///< -m, binomial
    double probability;         ///< -q, binomial
    std::uint32_t seed;         ///< -r
    census expected;            ///< published with the benchmark
};

inline constexpr std::array<tree, 3> k_trees = {{
    {"T1", shape::geometric, 4, 10, 0, 0, 19, {4'130'071, 3'305'118, 10}},
    {"T3", shape::binomial, 2000, 0, 8, 0.124875, 42, {4'112'897, 3'599'034, 1572}},
    {"T1L", shape::geometric, 4, 13, 0, 0, 29, {102'181'082, 81'746'377, 13}},
}};

inline node root_of(const tree& t) noexcept {
    return {sha1(std::array<std::uint32_t, 5>{0, 0, 0, 0, t.seed}), 0};
}

/// Not inlined, so that the serial and the parallel search run the same machine code for a hash,
/// which is most of their work, and differ only in the traversal.
[[gnu::noinline]] inline node child_of(const node& parent, std::uint32_t index) noexcept {
    const digest& s = parent.state;
    return {sha1(std::array<std::uint32_t, 6>{s[0], s[1], s[2], s[3], s[4], index}),
            parent.depth + 1};
}

/// The random number of a node, in [0, 1).
inline double chance(const node& n) noexcept {
    return static_cast<double>(n.state[4] & 0x7fffffffU) * 0x1p-31;
}

inline std::uint32_t children_of(const tree& t, const node& n) noexcept {
    if (t.kind == shape::binomial) {
        if (n.depth == 0) {
            return static_cast<std::uint32_t>(t.root_branching);
        }
        return chance(n) < t.probability ? t.branching : 0;
    }
    constexpr std::uint32_t k_most = 100;  // the benchmark's limit for all but a binomial root
    if (n.depth >= t.depth_limit) {
        return 0;
    }
    const double p = 1 / (1 + t.root_branching);  // geometric with the mean -b
    const double wanted = std::log(1 - chance(n)) / std::log(1 - p);
    return std::min(static_cast<std::uint32_t>(wanted), k_most);
}

}  // namespace uts
