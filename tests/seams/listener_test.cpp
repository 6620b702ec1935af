// SPDX-License-Identifier: BSL-1.0
// A toy layer that listens from outside the scheduler: it counts what happens to tasks, workers and
// runtimes by mask, and tells messages, edges and events of its own.
#include <quern/quern.hpp>
#include <quern/scheduler/detail/pool.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using quern::trace::custom_event;
using quern::trace::edge_info;
using quern::trace::event_kind;
using quern::trace::listen;
using quern::trace::message_info;
using quern::trace::runtime_event;
using quern::trace::task_event;
using quern::trace::worker_event;

constexpr int k_messages = 20;
constexpr const char* k_pool = "toys";

constexpr custom_event k_round("round");
constexpr custom_event k_other("other");

/// Counts what happens in the pool of the toy layer, and what the layer tells.
struct observing final : quern::trace::listener {
    static bool is_ours(const worker_event& e) noexcept {
        return e.pool && e.pool->name() == k_pool;
    }
    static bool is_toy(const task_event& e) noexcept {
        return is_ours(e) && e.name != nullptr && std::strcmp(e.name, "toy") == 0;
    }
    static bool is_ours(const runtime_event& e) { return e.which.default_pool().name() == k_pool; }

    void on_made(const task_event& e) noexcept override { made += is_toy(e) ? 1 : 0; }
    void on_start(const task_event& e) noexcept override { started += is_toy(e) ? 1 : 0; }
    void on_stop(const task_event& e) noexcept override { stopped += is_toy(e) ? 1 : 0; }
    void on_suspend(const task_event& e) noexcept override { suspended += is_toy(e) ? 1 : 0; }
    void on_resume(const task_event& e) noexcept override { resumed += is_toy(e) ? 1 : 0; }
    void on_worker_start(const worker_event& e) noexcept override {
        workers_started += is_ours(e) ? 1 : 0;
    }
    void on_worker_stop(const worker_event& e) noexcept override {
        workers_stopped += is_ours(e) ? 1 : 0;
    }
    void on_runtime_start(const runtime_event& e) noexcept override {
        runtimes_started += is_ours(e) ? 1 : 0;
    }
    void on_runtime_stop(const runtime_event& e) noexcept override {
        runtimes_stopped += is_ours(e) ? 1 : 0;
    }
    void on_message(const task_event& by, const message_info& what) noexcept override {
        (what.is_sent ? sent : received) += static_cast<int>(what.bytes);
        by_tasks += by.task != 0 && is_toy(by) ? 1 : 0;
        by_threads += by.task == 0 && !by.pool ? 1 : 0;
    }
    void on_edge(const task_event&, const edge_info& what) noexcept override {
        edges += what.from != 0 && what.to == what.from + 1 ? 1 : 0;
    }
    void on_custom(const task_event& by, const custom_event& what, double value) noexcept override {
        if (&what == &k_round) {
            sum += static_cast<int>(value);
            by_tasks += by.task != 0 && is_toy(by) ? 1 : 0;
            by_threads += by.task == 0 && !by.pool ? 1 : 0;
        } else {
            others += std::strcmp(what.name(), "other") == 0 ? 1 : 0;
        }
    }

    std::atomic<int> made{0}, started{0}, stopped{0}, suspended{0}, resumed{0};
    std::atomic<int> workers_started{0}, workers_stopped{0};
    std::atomic<int> runtimes_started{0}, runtimes_stopped{0};
    std::atomic<int> sent{0}, received{0}, edges{0}, sum{0}, others{0}, by_tasks{0}, by_threads{0};
};

/// The toy layer passes messages among its own tasks, and orders them.
void pass_messages() {
    for (int i = 0; i < k_messages; ++i) {
        quern::trace::tell_message({.is_sent = true, .peer = 1, .tag = i, .bytes = 2});
        quern::trace::tell_message({.is_sent = false, .peer = 0, .tag = i, .bytes = 1});
        const auto from = static_cast<std::uint64_t>(i) + 1;
        quern::trace::tell_edge(from, from + 1);
        k_round.fire(i);
        k_other.fire();
    }
}

class listener_seam_test : public testing::TestWithParam<unsigned> {
protected:
    static quern::runtime_options options() {
        quern::runtime_options all = quern::runtime_options::with_workers(GetParam());
        all.pools.front().name = k_pool;
        return all;
    }
    /// So many tasks, each of which yields once.
    static void run_tasks(quern::runtime& rt, int tasks) {
        std::vector<quern::future<void>> all;
        for (int i = 0; i < tasks; ++i) {
            all.push_back(quern::async({.name = "toy", .pool = &rt.default_pool().get()},
                                       [] { quern::this_task::yield(); }));
        }
        for (auto& each : all) {
            each.get();
        }
        rt.default_pool().get().wait_until_quiet();
    }
};

INSTANTIATE_TEST_SUITE_P(on, listener_seam_test, testing::Values(1U, 2U, 8U),
                         [](const auto& of) { return std::to_string(of.param) + "_workers"; });

TEST_P(listener_seam_test, counts_tasks_workers_and_runtimes_exactly) {
    constexpr int k_tasks = 200;
    observing all;
    observing some;
    const auto hears_all = listen(all);
    const auto hears_some =
        listen(some, event_kind::task_stop | event_kind::worker_start | event_kind::runtime_stop);
    {
        quern::runtime rt(options());
        run_tasks(rt, k_tasks);
    }
    const int workers = static_cast<int>(GetParam());
    for (const auto* const each :
         {&all.made, &all.started, &all.stopped, &all.suspended, &all.resumed, &some.stopped}) {
        EXPECT_EQ(*each, k_tasks);
    }
    EXPECT_EQ(all.workers_started, workers);
    EXPECT_EQ(all.workers_stopped, workers);
    EXPECT_EQ(all.runtimes_started, 1);
    EXPECT_EQ(all.runtimes_stopped, 1);
    EXPECT_EQ(some.workers_started, workers);
    EXPECT_EQ(some.runtimes_stopped, 1);
    EXPECT_EQ(some.made + some.started + some.suspended + some.resumed, 0);
    EXPECT_EQ(some.workers_stopped + some.runtimes_started, 0);
}

// Holds: custom_event: It is told on the thread that fires it, a task or not, with the task and the
// worker, to the listeners that want it.
TEST_P(listener_seam_test, tells_messages_edges_and_events_of_its_own_from_tasks_and_threads) {
    constexpr int k_tellers = 4;  // tasks, and as many threads
    observing all;
    observing messages;
    quern::runtime rt(options());
    auto hears_all = listen(all, event_kind::message | event_kind::edge | event_kind::custom);
    auto hears_messages = listen(messages, event_kind::message);
    std::vector<quern::future<void>> tasks;
    std::vector<std::thread> threads;
    for (int i = 0; i < k_tellers; ++i) {
        tasks.push_back(
            quern::async({.name = "toy", .pool = &rt.default_pool().get()}, pass_messages));
        threads.emplace_back(pass_messages);
    }
    for (auto& each : tasks) {
        each.get();
    }
    for (std::thread& each : threads) {
        each.join();
    }
    hears_all.stop();
    hears_messages.stop();
    pass_messages();  // unheard

    constexpr int k_times = 2 * k_tellers * k_messages;
    EXPECT_EQ(all.sent, 2 * k_times);
    EXPECT_EQ(all.received, k_times);
    EXPECT_EQ(all.edges, k_times);
    EXPECT_EQ(all.sum, 2 * k_tellers * k_messages * (k_messages - 1) / 2);
    EXPECT_EQ(all.others, k_times);
    EXPECT_EQ(all.by_tasks, 3 * k_times / 2);
    EXPECT_EQ(all.by_threads, 3 * k_times / 2);
    EXPECT_EQ(messages.sent, 2 * k_times);
    EXPECT_EQ(messages.received, k_times);
    EXPECT_EQ(messages.edges + messages.sum + messages.others, 0);
    EXPECT_EQ(all.started + messages.started, 0);
    EXPECT_EQ(rt.default_pool().get().hooks(), nullptr);
}

}  // namespace
