// SPDX-License-Identifier: BSL-1.0
// Random numbers are functions of seed and position.
#include "unit/arrays/primitive_calls.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace {

using quern::arrays::none;
using quern_test::call;
using quern_test::elements;
using quern_test::extents;
using quern_test::list;
using quern_test::reals;
using quern_test::shape;
using quern_test::value;
using quern_test::whole;
using quern_test::wholes;
using quern_test::words_of;

constexpr std::int64_t k_many = 100'000;

class random_arrays : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(random_arrays);

// Holds: random primitives: The bits are those of Philox4x32-10 with the seed as the key.
TEST_P(random_arrays, are_philox) {
    inside([] {
        // The first known answer of the authors: key and counter 0.
        const auto bits = std::uint64_t{0xe169c58d6627e8d5};
        EXPECT_EQ(elements(call("random", {whole(1), whole(0)}))[0],
                  static_cast<double>(bits >> 11) * 0x1p-53);
    });
}

// Holds: random primitives: A number depends on seed and position alone, so a longer array begins
// as a shorter one.
TEST_P(random_arrays, depend_on_seed_and_position_alone) {
    inside([] {
        for (const char* const name : {"random", "permutation", "normal", "integers"}) {
            const std::string what = name;
            const auto draw = [&](std::int64_t count, std::int64_t seed) {
                if (what == "normal") return call(what, {0.0, 1.0, whole(count), whole(seed)});
                if (what == "integers")
                    return call(what, {whole(0), whole(1000), whole(count), whole(seed)});
                return call(what, {whole(count), whole(seed)});
            };
            const auto bytes = [](const value& of) {
                const auto& a = quern_test::array_in(of);
                return std::string(reinterpret_cast<const char*>(a.bytes()),
                                   static_cast<std::size_t>(a.size()) * 8u);
            };
            const std::string all = bytes(draw(k_many, 7));
            EXPECT_EQ(bytes(draw(k_many, 7)), all) << what;
            EXPECT_NE(bytes(draw(k_many, 8)), all) << what;
            if (what == "permutation") continue;
            EXPECT_EQ(bytes(draw(12'345, 7)), all.substr(0, 12'345 * 8)) << what;
        }
    });
}

// Holds: random primitives: The numbers are the same for any number of workers.
TEST_P(random_arrays, are_the_same_on_all_workers) {
    inside([] {
        static const reals before = elements(call("normal", {0.0, 1.0, whole(k_many), whole(3)}));
        EXPECT_EQ(elements(call("normal", {0.0, 1.0, whole(k_many), whole(3)})), before);
    });
}

// Holds: random primitives: random is uniform in [0, 1), normal has its mean and deviation.
TEST_P(random_arrays, have_their_distributions) {
    inside([] {
        const reals x = elements(call("random", {whole(k_many), whole(1)}));
        EXPECT_NEAR(std::accumulate(x.begin(), x.end(), 0.0) / k_many, 0.5, 0.005);
        EXPECT_TRUE(std::ranges::all_of(x, [](double e) { return e >= 0 && e < 1; }));
        const reals y = elements(call("normal", {3.0, 2.0, whole(k_many), whole(1)}));
        const double mean = std::accumulate(y.begin(), y.end(), 0.0) / k_many;
        double squares = 0;
        for (const double e : y) {
            squares += (e - mean) * (e - mean);
        }
        EXPECT_NEAR(mean, 3, 0.03);
        EXPECT_NEAR(std::sqrt(squares / k_many), 2, 0.03);
        EXPECT_EQ(shape(call("random", {list({whole(2), whole(3)}), whole(1)})), (extents{2, 3}));
        EXPECT_EQ(shape(call("random", {none{}, whole(1)})), extents{});
        EXPECT_EQ(shape(call("normal", {whole(0), whole(1), whole(0), whole(1)})), (extents{0}));
    });
}

// Holds: random primitives: integers are from low up to high, which is not among them, each as
// often.
TEST_P(random_arrays, draw_integers_evenly) {
    inside([] {
        wholes counts(5, 0);
        for (const std::int64_t each : elements<std::int64_t>(
                 call("integers", {whole(-2), whole(3), whole(k_many), whole(4)}))) {
            ASSERT_TRUE(each >= -2 && each < 3);
            ++counts[static_cast<std::size_t>(each + 2)];
        }
        for (const std::int64_t count : counts) {
            EXPECT_NEAR(static_cast<double>(count), k_many / 5.0, 600);
        }
        EXPECT_EQ(elements<std::int64_t>(call("integers", {whole(1), none{}, whole(3), whole(4)})),
                  wholes(3, 0));
    });
}

// Holds: random primitives: permutation has each element once; of an array, it moves whole rows.
TEST_P(random_arrays, permute) {
    inside([] {
        wholes order = elements<std::int64_t>(call("permutation", {whole(k_many), whole(2)}));
        EXPECT_FALSE(std::ranges::is_sorted(order));
        std::ranges::sort(order);
        wholes expected(k_many);
        std::iota(expected.begin(), expected.end(), 0);
        EXPECT_EQ(order, expected);
        const reals rows =
            elements(call("permutation", {quern_test::matrix(3, 2, {0, 1, 2, 3, 4, 5}), whole(2)}));
        for (std::size_t i = 0; i < 6; i += 2) {
            EXPECT_EQ(rows[i] + 1, rows[i + 1]);
        }
    });
}

// Holds: random primitives: A negative seed, an empty range and a negative deviation throw.
TEST_P(random_arrays, refuse_wrong_operands) {
    inside([] {
        EXPECT_EQ(words_of([] {
                      call("random", {whole(1), whole(-1)});
                  }),
                  "seed: -1; a whole number from 0 is accepted");
        EXPECT_EQ(words_of([] {
                      call("integers", {whole(3), whole(3), whole(1), whole(1)});
                  }),
                  "low >= high");
        EXPECT_EQ(words_of([] {
                      call("normal", {whole(0), whole(-1), whole(1), whole(1)});
                  }),
                  "scale < 0");
    });
}

}  // namespace
