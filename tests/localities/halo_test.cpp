// SPDX-License-Identifier: BSL-1.0
// Halos: stencils on grids in blocks, against the same on the whole grid; steps that are far
// apart.
#include "on_job.hpp"
#include "stress/process.hpp"

#include <quern/localities/halo.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace quern_test;
using quern::localities::communicator;
using quern::localities::count;
using quern::localities::halo;
using quern::localities::halo_options;
using quern::localities::here;
using quern::localities::remote_error;

class halo_test : public on_job {};
QUERN_ON_1_2_WORKERS(halo_test);

/// An aggregate that is not copied as bytes.
struct particle {
    std::vector<std::uint64_t> at{0};
    std::string name{};
    friend bool operator==(const particle&, const particle&) = default;
};

std::uint64_t next_value(const std::uint64_t& low, const std::uint64_t& own,
                         const std::uint64_t& high) {
    return 3 * low + own * 2654435761U + 7 * high + 1;
}
double next_value(const double& low, const double& own, const double& high) {
    return 0.3 * low + 0.5 * own + 0.2 * high;
}
std::string next_value(const std::string& low, const std::string& own, const std::string& high) {
    const std::uint64_t value =
        next_value(std::hash<std::string>()(low), std::hash<std::string>()(own),
                   std::hash<std::string>()(high));
    return std::to_string(value) + std::string(value % 40, 'x');
}
particle next_value(const particle& low, const particle& own, const particle& high) {
    return {std::vector<std::uint64_t>(1 + own.at[0] % 3,
                                       next_value(low.at.back(), own.at.front(), high.at.back())),
            next_value(low.name, own.name, high.name)};
}

std::uint64_t first_value(std::uint64_t i, std::uint64_t /*kind*/) { return i * i + 5; }
double first_value(std::uint64_t i, double /*kind*/) { return static_cast<double>(i % 17); }
std::string first_value(std::uint64_t i, const std::string& /*kind*/) { return std::to_string(i); }
particle first_value(std::uint64_t i, const particle& /*kind*/) {
    return {std::vector<std::uint64_t>{i, i + 1}, std::to_string(i)};
}

/// A grid, its stencil, and who is slow.
struct problem {
    std::uint64_t rows = 64;
    halo_options options{};
    int steps = 20;
    int slow = -1;  ///< a locality, or none
};

/// Rows [first, end) of `next`, numbered from the first ghost row of a block.
template <class T>
void compute_rows(const problem& p, const std::vector<T>& now, std::vector<T>& next,
                  std::uint64_t first, std::uint64_t end) {
    const std::uint64_t length = p.options.row_length;
    const std::uint64_t reach = p.options.width * length;
    for (std::uint64_t row = first; row < end; ++row) {
        for (std::uint64_t i = row * length; i < (row + 1) * length; ++i) {
            next[i] = next_value(now[i - reach], now[i], now[i + reach]);
        }
    }
}

/// The elements of the whole grid after all steps.
template <class T>
std::vector<T> computed_serially(const problem& p) {
    const std::uint64_t border = p.options.width * p.options.row_length;
    const std::uint64_t elements = p.rows * p.options.row_length;
    std::vector<T> now(elements + 2 * border);
    for (std::uint64_t i = 0; i < elements; ++i) {
        now[border + i] = first_value(i, T());
    }
    std::vector<T> next = now;
    for (int step = 0; step < p.steps; ++step) {
        if (p.options.is_periodic) {
            for (std::uint64_t i = 0; i < border; ++i) {
                now[i] = now[elements + i];
                now[border + elements + i] = now[border + i];
            }
        }
        compute_rows(p, now, next, p.options.width, p.options.width + p.rows);
        std::swap(now, next);
    }
    return {now.begin() + static_cast<std::ptrdiff_t>(border),
            now.end() - static_cast<std::ptrdiff_t>(border)};
}

/// The same in blocks: the inside of each while its ghosts are on their way.
template <class T>
std::vector<T> computed_in_blocks(const problem& p, const halo<T>& borders) {
    std::vector<T> now = borders.make_block();
    std::uint64_t index = borders.first_own_row() * p.options.row_length;
    for (T& each : borders.own(now)) {
        each = first_value(index++, T());
    }
    std::vector<T> next = now;
    const std::uint64_t w = borders.width();
    const std::uint64_t end = w + borders.own_rows();
    const std::uint64_t inside = std::min(2 * w, end);
    const std::uint64_t inside_end = std::max(inside, borders.own_rows());
    for (int step = 0; step < p.steps; ++step) {
        if (p.slow == here() && step % 3 == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        quern::future<void> ghosts = borders.exchange(now);
        compute_rows(p, now, next, inside, inside_end);
        ghosts.get();
        compute_rows(p, now, next, w, inside);
        compute_rows(p, now, next, inside_end, end);
        std::swap(now, next);
    }
    const auto own = borders.own(now);
    return {own.begin(), own.end()};
}

/// This locality's part of the whole grid.
template <class T>
std::vector<T> own_part(const std::vector<T>& all, const halo<T>& borders) {
    const auto first = static_cast<std::ptrdiff_t>(borders.first_own_row() * borders.row_length());
    const auto size = static_cast<std::ptrdiff_t>(borders.own_rows() * borders.row_length());
    return {all.begin() + first, all.begin() + first + size};
}

template <class T>
void expect_as_serially(const communicator& members, const problem& p) {
    const halo<T> borders(members, p.rows, p.options);
    const bool is_right =
        computed_in_blocks(p, borders) == own_part(computed_serially<T>(p), borders);
    EXPECT_TRUE(is_right) << p.rows << " rows, width " << p.options.width << ", periodic "
                          << p.options.is_periodic;
}

/// Equal, and by weights that make the last block the largest.
std::vector<std::vector<double>> several_weights() {
    std::vector<double> uneven(static_cast<std::size_t>(count()), 1.0);
    uneven.back() = 3.5;
    return {{}, uneven};
}

template <class T>
void expect_as_serially_in_several_forms(int steps) {
    const communicator all("forms");
    for (const bool is_periodic : {false, true}) {
        for (const std::uint64_t width : {1U, 3U}) {
            for (const auto& weights : several_weights()) {
                const halo_options form{width, 1, is_periodic, weights};
                expect_as_serially<T>(all, {67, form, steps, -1});
            }
            // Blocks of two borders, and of one.
            const halo_options lines{width, 5, is_periodic, {}};
            const auto members = static_cast<std::uint64_t>(count());
            expect_as_serially<T>(all, {2 * width * members, lines, steps, -1});
            expect_as_serially<T>(all, {width * members, lines, steps, -1});
        }
    }
}

// Holds: halo: A stencil in blocks computes what it computes on the whole grid, periodic or not, with
// any width, row length and weights.
TEST_P(halo_test, stencils_of_numbers) {
    expect_as_serially_in_several_forms<std::uint64_t>(20);
    expect_as_serially_in_several_forms<double>(20);
}

// Holds: halo: Elements are of any type that travels.
TEST_P(halo_test, stencils_of_other_types) {
    expect_as_serially_in_several_forms<std::string>(8);
    expect_as_serially_in_several_forms<particle>(8);
}

// Holds: halo: Elements are of any type...
TEST_P(halo_test, borders_that_travel_as_chunks) {
    const communicator all("large");
    for (const bool is_periodic : {false, true}) {
        const halo_options planes{2, 3000, is_periodic, several_weights().back()};
        expect_as_serially<double>(all, {40, planes, 20, -1});
    }
}

// Holds: halo: Rows of a step never become ghosts of another one, however slow a locality is.
TEST_P(halo_test, one_locality_is_slow) {
    const communicator all("slow");
    for (int slow = 0; slow < count(); ++slow) {
        expect_as_serially<std::uint64_t>(all, {64, {}, scaled(60, 12), slow});
    }
}

// Holds: halo: Rows of a step never...
TEST_P(halo_test, a_thousand_steps) {
    const communicator all("long");
    const halo_options ring{1, 1, true, {}};
    expect_as_serially<std::uint64_t>(all, {64, ring, scaled(1000, 100), -1});
    quern::async([&] { expect_as_serially<double>(all, {64, {}, scaled(1000, 100), -1}); }).get();
}

// Holds: halo: Exchanges of several blocks may be under way at once, also if a neighbour has not
// begun.
TEST_P(halo_test, many_exchanges_under_way) {
    const communicator all("many");
    const halo<int> borders(all, 8 * static_cast<std::uint64_t>(count()),
                            {.width = 2, .is_periodic = true});
    if (here() == count() - 1) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    std::vector<std::vector<int>> blocks;
    for (int step = 0; step < 100; ++step) {
        blocks.push_back(borders.make_block(1000 * here() + step));
    }
    std::vector<quern::future<void>> steps;
    for (auto& each : blocks) {
        steps.push_back(borders.exchange(each));
        std::fill_n(each.begin() + 2, 8, -1);  // own rows may be changed at once
    }
    const int before = 1000 * ((here() + count() - 1) % count());
    const int after = 1000 * next_locality();
    for (int step = 99; step >= 0; --step) {
        steps[static_cast<std::size_t>(step)].get();
        const std::vector<int>& block = blocks[static_cast<std::size_t>(step)];
        EXPECT_EQ(block[0], before + step);
        EXPECT_EQ(block[1], before + step);
        EXPECT_EQ(block[10], after + step);
        EXPECT_EQ(block[11], after + step);
    }
}

// Holds: halo: It is made of the members of a communicator, in their order.
TEST_P(halo_test, members_in_another_order) {
    std::vector<int> members = quern::localities::all();
    std::reverse(members.begin(), members.end());
    const communicator reversed("reversed", members);
    expect_as_serially<std::uint64_t>(reversed, {30, {1, 4, true, {}}, 10, -1});
    members.pop_back();  // without locality 0
    if (here() != 0) {
        const communicator some("some", members);
        expect_as_serially<std::uint64_t>(some, {30, {2, 4, false, {}}, 10, -1});
    }
}

// Holds: halo: The first and the last block of a grid that is not periodic keep the ghosts that the
// program has set.
TEST_P(halo_test, ghosts_at_the_ends) {
    const halo<int> borders(communicator("ends"), 3 * static_cast<std::uint64_t>(count()));
    std::vector<int> block = borders.make_block(here());
    block.front() = -1;
    block.back() = -2;
    borders.exchange(block).get();
    EXPECT_EQ(borders.has_before(), here() > 0);
    EXPECT_EQ(borders.has_after(), here() + 1 < count());
    EXPECT_EQ(block.front(), here() - 1);
    EXPECT_EQ(block.back(), borders.has_after() ? here() + 1 : -2);
    EXPECT_EQ(borders.rows(), 3 * number_of_ranks());
    EXPECT_EQ(borders.own(block).size(), 3U);
}

// Holds: halo: However many exchanges there are, no memory is kept.
TEST_P(halo_test, memory_stays) {
    const communicator all("memory");
    const halo<double> borders(all, 40, {.row_length = 300, .is_periodic = true});
    std::vector<double> block = borders.make_block(1.0);
    const int rounds = scaled(10'000, 500);
    std::size_t early = 0;
    for (int i = 0; i < rounds; ++i) {
        if (i == rounds / 5) {
            early = resident_bytes();
        }
        borders.exchange(block).get();
    }
    const std::size_t late = resident_bytes();
    std::printf("[ halo     ] %d exchanges: %zu -> %zu KiB resident\n", rounds, early >> 10U,
                late >> 10U);
    if (!k_sanitized) {
        constexpr std::size_t k_slack = std::size_t{4} << 20U;  // all exchanges: 48 MB
        EXPECT_LE(late, early + k_slack);
    }
}

}  // namespace
