// SPDX-License-Identifier: BSL-1.0
// A toy layer for messages: a post office with its own thread answers letters, and a poller
// delivers the answers to the waiting tasks and threads.
#include <quern/quern.hpp>
#include <quern/scheduler/pollers.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;

struct letter {
    int number;
    int text;
};

/// The foreign system: answers each letter with twice its text; does not know Quern.
class post_office {
public:
    explicit post_office(std::chrono::microseconds delay) : m_delay(delay) {}
    post_office(const post_office&) = delete;
    post_office& operator=(const post_office&) = delete;
    ~post_office() {
        {
            const std::scoped_lock guard(m_lock);
            m_ends = true;
        }
        m_changed.notify_one();
        m_thread.join();
    }

    void send(letter one) {
        {
            const std::scoped_lock guard(m_lock);
            m_sent.push_back(one);
        }
        m_changed.notify_one();
    }

    std::vector<letter> collect() {
        const std::scoped_lock guard(m_lock);
        return std::exchange(m_answered, {});
    }

private:
    void work() {
        std::unique_lock guard(m_lock);
        while (!m_ends) {
            if (m_sent.empty()) {
                m_changed.wait(guard);
                continue;
            }
            std::deque<letter> round;
            round.swap(m_sent);
            guard.unlock();
            std::this_thread::sleep_for(m_delay);
            guard.lock();
            for (const letter& each : round) {
                m_answered.push_back({each.number, 2 * each.text});
            }
        }
    }

    const std::chrono::microseconds m_delay;
    std::mutex m_lock;
    std::condition_variable m_changed;
    std::deque<letter> m_sent;
    std::vector<letter> m_answered;
    bool m_ends = false;
    std::thread m_thread{[this] { work(); }};
};

/// The layer. May outlive the runtime.
class mail {
public:
    mail(const quern::pool_ref& where, post_office& office)
        : m_office(office),
          m_poller(where, {.name = "mail",
                           .ask = [this] { return ask(); },
                           .tell = [this] { return tell(); }}) {}

    quern::future<int> send(int text) {
        letter one{0, text};
        quern::promise<int> answer;
        auto result = answer.get_future();
        {
            const std::scoped_lock guard(m_lock);
            one.number = m_next++;
            m_open.emplace(one.number, std::move(answer));
        }
        m_poller.expect();
        m_office.send(one);
        return result;
    }

    std::uint64_t calls() const { return m_calls.load(); }
    std::uint64_t outstanding() const { return m_poller.outstanding(); }

private:
    quern::poll_result ask() {
        m_calls.fetch_add(1);
        const std::vector<letter> all = m_office.collect();
        for (const letter& each : all) {
            std::optional<quern::promise<int>> answer;
            {
                const std::scoped_lock guard(m_lock);
                answer = std::move(m_open.extract(each.number).mapped());
            }
            answer->set_value(each.text);
            m_poller.settle();
        }
        return all.empty() ? quern::poll_result::idle : quern::poll_result::progress;
    }

    std::string tell() {
        const std::scoped_lock guard(m_lock);
        return "the first open letter is number " + std::to_string(m_open.begin()->first);
    }

    post_office& m_office;
    std::mutex m_lock;
    std::map<int, quern::promise<int>> m_open;
    int m_next = 0;
    std::atomic<std::uint64_t> m_calls{0};
    quern::poller m_poller;  ///< the last member: it uses the others
};

class mail_test : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(on, mail_test, testing::Values(1U, 2U, 8U),
                         [](const auto& of) { return std::to_string(of.param) + "_workers"; });

TEST_P(mail_test, resumes_tasks_that_wait_for_answers) {
    post_office office(50us);
    quern::runtime rt(quern::runtime_options::with_workers(GetParam()));
    mail post(rt.default_pool(), office);
    std::vector<quern::future<int>> sums;
    for (int i = 0; i < 20; ++i) {
        sums.push_back(quern::async(rt, [&post, i] {
            int sum = 0;
            for (int k = 0; k < 10; ++k) {
                sum += post.send(i).get();
            }
            return sum;
        }));
    }
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(sums[static_cast<std::size_t>(i)].get(), 20 * i);
    }
    EXPECT_TRUE(quern_test::eventually([&] { return post.outstanding() == 0; }));
}

// Holds: poller: It may resume tasks...
TEST_P(mail_test, brings_answers_to_plain_threads_while_tasks_wait_too) {
    post_office office(20us);
    quern::runtime rt(quern::runtime_options::with_workers(GetParam()));
    mail post(rt.default_pool(), office);
    auto of_tasks = quern::async(rt, [&post] {
        int sum = 0;
        for (int i = 0; i < 50; ++i) {
            sum += post.send(1).get();
        }
        return sum;
    });
    std::array<int, 3> sums{};
    std::vector<std::thread> threads;
    for (int& sum : sums) {
        threads.emplace_back([&post, &sum] {
            for (int i = 0; i < 50; ++i) {
                sum += post.send(2).get();
            }
        });
    }
    for (std::thread& each : threads) {
        each.join();
    }
    EXPECT_EQ(of_tasks.get(), 100);
    EXPECT_EQ(sums, (std::array{200, 200, 200}));
}

// Holds: poller: Outstanding operations keep their...
TEST_P(mail_test, keeps_its_runtime_until_all_answers_have_come) {
    post_office office(30ms);
    std::optional<mail> post;
    std::atomic<int> sum{0};
    {
        quern::runtime rt(quern::runtime_options::with_workers(GetParam()));
        post.emplace(rt.default_pool(), office);
        for (int i = 1; i <= 10; ++i) {
            quern::post({.pool = &rt.default_pool().get()},
                        [&, i] { sum.fetch_add(post->send(i).get()); });
        }
    }
    EXPECT_EQ(sum.load(), 110);
    EXPECT_EQ(post->outstanding(), 0U);
}

double processor_ms() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto ms = [](const timeval& t) {
        return 1e3 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_usec);
    };
    return ms(used.ru_utime) + ms(used.ru_stime);
}

// Holds: poller: While nothing is outstanding...
TEST_P(mail_test, costs_nothing_while_no_letter_is_open) {
    post_office office(0us);
    quern::runtime rt(quern::runtime_options::with_workers(GetParam()));
    mail post(rt.default_pool(), office);
    for (int i = 0; i < 100; ++i) {
        quern::async(rt, [] {}).get();
    }
    EXPECT_EQ(post.calls(), 0U);
    std::this_thread::sleep_for(50ms);  // until all sleep
    const double before = processor_ms();
    std::this_thread::sleep_for(500ms);
    EXPECT_LT(processor_ms() - before, 100) << "of 500 ms";
    EXPECT_EQ(post.calls(), 0U);

    EXPECT_EQ(post.send(21).get(), 42);
    EXPECT_GT(post.calls(), 0U);
}

/// A foreign system that is a descriptor: reads from a pipe without blocking.
TEST_P(mail_test, reads_a_pipe) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC), 0);
    quern::runtime rt(quern::runtime_options::with_workers(GetParam()));
    std::array<quern::promise<void>, 100> come;
    quern::poller* itself = nullptr;
    quern::poller pipe(rt.default_pool(), {.name = "pipe", .ask = [&] {
                                               unsigned char which = 0;
                                               if (::read(ends[0], &which, 1) != 1) {
                                                   return quern::poll_result::idle;
                                               }
                                               come.at(which).set_value();
                                               itself->settle();
                                               return quern::poll_result::progress;
                                           }});
    itself = &pipe;
    quern::async(rt, [&] {
        std::vector<quern::future<void>> all;
        for (unsigned char i = 0; i < come.size(); ++i) {
            pipe.expect();
            all.push_back(come.at(i).get_future());
            EXPECT_EQ(::write(ends[1], &i, 1), 1);
        }
        for (auto& each : all) {
            each.get();
        }
    }).get();
    EXPECT_TRUE(quern_test::eventually([&] { return pipe.outstanding() == 0; }));
    ::close(ends[0]);
    ::close(ends[1]);
}

}  // namespace
