// SPDX-License-Identifier: BSL-1.0
// Very many calls, more than the links take at once, in one direction and in both.
#include "on_job.hpp"

#include <quern/task/blocking_region.hpp>
#include <quern/task/task_group.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace quern_test;
using quern::localities::count;
using quern::localities::here;
using quern::localities::post_to;
using quern::localities::run_at;

constexpr std::uint64_t k_many = scaled(100'000, 10'000);

/// Of the calls that have come here.
struct arrivals {
    std::atomic<std::uint64_t> calls{0};
    std::atomic<std::uint64_t> sum{0};
    std::atomic<std::uint64_t> squares{0};
    std::atomic<std::uint64_t> bytes{0};

    void reset() { calls = sum = squares = bytes = 0; }
};
arrivals g_arrived;

void arrive(std::uint64_t number) {
    ++g_arrived.calls;
    g_arrived.sum += number;
    g_arrived.squares += number * number;
}

/// All numbers below k_many have come, each once, from so many localities.
void expect_all_numbers(std::uint64_t senders = 1) {
    EXPECT_EQ(g_arrived.calls, senders * k_many);
    EXPECT_EQ(g_arrived.sum, senders * (k_many * (k_many - 1) / 2));
    EXPECT_EQ(g_arrived.squares, senders * ((k_many - 1) * k_many * (2 * k_many - 1) / 6));
}

void post_all_numbers(int to) {
    for (std::uint64_t i = 0; i < k_many; ++i) {
        post_to(to, &arrive, i);
    }
}

class localities_floods : public on_workers {
protected:
    void end_job() { m_job->end(); }

private:
    static void prepare() { g_arrived.reset(); }
    std::unique_ptr<own_job> m_job = (prepare(), std::make_unique<own_job>(GetParam()));
};

// Holds: post_to: Each call is run once.
TEST_P(localities_floods, each_call_from_a_thread_arrives_once) {
    if (here() == 0) {
        post_all_numbers(next_locality());
    }
    const bool is_receiver = here() == locality_after(0);
    end_job();
    if (is_receiver) {
        expect_all_numbers();
    } else {
        EXPECT_EQ(g_arrived.calls, 0U);
    }
}

// Holds: post_to: Each call is...
TEST_P(localities_floods, tasks_of_all_localities_post_to_each_other_at_once) {
    quern::async([] { post_all_numbers(next_locality()); }).get();
    end_job();
    expect_all_numbers();
}

// Holds: post_to: Each call is...
TEST_P(localities_floods, many_tasks_post_to_one_locality_at_once) {
    constexpr std::uint64_t k_tasks = 20;
    quern::task_group senders;
    for (std::uint64_t task = 0; task < k_tasks; ++task) {
        senders.run([task] {
            for (std::uint64_t i = task; i < k_many; i += k_tasks) {
                post_to(quern::localities::root, &arrive, i);
            }
        });
    }
    senders.wait();
    const bool is_root = here() == quern::localities::root;
    end_job();
    if (is_root) {
        expect_all_numbers(number_of_ranks());
    }
}

// Holds: run_at: Any number of calls may wait for their answers.
TEST_P(localities_floods, many_answers_are_waited_for_at_once) {
    std::vector<quern::future<std::uint64_t>> calls;
    for (std::uint64_t i = 0; i < k_many / 10; ++i) {
        calls.push_back(run_at(
            static_cast<int>(i) % count(), [](std::uint64_t number) { return number + 1; }, i));
    }
    for (std::uint64_t i = 0; i < calls.size(); ++i) {
        ASSERT_EQ(calls[i].get(), i + 1);
    }
}

void take_slowly(const std::string& text) {
    g_arrived.bytes += text.size();
    if (++g_arrived.calls % 256 == 0) {
        spin_for(std::chrono::milliseconds(1));
    }
}

void send_bytes(std::size_t size, std::size_t total) {
    const std::string text(size, 'x');
    for (std::size_t sent = 0; sent < total; sent += size) {
        post_to(next_locality(), &take_slowly, text);
    }
}

constexpr std::size_t k_total = std::size_t{scaled(64, 8)} << 20U;

// Holds: post_to: A sender that is faster than its receiver waits, and nothing is lost.
TEST_P(localities_floods, a_slow_receiver_gets_all_of_many_messages) {
    quern::async([] { send_bytes(std::size_t{8} << 10U, k_total); }).get();
    end_job();
    EXPECT_EQ(g_arrived.bytes, k_total);
}

// Holds: post_to: A sender that...
TEST_P(localities_floods, a_slow_receiver_gets_all_large_contents) {
    send_bytes(std::size_t{256} << 10U, k_total);
    end_job();
    EXPECT_EQ(g_arrived.bytes, k_total);
}

/// Of three ways to travel, by the number: in a message with others, from object to object, and
/// alone because of many small parts.
struct mixture {
    std::uint64_t number = 0;
    std::string small;
    std::vector<std::uint64_t> large;
    std::vector<std::string> parts;

    mixture() = default;
    explicit mixture(std::uint64_t n)
        : number(n),
          small(n % 7, 's'),
          large(n % 5 == 0 ? 2500 : 0, n),
          parts(n % 11 == 0 ? 2000 : 1, std::string(n % 30, 'p')) {}
    bool operator==(const mixture&) const = default;
    template <class Archive>
    void serialize(Archive& archive) {
        archive(number, small, parts);
    }
};

void take_mixture(const mixture& of, const std::vector<std::uint64_t>& large) {
    mixture expected(of.number);
    g_arrived.bytes += large == expected.large ? 1U : 0U;
    expected.large.clear();
    if (of == expected) {
        arrive(of.number);
    }
}

// Holds: post_to: Each call is...
TEST_P(localities_floods, calls_of_all_sizes_from_many_tasks_arrive_as_they_were_sent) {
    constexpr std::uint64_t k_tasks = 10;
    constexpr std::uint64_t k_calls = scaled(200, 50);
    quern::task_group senders;
    for (std::uint64_t task = 0; task < k_tasks; ++task) {
        senders.run([task] {
            for (std::uint64_t i = 0; i < k_calls; ++i) {
                mixture one(task * k_calls + i);
                std::vector<std::uint64_t> large;
                large.swap(one.large);
                post_to(next_locality(), &take_mixture, std::move(one), std::move(large));
            }
        });
    }
    senders.wait();
    end_job();
    constexpr std::uint64_t k_all = k_tasks * k_calls;
    EXPECT_EQ(g_arrived.calls, k_all);
    EXPECT_EQ(g_arrived.bytes, k_all);
    EXPECT_EQ(g_arrived.sum, k_all * (k_all - 1) / 2);
}

// Holds: post_to: Each call is...
TEST_P(localities_floods, a_blocking_region_and_a_task_of_another_runtime_may_post_all) {
    const auto post_all = [] {
        quern::blocking([] {
            for (std::uint64_t i = 0; i < k_many; i += 2) {
                post_to(next_locality(), &arrive, i);
            }
        });
    };
    quern::async(post_all).get();
    const quern::runtime other(quern::runtime_options::with_workers(1));
    quern::async(other, [] {
        for (std::uint64_t i = 1; i < k_many; i += 2) {
            post_to(next_locality(), &arrive, i);
        }
    }).get();
    end_job();
    expect_all_numbers();
}

// Holds: post_to: Each call is...
TEST_P(localities_floods, calls_that_post_further_calls_arrive) {
    constexpr std::uint64_t k_each = k_many / 100;
    const auto spread = [](int from) {
        for (std::uint64_t i = 0; i < k_each; ++i) {
            post_to(from, &arrive, i);
        }
    };
    for (int i = 0; i < 50; ++i) {
        post_to(next_locality(), spread, here());
    }
    end_job();
    EXPECT_EQ(g_arrived.calls, 50 * k_each);
    EXPECT_EQ(g_arrived.sum, 50 * (k_each * (k_each - 1) / 2));
}

QUERN_ON_1_2_WORKERS(localities_floods);

}  // namespace
