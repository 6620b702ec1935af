// SPDX-License-Identifier: BSL-1.0
// Pollers: idle workers call them, one at a time, also when all were asleep when the poller came;
// what a poller makes ready runs; and they can be taken away.
#include <quern/scheduler/pollers.hpp>

#include "on_runtime.hpp"

#include <vector>

namespace {

using quern::detail::poll_result;
using quern::detail::poller_list;
using quern_test::eventually;

TEST(poller_list_test, calls_those_that_are_registered) {
    poller_list list;
    EXPECT_TRUE(list.empty());
    int a = 0, b = 0;
    const auto first = list.add([&a] {
        ++a;
        return poll_result::idle;
    });
    EXPECT_FALSE(list.empty());
    EXPECT_EQ(list.poll(), poll_result::idle);
    const auto second = list.add([&b] {
        ++b;
        return poll_result::progress;
    });
    EXPECT_EQ(list.poll(), poll_result::progress);
    list.remove(first);
    list.poll();
    list.remove(second);
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(list.poll(), poll_result::idle);
    EXPECT_EQ(a, 2);
    EXPECT_EQ(b, 2);
}

class pollers_test : public quern_test::on_runtime {
protected:
    poller_list& pollers() { return rt.default_pool().get().pollers; }

    void wait_until_all_sleep() {
        auto& gate = rt.default_pool().get().gate;
        ASSERT_TRUE(eventually([&] { return gate.load().sleeping == workers(); }));
    }
};
QUERN_ON_1_2_8_WORKERS(pollers_test);

TEST_P(pollers_test, are_called_by_one_worker_at_a_time) {
    long calls = 0;  // plain: two callers at once would be a race
    std::atomic<bool> enough{false};
    const auto handle = rt.default_pool().get().add_poller([&] {
        enough.store(++calls >= 100);
        return poll_result::idle;
    });
    inside([] {});
    EXPECT_TRUE(eventually([&] { return enough.load(); }));
    pollers().remove(handle);
    EXPECT_GE(calls, 100);
}

TEST_P(pollers_test, are_called_when_they_come_while_all_workers_sleep) {
    wait_until_all_sleep();
    std::atomic<int> calls{0};
    const auto handle = rt.default_pool().get().add_poller([&] {
        calls.fetch_add(1);
        return poll_result::idle;
    });
    EXPECT_TRUE(eventually([&] { return calls.load() >= 3; }, std::chrono::seconds(2)));
    pollers().remove(handle);
}

TEST_P(pollers_test, are_not_called_after_they_were_removed) {
    for (int i = 0; i < 50; ++i) {
        auto alive = std::make_unique<int>(0);  // gone when the poller is
        const auto handle = rt.default_pool().get().add_poller([&alive] {
            ++*alive;
            return poll_result::idle;
        });
        inside([] {});
        pollers().remove(handle);
        alive.reset();
    }
}

TEST_P(pollers_test, may_resume_tasks) {
    std::atomic<quern::detail::context*> waiting{nullptr};
    const auto handle = rt.default_pool().get().add_poller([&] {
        if (quern::detail::context* c = waiting.exchange(nullptr)) {
            quern::detail::resume(*c);
            return poll_result::progress;
        }
        return poll_result::idle;
    });
    inside([&] {
        for (int i = 0; i < 100; ++i) {
            auto publish = [&](quern::detail::context& self) {
                waiting.store(&self);
                return true;
            };
            quern::detail::suspend(publish);
        }
    });
    pollers().remove(handle);
}

TEST_P(pollers_test, may_make_tasks) {
    std::atomic<int> left{20};
    std::atomic<int> ran{0};
    const auto handle = rt.default_pool().get().add_poller([&] {
        if (left.load() == 0) {
            return poll_result::idle;
        }
        left.fetch_sub(1);
        quern::post([&ran] { ran.fetch_add(1); });
        return poll_result::progress;
    });
    inside([] {});
    EXPECT_TRUE(eventually([&] { return ran.load() == 20; }));
    pollers().remove(handle);
}

TEST_P(pollers_test, do_not_keep_a_runtime_from_ending) {
    std::atomic<int> calls{0};
    {
        quern::runtime other(quern::runtime_options::with_workers(workers()));
        other.default_pool().get().pollers.add([&] {
            calls.fetch_add(1);
            return poll_result::idle;
        });
        quern::async(other, [] {}).get();
    }
    EXPECT_GT(calls.load(), 0);
}

}  // namespace
