// SPDX-License-Identifier: BSL-1.0
// Names of global objects: all localities find them, early or late; a name is one object's.
#include "on_job.hpp"

#include <quern/localities/names.hpp>
#include <quern/task/task_group.hpp>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <typeinfo>
#include <vector>

namespace {

using namespace quern_test;
using namespace std::chrono_literals;
using quern::localities::all;
using quern::localities::count;
using quern::localities::find;
using quern::localities::here;
using quern::localities::make_at;
using quern::localities::migrate;
using quern::localities::object;
using quern::localities::publish;
using quern::localities::remote_error;
using quern::localities::run_at;
using quern::localities::unpublish;

/// Of this process.
std::atomic<int> g_living{0};

struct counter {
    counter() { ++g_living; }
    explicit counter(int first) : value(first) { ++g_living; }
    counter(const counter&) = delete;
    counter& operator=(const counter&) = delete;
    ~counter() { --g_living; }

    int add(int n) { return value += n; }
    int get() const { return value; }
    template <class Archive>
    void serialize(Archive& archive) {
        archive(value);
    }

    int value = 0;
};
struct another {
    int value = 0;
};

std::string name_of(const char* what, int locality) {
    return what + std::string(" of ") + std::to_string(locality);
}

class names_test : public on_job {
protected:
    void TearDown() override {
        end_job();
        EXPECT_EQ(g_living.load(), 0);
    }
};
QUERN_ON_1_2_WORKERS(names_test);

// Holds: publish: find() looks up what any locality has published, and waits until it is.
TEST_P(names_test, are_found_by_all_localities) {
    std::vector<quern::future<object<counter>>> found;
    for (const int each : all()) {
        found.push_back(find<counter>(name_of("counter", each)));  // before it is published or not
    }
    publish(name_of("counter", here()), make_at<counter>(here(), 100 * here())).get();
    for (int each = 0; each < count(); ++each) {
        const object<counter> one = found[static_cast<std::size_t>(each)].get();
        EXPECT_GE(one.call(&counter::add, 1).get(), 100 * each + 1);
        EXPECT_EQ(one.name().home, static_cast<std::uint64_t>(each));
    }
}

// Holds: publish: find() looks up...
TEST_P(names_test, are_waited_for) {
    auto late = find<counter>(name_of("late", here()));
    std::this_thread::sleep_for(20ms);
    EXPECT_FALSE(late.is_ready());
    run_at(
        next_locality(),
        [](const std::string& name) { publish(name, make_at<counter>(here(), 7)).get(); },
        name_of("late", here()))
        .get();
    EXPECT_EQ(late.get().call(&counter::get).get(), 7);
}

// Holds: publish: A name follows its object.
TEST_P(names_test, follow_the_object) {
    const auto one = make_at<counter>(here(), 1);
    publish(name_of("moved", here()), one).get();
    migrate(one, next_locality()).get();
    const auto same = find<counter>(name_of("moved", here())).get();
    EXPECT_EQ(same, one);
    EXPECT_EQ(same.call(&counter::add, 1).get(), 2);
}

// Holds: publish: A name is one object's; an object may have several names.
TEST_P(names_test, are_taken_once) {
    const std::string name = name_of("taken", here());
    const auto first = make_at<counter>(here(), 1);
    publish(name, first).get();
    const auto error = error_of(publish(name, make_at<counter>(here(), 2)));
    EXPECT_EQ(error.type, "std::invalid_argument");
    EXPECT_EQ(error.message,
              "quern: localities::publish: the name '" + name + "' is that of the global object " +
                  std::to_string(first.name().serial) + " of locality " + std::to_string(here()) +
                  "; accepted: another name, or unpublish it before");
    EXPECT_EQ(find<counter>(name).get(), first);
    publish(name_of("second name", here()), first).get();
    EXPECT_EQ(find<counter>(name_of("second name", here())).get(), first);
}

// Holds: publish: The name is a reference: it keeps the object until unpublish().
TEST_P(names_test, keep_the_object) {
    const std::string name = name_of("kept", here());
    publish(name, make_at<counter>(next_locality(), 5)).get();
    EXPECT_EQ(find<counter>(name).get().call(&counter::get).get(), 5);
    EXPECT_TRUE(unpublish(name).get());
    EXPECT_FALSE(unpublish(name).get());
    EXPECT_TRUE(eventually(
        [] { return run_at(next_locality(), [] { return g_living.load(); }).get() == 0; }));
    publish(name, make_at<another>(here(), 6)).get();
    EXPECT_EQ(find<another>(name).get().call([](const another& of) { return of.value; }).get(), 6);
}

// Holds: publish: find() refuses an object of another type.
TEST_P(names_test, tell_types_apart) {
    const std::string name = name_of("typed", here());
    const auto one = make_at<counter>(here(), 1);
    publish(name, one).get();
    const auto error = error_of(find<another>(name));
    EXPECT_EQ(error.type, "std::invalid_argument");
    EXPECT_NE(error.message.find("counter, and not a "), std::string::npos) << error.message;
}

TEST_P(names_test, refuse_what_is_none) {
    const auto one = make_at<counter>(here(), 1);
    EXPECT_THROW(publish("", one), std::invalid_argument);
    EXPECT_THROW(find<counter>(""), std::invalid_argument);
    EXPECT_THROW(unpublish(""), std::invalid_argument);
    EXPECT_THROW(publish("none", object<counter>()), std::logic_error);
}

/// Names come and go, and so do those that wait for them.
TEST_P(names_test, come_and_go_while_they_are_waited_for) {
    constexpr int k_rounds = 50;
    const auto ring = [](int locality, int round) {
        return name_of("round", locality) + "." + std::to_string(round);
    };
    std::vector<quern::future<object<counter>>> found;
    for (int round = 0; round < k_rounds; ++round) {
        found.push_back(find<counter>(ring(next_locality(), round)));
    }
    quern::task_group group;
    for (int round = 0; round < k_rounds; ++round) {
        group.run([&, round] {
            publish(ring(here(), round), make_at<counter>(next_locality(), round)).get();
        });
    }
    group.wait();
    for (int round = 0; round < k_rounds; ++round) {
        EXPECT_EQ(found[static_cast<std::size_t>(round)].get().call(&counter::get).get(), round);
        EXPECT_TRUE(unpublish(ring(next_locality(), round)).get());
    }
}

TEST(names_without_session, are_refused) {
    EXPECT_THROW(find<counter>("mesh"), std::logic_error);
    EXPECT_THROW(unpublish("mesh"), std::logic_error);
}

}  // namespace
