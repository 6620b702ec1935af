// SPDX-License-Identifier: BSL-1.0
// What a halo refuses, and its end.
#include "on_job.hpp"

#include <quern/localities/halo.hpp>

#include <cstddef>
#include <cstdint>
#include <future>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
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

class halo_errors : public on_job {};
QUERN_ON_1_2_WORKERS(halo_errors);

std::vector<double> few_at_locality_0() {
    std::vector<double> weights(static_cast<std::size_t>(count()), 1.0);
    weights.back() = 3.5;
    return weights;
}

/// What the constructor throws.
template <class T = int>
std::string refusal_of(const communicator& all, std::uint64_t rows, const halo_options& options) {
    try {
        const halo<T> made(all, rows, options);
    } catch (const std::invalid_argument& error) {
        return error.what();
    } catch (const remote_error& error) {
        return error.report().message;
    }
    return "none";
}

// Holds: halo: What cannot be divided is refused at all members.
TEST_P(halo_errors, wrong_numbers_are_refused) {
    const communicator all("wrong");
    const std::string begin = "quern: localities::halo ";
    EXPECT_EQ(refusal_of(all, 10, {.width = 0}), begin + "with width 0; accepted: at least 1");
    EXPECT_EQ(refusal_of(all, 10, {.row_length = 0}),
              begin + "with row_length 0; accepted: at least 1");
    EXPECT_EQ(refusal_of(all, std::uint64_t{1} << 47U, {.row_length = 4}),
              begin + "of 140737488355328 rows of 4 elements; accepted: at most 2^48 elements");
    const std::string rows = std::to_string(5 * count() - 1);
    EXPECT_EQ(refusal_of(all, 5 * number_of_ranks() - 1, {.width = 5})
                  .find(begin + "of " + rows + " rows: locality "),
              0U);
    EXPECT_EQ(refusal_of(all, 4, {.width = 5, .weights = few_at_locality_0()})
                  .find(begin + "of 4 rows: locality 0 would have "),
              0U);
    const std::vector<double> too_many(static_cast<std::size_t>(count()) + 1, 1.0);
    EXPECT_EQ(refusal_of(all, 100, {.weights = too_many}),
              begin + "with " + std::to_string(count() + 1) +
                  " weights; accepted: one for each of " + std::to_string(count()) + " localities");
}

// Holds: halo: A weight that is no number, or negative, is named at all members, also if only some
// give it.
TEST_P(halo_errors, wrong_weights_are_named) {
    const communicator all("weights");
    const auto refused_with = [&](double bad, int from) {
        std::vector<double> weights(static_cast<std::size_t>(count()), 1.0);
        weights.back() = here() >= from ? bad : 1.0;
        return refusal_of(all, 100, {.weights = weights});
    };
    const auto message = [](const std::string& value) {
        return "quern: localities::halo with weights[" + std::to_string(count() - 1) + "] " +
               value + "; accepted: finite, not negative";
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const int from : {0, count() - 1}) {  // at all localities, at the last one
        EXPECT_EQ(refused_with(nan, from), message("nan"));
        EXPECT_EQ(refused_with(-nan, from), message("nan"));
        EXPECT_EQ(refused_with(-0.25, from), message("-0.25"));
        EXPECT_EQ(refused_with(std::numeric_limits<double>::infinity(), from), message("inf"));
    }
    const std::vector<double> none(static_cast<std::size_t>(count()), 0.0);
    EXPECT_EQ(refusal_of(all, 100, {.weights = none}),
              "quern: localities::halo with weights whose sum is 0; accepted: more than 0, and "
              "finite");
}

// Holds: halo: Members that ask for something else are refused at all of them.
TEST_P(halo_errors, other_numbers_than_another_member_are_refused) {
    if (count() == 1) {
        return;
    }
    const communicator all("other");
    const bool is_last = here() == count() - 1;
    const auto message = [](const std::string& last, const std::string& first) {
        return "quern: localities::halo with " + last + " at locality " +
               std::to_string(count() - 1) + ", and " + first +
               " at locality 0; accepted: the same at all members";
    };
    EXPECT_EQ(refusal_of(all, is_last ? 101 : 100, {}), message("rows 101", "100"));
    EXPECT_EQ(refusal_of(all, 100, {.width = is_last ? 2U : 1U}), message("width 2", "1"));
    EXPECT_EQ(refusal_of(all, 100, {.is_periodic = !is_last}),
              message("is_periodic false", "true"));
    const std::string type = is_last ? refusal_of<double>(all, 100, {}) : refusal_of(all, 100, {});
    EXPECT_NE(type.find("accepted: all members call the same operations with the same types"),
              std::string::npos)
        << type;
}

template <class F>
std::string refused(F f) {
    try {
        f();
    } catch (const std::logic_error& error) {
        return error.what();
    }
    return "none";
}

// Holds: halo: A block of another size, and one that is still exchanged, are refused.
TEST_P(halo_errors, wrong_blocks_are_refused) {
    const communicator all("blocks");
    const halo<int> borders(all, 4 * number_of_ranks(), {.row_length = 2});
    std::vector<int> block = borders.make_block();
    std::vector<int> wrong(11);
    const std::string size =
        "quern: localities::halo of 4 own rows: a block of 11 elements; accepted: 12, which are "
        "those of 6 rows with the ghosts";
    EXPECT_EQ(refused([&] { static_cast<void>(borders.exchange(wrong)); }), size);
    EXPECT_EQ(refused([&] { borders.own(wrong); }), size);
    EXPECT_NE(refused([] { halo<int>().rows(); }).find("refers to none"), std::string::npos);
    if (here() == 0 && count() > 1) {
        quern::future<void> first = borders.exchange(block);
        EXPECT_NE(
            refused([&] { static_cast<void>(borders.exchange(block)); }).find("still waited for"),
            std::string::npos);
        all.barrier().get();
        first.get();
        borders.exchange(block).get();
    } else {
        all.barrier().get();
        borders.exchange(block).get();
        borders.exchange(block).get();
    }
}

/// One with the value 13 cannot be written.
struct touchy {
    int value = 0;
    template <class Archive>
    void save(Archive& into) const {
        if (value == 13) {
            throw std::range_error("13 cannot be written");
        }
        into(value);
    }
    template <class Archive>
    void load(Archive& from) {
        from(value);
    }
};

// Holds: halo: A border that cannot be sent is an error of that step here and at the neighbour, and
// of no other one.
TEST_P(halo_errors, a_border_that_cannot_be_sent) {
    if (count() == 1) {
        return;
    }
    const halo<touchy> borders(communicator("touchy"), 2 * number_of_ranks());
    std::vector<touchy> block = borders.make_block({here()});
    borders.exchange(block).get();
    borders.own(block).back().value = here() == 0 ? 13 : 0;
    const auto error = error_of(borders.exchange(block));
    EXPECT_EQ(error.message, here() < 2 ? "13 cannot be written" : "");
    borders.own(block).back().value = here() + 100;
    borders.exchange(block).get();
    EXPECT_EQ(block.front().value, here() == 0 ? 0 : here() + 99);
}

// Holds: halo: After its end no ghosts are written, and its futures are broken.
TEST_P(halo_errors, ends_while_rows_are_waited_for) {
    const communicator all("end");
    std::optional<halo<int>> borders(std::in_place, all, 2 * number_of_ranks());
    std::vector<int> block = borders->make_block(-1);
    if (here() == 0 && count() > 1) {
        quern::future<void> never = borders->exchange(block);
        borders.reset();
        EXPECT_THROW(never.get(), std::future_error);
        all.barrier().get();
    } else {
        all.barrier().get();
        static_cast<void>(borders->exchange(block));
        borders.reset();
    }
    all.barrier().get();
    if (here() == 0) {
        EXPECT_EQ(block, std::vector<int>(4, -1));
    }
}

TEST(halo_errors_without_session, is_refused) {
    std::optional<halo<int>> late;
    std::vector<int> block;
    {
        own_job job(1);
        late.emplace(communicator("late"), 3 * number_of_ranks());
        block = late->make_block();
        late->exchange(block).get();
    }
    EXPECT_NE(refused([&] {
                  static_cast<void>(late->exchange(block));
              }).find("of a session that has ended"),
              std::string::npos);
    own_job other(1);
    EXPECT_THROW(static_cast<void>(late->exchange(block)), std::logic_error);
}

// Holds: halo: A session ends though rows are waited for.
TEST(halo_errors_at_the_end, futures_that_are_left_are_broken) {
    std::optional<quern::future<void>> left;
    std::optional<halo<int>> borders;
    std::vector<int> block;
    {
        own_job job(1);
        borders.emplace(communicator("left"), 3 * number_of_ranks());
        block = borders->make_block();
        if (here() == 0 && count() > 1) {
            left = borders->exchange(block);
        }
    }
    if (left) {
        EXPECT_THROW(left->get(), std::future_error);
    }
}

}  // namespace
