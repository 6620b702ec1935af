// SPDX-License-Identifier: BSL-1.0
// Many objects at once: where they are, with what they are made, and that they end.
#include "on_job.hpp"

#include <quern/localities/make_many.hpp>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using quern::localities::count;
using quern::localities::distribution;
using quern::localities::here;
using quern::localities::make_many;
using quern::localities::object;

std::atomic<int> members_living{0};

class member {
public:
    explicit member(std::size_t number, std::string name = "none")
        : m_number(number), m_name(std::move(name)) {
        ++members_living;
    }
    member(const member&) = delete;
    member& operator=(const member&) = delete;
    ~member() { --members_living; }

    std::string text() const {
        return m_name + ' ' + std::to_string(m_number) + " at " + std::to_string(here());
    }
    int place() const { return here(); }

private:
    std::size_t m_number;
    std::string m_name;
};

class localities_make_many : public quern_test::on_job {};

std::vector<int> places_of(const std::vector<object<member>>& all) {
    std::vector<int> places;
    for (const auto& each : all) {
        places.push_back(each.call(&member::place).get());
    }
    return places;
}

// Holds: make_many: Object i is made of i and the arguments, at the locality that the distribution
// says.
TEST_P(localities_make_many, objects_are_where_the_distribution_says) {
    const auto cyclic = make_many<member>(11, distribution::cyclic(), std::string("cell"));
    for (std::size_t i = 0; i < cyclic.size(); ++i) {
        EXPECT_EQ(cyclic[i].call(&member::text).get(),
                  "cell " + std::to_string(i) + " at " +
                      std::to_string(i % static_cast<std::size_t>(count())));
    }
    const std::vector<int> blocks = places_of(make_many<member>(12));
    for (std::size_t i = 1; i < blocks.size(); ++i) {
        EXPECT_LE(blocks[i - 1], blocks[i]);
    }
    EXPECT_EQ(blocks.front(), 0);
    EXPECT_EQ(blocks.back(), count() - 1);
    std::vector<double> weights(static_cast<std::size_t>(count()), 0.0);
    weights.back() = 2;
    EXPECT_EQ(places_of(make_many<member>(3, distribution::weighted(weights))),
              std::vector<int>(3, count() - 1));
    EXPECT_TRUE(make_many<member>(0, distribution::cyclic()).empty());
}

// Holds: make_many: Objects end after their last references.
TEST_P(localities_make_many, objects_end) {
    make_many<member>(100, distribution::cyclic()).clear();
    end_job();
    EXPECT_EQ(members_living, 0);
}

// Holds: make_many: Weights that are none are named.
TEST_P(localities_make_many, wrong_weights_are_named) {
    try {
        std::vector<double> weights(static_cast<std::size_t>(count()), 1.0);
        weights.front() = -1;
        static_cast<void>(make_many<member>(3, distribution::weighted(weights)));
        ADD_FAILURE() << "no exception";
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(),
                     "quern: localities::make_many with weights[0] -1; accepted: finite, not "
                     "negative");
    }
}

INSTANTIATE_TEST_SUITE_P(on, localities_make_many, testing::Values(1U, 2U));

}  // namespace
