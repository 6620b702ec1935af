// SPDX-License-Identifier: BSL-1.0
// renamed<T>: versions, copies, what the owner sees, the budget, mistakes.
#include <quern/dependences/release.hpp>
#include <quern/dependences/renamed.hpp>
#include <quern/dependences/spawn.hpp>
#include <quern/scheduler/knobs.hpp>
#include <quern/settings/settings.hpp>
#include <quern/task/promise.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using quern::domain;
using quern::in;
using quern::inout;
using quern::on;
using quern::out;
using quern::renamed;
using quern_test::scaled;

constexpr std::uint32_t k_usual_bytes = 256U << 20;

std::uint64_t bytes_now() { return quern::detail::read_renaming().bytes; }
std::uint64_t copies_back() { return quern::detail::read_renaming().copies_back; }

/// Where tasks wait until the test lets them continue. They are suspended: a creator that looks
/// whether anything runs finds nothing.
class renaming_gate {
public:
    void pass() const { m_opened.wait(); }
    void open() { m_promise.set_value(); }

private:
    quern::promise<void> m_promise;
    quern::shared_future<void> m_opened{m_promise.get_future().share()};
};

template <class Error>
std::string message_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    ADD_FAILURE() << "threw nothing";
    return "";
}

class domain_renamed : public quern_test::on_runtime {
protected:
    void limit_bytes(std::uint32_t bytes) { rt.default_pool().set_knob("renaming-bytes", bytes); }
    void TearDown() override {
        limit_bytes(k_usual_bytes);
        EXPECT_EQ(bytes_now(), 0U);  // all versions were freed
    }
};
QUERN_ON_1_2_8_WORKERS(domain_renamed);

// Holds: renamed: out(r) makes a fresh version current while tasks use the present one: no task
//     waits for earlier readers.
TEST_P(domain_renamed, a_writer_does_not_wait_for_readers) {
    inside([] {
        domain work;
        int object = 1;
        renamed r(object);
        renaming_gate gate;
        std::atomic<int> seen{0};
        for (int i = 0; i < 3; ++i) {
            work.spawn(in(r), [&](const int& v) {
                gate.pass();
                EXPECT_EQ(v, 1);
                ++seen;
            });
        }
        work.spawn(out(r), [](int& v) { v = 2; });
        std::atomic<int> later{0};
        work.spawn(in(r), [&](const int& v) { later = v; });
        EXPECT_TRUE(quern_test::eventually([&] {
            quern::this_task::yield();
            return later == 2;
        }));
        EXPECT_EQ(seen, 0);
        gate.open();
        work.taskwait();
        EXPECT_EQ(seen, 3);
        EXPECT_EQ(object, 2);
    });
}

// Holds: renamed: A task with out(r) does not wait for earlier writers.
TEST_P(domain_renamed, a_writer_does_not_wait_for_writers) {
    inside([] {
        domain work;
        int object = 1;
        renamed r(object);
        renaming_gate gate;
        work.spawn(out(r), [&](int& v) {
            gate.pass();
            v = 2;
        });
        work.spawn(inout(r), [](int& v) {  // behind it, in place
            EXPECT_EQ(v, 2);
            v = 3;
        });
        work.spawn(out(r), [](int& v) { v = 4; });
        std::atomic<int> later{0};
        work.spawn(in(r), [&](const int& v) { later = v; });
        EXPECT_TRUE(quern_test::eventually([&] {
            quern::this_task::yield();
            return later == 4;
        }));
        gate.open();
        work.taskwait();
        EXPECT_EQ(object, 4);
    });
}

// Holds: renamed: inout(r) gets a copy beside readers of the present version, and does not wait for
//     them.
TEST_P(domain_renamed, inout_copies_beside_readers) {
    inside([] {
        domain work;
        std::vector<int> object(100);
        std::iota(object.begin(), object.end(), 0);
        const int* const data = object.data();
        renamed r(object);
        renaming_gate gate;
        work.spawn(in(r), [&](std::span<const int> v) {
            gate.pass();
            EXPECT_EQ(v[99], 99);
        });
        std::atomic<int> last{0};
        work.spawn(inout(r), [&](std::span<int> v) {
            for (int& each : v) {
                ++each;
            }
            last = v[99];
        });
        EXPECT_TRUE(quern_test::eventually([&] {
            quern::this_task::yield();
            return last == 100;
        }));
        EXPECT_EQ(object[99], 99);
        gate.open();
        work.taskwait(on(r));
        EXPECT_EQ(object[99], 100);
        EXPECT_EQ(object.data(), data);  // elements are copied back, the container stays
    });
}

// Holds: renamed: No version is made while no task uses the present one.
TEST_P(domain_renamed, makes_no_version_without_need) {
    inside([] {
        domain work;
        int object = 0;
        renamed r(object);
        const auto before = quern::detail::read_renaming();
        for (int i = 0; i < 10; ++i) {
            work.spawn(inout(r), [](int& v) { ++v; });  // a chain
        }
        work.taskwait(on(in(r)));
        work.spawn(out(r), [&object](int& v) { EXPECT_EQ(&v, &object); });
        work.taskwait();
        EXPECT_EQ(quern::detail::read_renaming().versions, before.versions);
        EXPECT_EQ(copies_back(), before.copies_back);
    });
}

// Holds: renamed: The user's object holds the last version after taskwait(), taskwait(on(r)), the
//     end of the domain, the end of r.
TEST_P(domain_renamed, copies_back) {
    inside([] {
        int object = 0;
        const auto changes = [](domain& work, renamed<int>& r, int to) {
            work.spawn(in(r), [] { quern::this_task::yield(); });
            work.spawn(out(r), [to](int& v) { v = to; });
        };
        {
            domain work;
            renamed r(object);
            changes(work, r, 1);
            work.taskwait(on(r));
            EXPECT_EQ(object, 1);
            EXPECT_EQ(r.value(), 1);
            changes(work, r, 2);
            work.taskwait(on(in(r)));
            EXPECT_EQ(object, 2);
            changes(work, r, 3);
            work.taskwait();
            EXPECT_EQ(object, 3);
            object = 10;  // the program may use it now
            work.spawn(inout(r), [](int& v) { ++v; });
            work.taskwait();
            EXPECT_EQ(object, 11);
            changes(work, r, 4);
        }
        EXPECT_EQ(object, 4);
        renamed r(object);
        {
            domain work;
            changes(work, r, 5);
        }
        EXPECT_EQ(object, 5);
        EXPECT_EQ(r.value(), 5);
        domain another;  // a domain after another one
        changes(another, r, 6);
        another.taskwait();
        EXPECT_EQ(object, 6);
    });
}

// Holds: renamed: value() throws std::logic_error unless the last version was copied back and no
//     later task may change it.
TEST_P(domain_renamed, refuses_a_value_that_is_not_there) {
    inside([] {
        domain work;
        renaming_gate gate;
        renamed r(7);
        EXPECT_EQ(r.value(), 7);
        work.spawn(in(r), [&] { gate.pass(); });
        EXPECT_EQ(r.value(), 7);  // as the reader
        work.spawn(out(r), [](int& v) { v = 8; });
        const std::string message = message_of<std::logic_error>([&] { r.value(); });
        EXPECT_NE(message.find("taskwait(quern::on(r))"), std::string::npos) << message;
        gate.open();
        work.taskwait(on(r));
        EXPECT_EQ(r.value(), 8);
    });
}

// Holds: renamed: concurrent(r) and commutative(r) change the current version in place.
TEST_P(domain_renamed, takes_all_kinds) {
    inside([] {
        domain work;
        renamed r(std::array<std::atomic<int>*, 1>{nullptr});
        std::atomic<int> sum{0};
        work.spawn(out(r), [&sum](auto& v) { v[0] = &sum; });
        for (int i = 0; i < 10; ++i) {
            work.spawn(quern::concurrent(r), [](auto& v) { ++*v[0]; });
            work.spawn(quern::commutative(r), [](auto& v) { ++*v[0]; });
        }
        work.taskwait(on(r));
        EXPECT_EQ(*r.value()[0], 20);
    });
}

// Holds: renamed: Children of a task declare accesses to the view that it got.
TEST_P(domain_renamed, children_use_the_view) {
    inside([] {
        domain work;
        std::vector<int> object(40, 0);
        renamed r(object);
        constexpr int k_rounds = 20;
        for (int round = 0; round < k_rounds; ++round) {
            work.spawn(inout(r), [](std::span<int> v) {
                for (std::size_t i = 0; i < v.size(); i += 10) {
                    quern::spawn(inout(v.subspan(i, 10)), [](std::span<int> part) {
                        quern::this_task::yield();
                        for (int& each : part) {
                            ++each;
                        }
                    });
                }
            });
            work.spawn(in(r), [round](std::span<const int> v) {
                for (const int each : v) {
                    EXPECT_EQ(each, round + 1);
                }
                quern::this_task::release(in(v));
            });
        }
        work.taskwait();
        EXPECT_EQ(object, std::vector<int>(40, k_rounds));
    });
}

// Holds: renamed: A dependent task may have renamed objects for its children.
TEST_P(domain_renamed, belongs_to_a_dependent_task) {
    inside([] {
        domain work;
        int object = 0;
        for (int i = 0; i < 10; ++i) {
            work.spawn(inout(object), [](int& v) {
                renamed r(v);
                for (int j = 0; j < 5; ++j) {
                    quern::spawn(in(r), [] { quern::this_task::yield(); });
                    quern::spawn(inout(r), [](int& w) { ++w; });
                }
            });
        }
        work.spawn({.final = true}, inout(object), [](int& v) {
            renamed r(v);
            quern::spawn(in(r), [](const int& w) { EXPECT_EQ(w, 50); });
            quern::spawn(inout(r), [](int& w) { ++w; });
            quern::taskwait(on(r));
            EXPECT_EQ(v, 51);
        });
        work.taskwait();
        EXPECT_EQ(object, 51);
    });
}

// Holds: renamed: version_options says how a version is made, and what it takes of the budget.
TEST_P(domain_renamed, versions_are_made_as_the_user_says) {
    struct table {
        explicit table(std::size_t n) : cells(n) {}
        std::vector<int> cells;
    };
    inside([] {
        EXPECT_THROW(renamed<table>(table(3)), std::invalid_argument);
        domain work;
        renaming_gate gate;
        table object(1000);
        renamed r(object, {.make = [] { return table(1000); }, .bytes = 4000});
        work.spawn(in(r), [&] { gate.pass(); });
        work.spawn(out(r), [](table& t) { t.cells.at(999) = 1; });
        EXPECT_EQ(bytes_now(), 4000U);
        gate.open();
        work.taskwait();
        EXPECT_EQ(object.cells[999], 1);

        std::vector<int> numbers(10);
        renamed wrong(numbers, {.make = [] { return std::vector<int>(9); }});
        renaming_gate second;
        work.spawn(in(wrong), [&] { second.pass(); });
        EXPECT_THROW(work.spawn(out(wrong), [] {}), std::invalid_argument);
        second.open();
        work.taskwait();
    });
}

// Holds: renamed: An object without elements orders nothing; its size may change between waits.
TEST_P(domain_renamed, follows_the_size_of_the_object) {
    inside([] {
        domain work;
        std::vector<int> object;
        renamed r(object);
        for (std::size_t n = 0; n < 5; ++n) {
            object.assign(n, 0);
            for (int i = 0; i < 4; ++i) {
                work.spawn(in(r), [n](auto v) { EXPECT_EQ(v.size(), n); });
                work.spawn(inout(r), [](auto v) {
                    for (int& each : v) {
                        ++each;
                    }
                });
            }
            work.taskwait();
            EXPECT_EQ(object, std::vector<int>(n, 4));
        }
        work.spawn(in(r), [] {});
        work.taskwait(on(r));
        object.resize(1000);
        EXPECT_THROW(work.spawn(in(r), [] {}), std::logic_error);
        work.taskwait();
        work.spawn(in(r), [](auto v) { EXPECT_EQ(v.size(), 1000U); });
        work.taskwait();
    });
}

// Holds: renamed: Versions beside the user's object never take more than `renaming-bytes`. If nothing
//     runs any more, a dependence is kept.
TEST_P(domain_renamed, the_budget_is_never_exceeded_and_gives_way) {
    static constexpr std::size_t k_numbers = 1000;
    constexpr auto k_version =
        static_cast<std::uint32_t>(sizeof(std::vector<int>) + k_numbers * sizeof(int));
    limit_bytes(3 * k_version);
    inside([&] {
        domain work;
        std::vector<int> object(k_numbers, 0);
        renamed r(object);
        std::vector<int> other(k_numbers, 0);
        renamed s(other);
        renaming_gate gate;
        std::atomic<int> right{0};
        constexpr int k_rounds = 12;
        for (int i = 0; i < k_rounds; ++i) {
            work.spawn(in(r), [&, i](auto v) {
                gate.pass();
                right += v[0] == i && v[k_numbers - 1] == i ? 1 : 0;
            });
            if (i % 3 == 0) {
                work.spawn(inout(r), [](auto v) {
                    for (int& each : v) {
                        ++each;
                    }
                });
            } else {
                work.spawn(out(r), [i](auto v) { std::fill(v.begin(), v.end(), i + 1); });
            }
            work.spawn(in(s), [&] { gate.pass(); });
            work.spawn(inout(s), [](auto v) { ++v[7]; });
            EXPECT_LE(bytes_now(), 3 * k_version);
        }
        EXPECT_EQ(bytes_now(), 3 * k_version);  // it was used
        gate.open();
        work.taskwait();
        EXPECT_EQ(right, k_rounds);
        EXPECT_EQ(object[5], k_rounds);
        EXPECT_EQ(other[7], k_rounds);
    });
}

// Holds: renamed: Where the budget is too little, the creator lets other tasks run.
TEST_P(domain_renamed, a_creator_waits_for_versions) {
    static constexpr std::size_t k_numbers = 1000;
    constexpr auto k_version =
        static_cast<std::uint32_t>(sizeof(std::vector<int>) + k_numbers * sizeof(int));
    limit_bytes(6 * k_version);
    inside([&] {
        domain work;
        std::vector<std::vector<int>> objects(5, std::vector<int>(k_numbers));
        std::deque<renamed<std::vector<int>>> all;
        for (auto& each : objects) {
            all.emplace_back(each);
        }
        const int rounds = scaled(200, 30);
        std::atomic<int> right{0};
        for (int i = 0; i < rounds; ++i) {
            for (auto& r : all) {
                work.spawn(out(r), [i](auto v) { std::fill(v.begin(), v.end(), i); });
                work.spawn(in(r), [&right, i](auto v) {
                    right += v[0] == i && v[k_numbers - 1] == i ? 1 : 0;
                });
                EXPECT_LE(bytes_now(), 6 * k_version);
            }
        }
        work.taskwait();
        EXPECT_EQ(right, 5 * rounds);
    });
}

// Holds: renamed: A creator that is far ahead of the tasks takes versions again while tasks run; if
//     none can, because readers are suspended, it makes more.
TEST_P(domain_renamed, makes_more_versions_when_readers_are_suspended) {
    static constexpr std::size_t k_numbers = 1 << 14;
    constexpr std::size_t k_version = sizeof(std::vector<int>) + k_numbers * sizeof(int);
    constexpr int k_rounds = 30;
    constexpr std::size_t k_usual = 8 + 3;  // of the most workers
    inside([&] {
        domain work;
        std::vector<int> object(k_numbers, 0);
        renamed r(object);
        // The system may run another worker just then: then once more.
        std::size_t versions = 0;
        for (int attempt = 0; attempt < 20 && versions <= k_usual; ++attempt) {
            quern_test::waiting_room room;
            std::atomic<bool> all_wait{false};
            std::atomic<int> right{0};
            for (int i = 0; i < k_rounds; ++i) {
                work.spawn(in(r), [&, i](auto v) {
                    if (!all_wait) {
                        room.wait();
                    }
                    right += v[7] == i ? 1 : 0;
                });
                work.spawn(out(r), [i](auto v) { v[7] = i + 1; });
                quern::this_task::sleep_for(std::chrono::milliseconds(1));
            }
            versions = bytes_now() / k_version;
            all_wait = true;
            while (right < k_rounds) {
                room.resume_all();
                quern::this_task::yield();
            }
            work.spawn(out(r), [](auto v) { v[7] = 0; });
            work.taskwait();
        }
        EXPECT_GT(versions, k_usual);
    });
}

// Holds: renamed: With `renaming-bytes` 0 nothing is renamed.
TEST_P(domain_renamed, can_be_switched_off) {
    limit_bytes(0);
    inside([] {
        domain work;
        int object = 0;
        renamed r(object);
        const auto before = quern::detail::read_renaming().versions;
        for (int i = 0; i < 20; ++i) {
            work.spawn(in(r), [i](const int& v) { EXPECT_EQ(v, i); });
            work.spawn(inout(r), [](int& v) { ++v; });
        }
        work.taskwait();
        EXPECT_EQ(object, 20);
        EXPECT_EQ(quern::detail::read_renaming().versions, before);
    });
}

// Holds: renamed: After an error the object holds some version; the domain can be used again.
TEST_P(domain_renamed, survives_errors) {
    inside([] {
        domain work;
        std::vector<int> object(50, 1);
        renamed r(object);
        for (int round = 0; round < 10; ++round) {
            work.spawn(in(r), [] { quern::this_task::yield(); });
            work.spawn(inout(r), [](auto) { throw std::runtime_error("first"); });
            work.spawn(in(r), [] { FAIL() << "a successor was not dropped"; });
            work.spawn(inout(r), [] { FAIL() << "a successor was not dropped"; });
            if (round % 2 == 0) {
                EXPECT_THROW(work.taskwait(), std::runtime_error);
            } else {
                EXPECT_THROW(work.taskwait(on(r)), std::runtime_error);
            }
            EXPECT_EQ(object.size(), 50U);
            work.spawn(out(r), [](auto v) { std::fill(v.begin(), v.end(), 3); });
            work.taskwait(on(r));
            EXPECT_EQ(object[49], 3);
        }
        // The end of r during the unwinding of its owner.
        EXPECT_THROW(
            {
                renamed s(object);
                work.spawn(in(s), [] { quern::this_task::yield(); });
                work.spawn(out(s), [](auto v) { std::fill(v.begin(), v.end(), 4); });
                throw std::logic_error("owner");
            },
            std::logic_error);
        EXPECT_EQ(object[0], 4);
    });
}

// Holds: renamed: An error of a copy back goes to taskwait().
TEST_P(domain_renamed, an_error_of_a_copy_back_is_thrown) {
    struct fragile {
        int value = 0;
        bool throws = false;
        fragile() = default;
        fragile(const fragile&) = default;
        fragile& operator=(const fragile& other) {
            if (other.throws) {
                throw std::runtime_error("not copied");
            }
            value = other.value;
            return *this;
        }
    };
    inside([] {
        domain work;
        fragile object;
        renamed r(object);
        renaming_gate gate;
        work.spawn(in(r), [&] { gate.pass(); });
        work.spawn(out(r), [](fragile& f) { f.throws = true; });
        gate.open();
        EXPECT_THROW(work.taskwait(), std::runtime_error);
        work.taskwait();
        work.spawn(out(r), [](fragile& f) { f = fragile(); });
        work.taskwait();
    });
}

// Holds: renamed: std::logic_error for an access by a task that did not make r, or in a second domain
//     before the taskwait() of the first; std::invalid_argument for a task that names r twice, and
//     for a budget that is smaller than a version.
TEST_P(domain_renamed, refuses_mistakes) {
    inside([] {
        domain work;
        int object = 1;
        renamed r(object);
        std::string message = message_of<std::invalid_argument>(
            [&] { work.spawn(in(r), out(r), [](const int&, int&) {}); });
        EXPECT_NE(message.find("names a renamed object twice"), std::string::npos) << message;

        work.spawn(in(r), [] {});
        domain second;
        message = message_of<std::logic_error>([&] { second.spawn(in(r), [] {}); });
        EXPECT_NE(message.find("two domains"), std::string::npos) << message;
        message = message_of<std::logic_error>([&] { second.taskwait(on(r)); });
        EXPECT_NE(message.find("two domains"), std::string::npos) << message;
        work.taskwait();
        second.spawn(in(r), [] {});
        second.taskwait();

        work.spawn([&] {
            message = message_of<std::logic_error>([&] { quern::spawn(in(r), [] {}); });
            EXPECT_NE(message.find("did not make"), std::string::npos) << message;
            EXPECT_THROW(r.value(), std::logic_error);
            EXPECT_THROW(out(r), std::logic_error);
        });
        work.taskwait();
    });
    domain work(rt.default_pool());
    std::vector<int> object(1000);
    renamed r(object);  // a thread outside of tasks
    work.spawn(out(r), [](auto v) { v[0] = 1; });
    work.taskwait(on(r));
    EXPECT_EQ(object[0], 1);
    work.taskwait();
    limit_bytes(1000);
    const std::string message =
        message_of<std::invalid_argument>([&] { work.spawn(out(r), [] {}); });
    EXPECT_NE(message.find("renaming-bytes is 1000, smaller than one version"), std::string::npos)
        << message;
}

// Holds: settings: Bytes may end in k, M or G, for 2^10, 2^20 and 2^30.
TEST(renaming_bytes, is_a_setting_in_bytes) {
    quern::settings chosen;
    EXPECT_EQ(chosen.number("renaming-bytes"), k_usual_bytes);
    const std::pair<const char*, unsigned> accepted[] = {
        {"0", 0},           {"1000", 1000},   {"512k", 512U << 10},
        {"64M", 64U << 20}, {"3G", 3U << 30}, {"4294967295", ~0U}};
    for (const auto& [text, bytes] : accepted) {
        chosen.set("renaming-bytes", {.text = text});
        EXPECT_EQ(chosen.number("renaming-bytes"), bytes);
    }
    for (const char* text : {"", "-1", "4G", "64MB", "64m", "M", "6 M", "4294967296", "many"}) {
        const std::string message = message_of<std::invalid_argument>(
            [&] { chosen.set("renaming-bytes", {.text = text, .origin = "a test"}); });
        EXPECT_EQ(message, std::string("quern: renaming-bytes is '") + text +
                               "' (a test); accepted: bytes from 0 to 4294967295, also as 512k, "
                               "64M, 2G");
    }
}

}  // namespace
