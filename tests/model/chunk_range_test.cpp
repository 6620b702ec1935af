// SPDX-License-Identifier: BSL-1.0
// Loops that OpenMP's teams divide (src/omp/README.md, "Loops"): each chunk is run once, by the
// member that takes it, and each member runs those of its present range in their order.
#include "../../src/omp/core/ranges.hpp"
#include "protocol.hpp"

#include <array>

namespace {

using model::atomic;
using model::check;
using model::run;

using quern::omp::chunk_numbers;

struct divided_loop {
    std::array<quern::omp::chunk_range<model::atomics>, 3> ranges;
    std::array<atomic<int>, 6> runs{};
    std::uint32_t members = 2;
    std::uint32_t wanted = 1;
    bool moves_end_alone = false;  ///< broken: a thief writes the word without having seen it

    void run_all(chunk_numbers taken) {
        for (std::uint32_t i = taken.from; i < taken.to; ++i) {
            runs[i].fetch_add(1, std::memory_order_relaxed);
        }
    }

    chunk_numbers half_of(std::uint32_t victim) {
        const chunk_numbers half = ranges[victim].take_half();
        if (moves_end_alone && !half.is_empty()) {
            ranges[victim].set({half.from - 1, half.from});
        }
        return half;
    }

    /// Gets chunks as core/shares.cpp does, until there are none.
    void member(std::uint32_t number) {
        for (;;) {
            std::uint32_t left = 0;
            chunk_numbers taken = ranges[number].take(wanted, left);
            for (std::uint32_t i = 1; taken.is_empty() && i < members; ++i) {
                const chunk_numbers half = half_of((number + i) % members);
                if (!half.is_empty()) {
                    ranges[number].set({half.from + 1, half.to});
                    taken = {half.from, half.from + 1};
                }
            }
            if (taken.is_empty()) {
                return;
            }
            run_all(taken);
        }
    }
};

void loop(run& r, std::uint32_t members, std::uint32_t chunks, std::uint32_t first_has,
          std::uint32_t wanted, bool moves_end_alone = false) {
    auto& s = r.make<divided_loop>();
    s.members = members;
    s.wanted = wanted;
    s.moves_end_alone = moves_end_alone;
    s.ranges[0].set({0, first_has});
    s.ranges[1].set({first_has, chunks});
    for (std::uint32_t i = 0; i < members; ++i) {
        r.thread([&s, i] { s.member(i); });
    }
    r.at_end([&s, chunks] {
        for (std::uint32_t i = 0; i < chunks; ++i) {
            check(s.runs[i].load() == 1, "each chunk has run once");
        }
    });
}

TEST(model_chunk_range, two_members) {
    model::expect_passes_everywhere("divided loop, 2 members, 2 + 2 chunks", {},
                                    [](run& r) { loop(r, 2, 4, 2, 1); });
    model::expect_passes_everywhere("divided loop, 2 members, 4 + 0 chunks", {},
                                    [](run& r) { loop(r, 2, 4, 4, 1); });
}

TEST(model_chunk_range, several_chunks_at_once) {
    model::expect_passes_everywhere("divided loop, 2 members, 3 + 3 chunks, 2 at once", {},
                                    [](run& r) { loop(r, 2, 6, 3, 2); });
}

TEST(model_chunk_range, three_members) {
    model::expect_passes("divided loop, 3 members, 2 + 1 chunks", {}, model::memory::sequential,
                         [](run& r) { loop(r, 3, 3, 2, 1); });
}

TEST(model_chunk_range, an_end_that_is_written_without_having_been_seen_is_found) {
    model::expect_found_broken("divided loop with a write without comparison", {},
                               [](run& r) { loop(r, 2, 4, 4, 1, true); });
}

}  // namespace
