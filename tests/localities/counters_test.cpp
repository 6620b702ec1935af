// SPDX-License-Identifier: BSL-1.0
// Counters of other localities, and those of global objects.
#include "on_job.hpp"

#include <quern/localities/counters.hpp>
#include <quern/scheduler/sites.hpp>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace quern_test;
using quern::localities::all;
using quern::localities::count;
using quern::localities::counter_set;
using quern::localities::here;
using quern::localities::make_at;
using quern::localities::migrate;
using quern::localities::run_at;

class job_counters_test : public on_job {
protected:
    void SetUp() override {
        if (!quern::counts_sites()) {
            GTEST_SKIP() << "counters are compiled out";
        }
    }
};
QUERN_ON_1_2_WORKERS(job_counters_test);

std::map<std::string, double> values_of(counter_set& set) {
    std::map<std::string, double> values;
    for (const auto& each : set.evaluate().get()) {
        EXPECT_TRUE(each.ok()) << each.name << ": " << each.why;
        values[each.name] = each.value;
    }
    return values;
}

std::string name_at(int locality, const std::string& object, const std::string& name) {
    return "/" + object + "{locality#" + std::to_string(locality) + "/total}/" + name;
}

// Holds: counter_set of localities: values of any locality, from any, with its number.
TEST_P(job_counters_test, of_each_locality) {
    counter_set set;
    EXPECT_EQ(set.add("/threads{locality#*/total}/count/cumulative"),
              static_cast<std::size_t>(count()));
    EXPECT_EQ(set.add("/parcels/count/sent"), static_cast<std::size_t>(count()));
    EXPECT_EQ(set.add("/threads{locality#" + std::to_string(next_locality()) +
                      "/worker-thread#*}/count/cumulative"),
              GetParam());
    const int calls = scaled(500, 100);
    for (int i = 0; i < calls; ++i) {
        run_at(next_locality(), [] {}).get();
    }
    const auto values = values_of(set);
    EXPECT_EQ(values.size(), set.names().size());
    EXPECT_EQ(values.size(), 2U * static_cast<std::size_t>(count()) + GetParam());
    for (const std::string& each : set.names()) {
        EXPECT_EQ(values.count(each), 1U) << each;
    }
    EXPECT_GE(values.at(name_at(next_locality(), "threads", "count/cumulative")), calls);
    if (count() > 1) {
        EXPECT_GE(values.at(name_at(here(), "parcels", "count/sent")), calls);
    }
}

// Holds: counter_set of localities: each set has its own baseline.
TEST_P(job_counters_test, have_baselines) {
    counter_set first;
    const std::string name = name_at(next_locality(), "threads", "count/cumulative");
    first.add(name);
    run_at(next_locality(), [] {}).get();
    counter_set second;
    second.add(name);
    EXPECT_GT(first.evaluate(true).get().at(0).value, 0);
    EXPECT_EQ(first.evaluate().get().size(), 1U);
    EXPECT_EQ(second.evaluate().get().size(), 1U);
}

std::string words_of_refused(const std::string& pattern) {
    try {
        counter_set set;
        set.add(pattern);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "accepted";
}

TEST_P(job_counters_test, refuse_wrong_names) {
    EXPECT_EQ(words_of_refused("/threads{locality#77/total}/idle-rate"),
              "quern: localities::counter_set: '/threads{locality#77/total}/idle-rate' names no "
              "locality; accepted: locality#0 to locality#" +
                  std::to_string(count() - 1) + ", locality#*");
    const std::string unknown = words_of_refused("/threads{locality#*/total}/idle-rat");
    EXPECT_NE(unknown.find("'/threads/idle-rate'"), std::string::npos) << unknown;
    EXPECT_EQ(unknown.find("counter name '/threads{locality#*/total}/idle-rat'"), 7U) << unknown;
    EXPECT_EQ(unknown.find("locality#0"), std::string::npos) << unknown;
    const std::string worker = words_of_refused("/threads{locality#*/worker-thread#7}/idle-rate");
    EXPECT_NE(worker.find("'locality#*/worker-thread#7'"), std::string::npos) << worker;
    const std::string malformed = words_of_refused("/threads{locality#**/totl}/idle-rate");
    EXPECT_EQ(
        malformed.find("counter name '/threads{locality#**/totl}/idle-rate': at character 22"), 7U)
        << malformed;
    EXPECT_NE(words_of_refused("threads").find("threads"), std::string::npos);
}

struct plain {
    int value = 0;
    int get() const { return value; }
};

/// What cannot travel: it may be a global object that stays.
class own_storage {
public:
    int count() { return ++*m_count; }

private:
    std::unique_ptr<int> m_count = std::make_unique<int>(0);
};

// Holds: object: a type that cannot travel stays where it was made.
TEST_P(job_counters_test, an_object_that_stays) {
    static_assert(!quern::localities::can_travel<own_storage>);
    const auto one = make_at<own_storage>(next_locality());
    EXPECT_EQ(one.call(&own_storage::count).get(), 1);
    EXPECT_EQ(one.call(&own_storage::count).get(), 2);
    EXPECT_EQ(one.last_known_place(), next_locality());
}

// Holds: counter_set of localities: /agas counts objects, moves, and what was sent to wrong places.
TEST_P(job_counters_test, of_global_objects) {
    counter_set set;
    set.add("/agas{locality#" + std::to_string(here()) + "/total}/*");
    const auto one = make_at<plain>(here());
    migrate(one, next_locality()).get();
    EXPECT_EQ(one.call(&plain::get).get(), 0);
    const auto values = values_of(set);
    const auto value = [&](const std::string& name) {
        return values.at(name_at(here(), "agas", "count/" + name));
    };
    const bool travels = count() > 1;
    EXPECT_GE(value("bind"), 1);
    EXPECT_GE(value("migrations"), travels ? 1 : 0);
    EXPECT_GE(value("resolve"), travels ? 1 : 0);
    EXPECT_EQ(value("resolve"), value("cache-hits") + value("cache-misses"));
}

TEST(job_counters_without_session, are_refused) {
    counter_set set;
    EXPECT_THROW(set.add("/parcels/count/sent"), std::logic_error);
    EXPECT_THROW(set.evaluate(), std::logic_error);
}

}  // namespace
