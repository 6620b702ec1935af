// SPDX-License-Identifier: BSL-1.0
// Random numbers that are functions of seed and position, so they are the same for any number of
// workers. They are not the values that NumPy's generators give.
// Source: Philox4x32-10 of J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as
// easy as 1, 2, 3", SC '11; constants as there. Normal numbers: G. Box, M. Muller, 1958. Whole
// numbers in a range: D. Lemire, "Fast random integer generation in an interval", 2019.
#include "primitives/arguments.hpp"
#include "primitives/copies.hpp"
#include "primitives/families.hpp"

#include <quern/algorithms/parallel_for.hpp>
#include <quern/algorithms/sort.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace quern::arrays::detail {

namespace {

/// What the numbers are for: two functions with one seed draw different ones.
enum class purpose : std::uint32_t { uniform, normal, integers, permutation };

struct two_words {
    std::uint64_t first;
    std::uint64_t second;
};

/// 128 random bits of a seed at a position.
two_words random_words(std::uint64_t seed, std::uint64_t position, std::uint32_t attempt,
                       purpose use) noexcept {
    std::uint32_t c[4] = {static_cast<std::uint32_t>(position),
                          static_cast<std::uint32_t>(position >> 32), attempt,
                          static_cast<std::uint32_t>(use)};
    auto key0 = static_cast<std::uint32_t>(seed);
    auto key1 = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53} * c[0];
        const std::uint64_t b = std::uint64_t{0xCD9E8D57} * c[2];
        c[0] = static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key0;
        c[2] = static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key1;
        c[1] = static_cast<std::uint32_t>(b);
        c[3] = static_cast<std::uint32_t>(a);
        key0 += 0x9E3779B9;
        key1 += 0xBB67AE85;
    }
    return {c[0] | std::uint64_t{c[1]} << 32, c[2] | std::uint64_t{c[3]} << 32};
}

/// In [0, 1), a multiple of 2^-53.
double unit_interval(std::uint64_t bits) noexcept {
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

std::uint64_t seed_from(const value& from) {
    const std::int64_t seed = integer_from(from, "seed");
    if (seed < 0) {
        throw std::invalid_argument("seed: " + std::to_string(seed) +
                                    "; a whole number from 0 is accepted");
    }
    return static_cast<std::uint64_t>(seed);
}

extents size_from(const value& from) { return from.is_none() ? extents{} : shape_from(from); }

constexpr std::ptrdiff_t k_random_piece = 1 << 12;

/// Calls run(first, last) for pieces of [0, count), which begin at even numbers.
template <class F>
void for_pieces(std::ptrdiff_t count, F&& run) {
    const std::ptrdiff_t pieces = (count + k_random_piece - 1) / k_random_piece;
    const auto piece = [&](std::ptrdiff_t i) {
        run(i * k_random_piece, std::min((i + 1) * k_random_piece, count));
    };
    if (pieces < 4) {
        for (std::ptrdiff_t i = 0; i < pieces; ++i) {
            piece(i);
        }
    } else {
        quern::parallel_for(std::ptrdiff_t{0}, pieces, quern::grain::fixed(1), piece);
    }
}

/// An array of doubles, two from each position: pair(words) gives them.
template <class Pair>
array drawn_in_pairs(const extents& shape, std::uint64_t seed, purpose use, Pair pair) {
    array made(dtype::float64, shape);
    double* const x = made.data<double>();
    for_pieces(made.size(), [&](std::ptrdiff_t first, std::ptrdiff_t last) {
        for (std::ptrdiff_t i = first; i < last; i += 2) {
            const auto [a, b] =
                pair(random_words(seed, static_cast<std::uint64_t>(i) / 2u, 0, use));
            x[i] = a;
            if (i + 1 < last) x[i + 1] = b;
        }
    });
    return made;
}

value run_random(std::span<const value> in) {
    return drawn_in_pairs(size_from(in[0]), seed_from(in[1]), purpose::uniform, [](two_words w) {
        return std::pair(unit_interval(w.first), unit_interval(w.second));
    });
}

value run_normal(std::span<const value> in) {
    const double mean = number_from(in[0], "loc");
    const double deviation = number_from(in[1], "scale");
    if (deviation < 0) throw std::invalid_argument("scale < 0");
    return drawn_in_pairs(size_from(in[2]), seed_from(in[3]), purpose::normal, [=](two_words w) {
        const double radius = deviation * std::sqrt(-2 * std::log(1 - unit_interval(w.first)));
        const double angle = 2 * std::numbers::pi * unit_interval(w.second);
        return std::pair(mean + radius * std::cos(angle), mean + radius * std::sin(angle));
    });
}

__extension__ using double_word = unsigned __int128;

/// A number below `range`, each with the same probability.
std::uint64_t bounded(std::uint64_t seed, std::uint64_t position, std::uint64_t range) noexcept {
    const std::uint64_t refused = (0u - range) % range;
    for (std::uint32_t attempt = 0;; ++attempt) {
        const two_words words = random_words(seed, position, attempt, purpose::integers);
        const auto product = static_cast<double_word>(words.first) * range;
        if (static_cast<std::uint64_t>(product) >= refused) {
            return static_cast<std::uint64_t>(product >> 64);
        }
    }
}

value run_integers(std::span<const value> in) {
    const bool one = in[1].is_none();
    const std::int64_t low = one ? 0 : integer_from(in[0], "low");
    const std::int64_t high = integer_from(one ? in[0] : in[1], one ? "low" : "high");
    if (low >= high) throw std::invalid_argument(one ? "high <= 0" : "low >= high");
    const std::uint64_t seed = seed_from(in[3]);
    const auto range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    array made(dtype::int64, size_from(in[2]));
    auto* const x = made.data<std::int64_t>();
    for_pieces(made.size(), [&](std::ptrdiff_t first, std::ptrdiff_t last) {
        for (std::ptrdiff_t i = first; i < last; ++i) {
            const std::uint64_t above = bounded(seed, static_cast<std::uint64_t>(i), range);
            x[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + above);
        }
    });
    return made;
}

struct ticket {
    std::uint64_t key;
    std::int64_t index;
    bool operator<(const ticket& other) const noexcept {
        return key != other.key ? key < other.key : index < other.index;
    }
};

/// The numbers below `count` by the order of random keys.
array random_order(std::int64_t count, std::uint64_t seed) {
    array made(dtype::int64, {count});
    std::vector<ticket> tickets(static_cast<std::size_t>(count));
    for_pieces(count, [&](std::ptrdiff_t first, std::ptrdiff_t last) {
        for (std::ptrdiff_t i = first; i < last; ++i) {
            const auto at = static_cast<std::uint64_t>(i);
            tickets[at] = {random_words(seed, at, 0, purpose::permutation).first, i};
        }
    });
    if (count < k_random_piece) {
        std::sort(tickets.begin(), tickets.end());
    } else {
        quern::sort(quern::par, tickets);
    }
    std::ranges::transform(tickets, made.data<std::int64_t>(), &ticket::index);
    return made;
}

value run_permutation(std::span<const value> in) {
    const std::uint64_t seed = seed_from(in[1]);
    const auto* a = in[0].as<array>();
    const bool is_sequence = in[0].is<tuple>() || (a != nullptr && a->dimensions() > 0);
    if (!is_sequence) {
        const std::int64_t count = integer_from(in[0], "x");
        if (count < 0) throw std::invalid_argument("negative dimensions are not allowed");
        return random_order(count, seed);
    }
    const array from = array_from(in[0], "x");
    const array order = random_order(from.shape()[0], seed);
    array made(from.type(), from.shape());
    for (std::ptrdiff_t i = 0; i < order.size(); ++i) {
        const std::int64_t at = order.data<std::int64_t>()[i];
        copy_elements(part_of(made, 0, i, i + 1), part_of(from, 0, at, at + 1));
    }
    return made;
}

constexpr primitive k_random[] = {
    {"integers", "low, high, size, seed", run_integers},
    {"normal", "loc, scale, size, seed", run_normal},
    {"permutation", "x, seed", run_permutation},
    {"random", "size, seed", run_random},
};

}  // namespace

std::span<const primitive> random_primitives() noexcept { return k_random; }

}  // namespace quern::arrays::detail
