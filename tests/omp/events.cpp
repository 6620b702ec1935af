// SPDX-License-Identifier: BSL-1.0
// Tasks with the clause detach, whose events are fulfilled within, by another task, or by a thread
// of the program's own.
#include "check.h"

#include <omp.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

void within() {
    std::atomic<int> ran{0};
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 100; ++i) {
            omp_event_handle_t event;
#pragma omp task detach(event) firstprivate(i)
            {
                ran.fetch_add(i);
                omp_fulfill_event(event);
            }
        }
#pragma omp taskwait
        CHECK(ran == 4950);
    }
    CHECK(ran == 4950);
}

/// The creator's copy of the handle is the same as the one in the task.
void by_another_task() {
    std::atomic<int> order{0};
    int after = 0;
    [[maybe_unused]] int x = 0;
#pragma omp parallel
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x) shared(x, order)
        order.fetch_add(1);
#pragma omp task firstprivate(event) shared(order)
        {
            order.fetch_add(10);
            omp_fulfill_event(event);
        }
#pragma omp task depend(in : x) shared(x, order, after)
        after = order.load();
    }
    CHECK(after == 11);
}

/// taskwait, taskgroup and the end of a region wait for what a thread outside fulfills later.
void by_a_thread() {
    for (int round = 0; round < 10; ++round) {
        std::atomic<int> ran{0};  // gcc leaves out a task without a body, and its event
        std::atomic<int> fulfilled{0};
        std::vector<std::thread> others;
        const auto later = [&](omp_event_handle_t event) {
            others.emplace_back([&fulfilled, event] {
                ::usleep(500);
                fulfilled.fetch_add(1);
                omp_fulfill_event(event);
            });
        };
#pragma omp parallel
#pragma omp single
        {
            omp_event_handle_t first;
#pragma omp task detach(first) shared(ran)
            ran.fetch_add(1);
            later(first);
#pragma omp taskwait
            CHECK(fulfilled == 1);
#pragma omp taskgroup
            {
                omp_event_handle_t second;
#pragma omp task detach(second) shared(ran)
                ran.fetch_add(1);
                later(second);
            }
            CHECK(fulfilled == 2);
            omp_event_handle_t third;
#pragma omp task detach(third) shared(ran)
            ran.fetch_add(1);
            later(third);
        }
        CHECK(fulfilled == 3 && ran == 3);
        for (std::thread& each : others) {
            each.join();
        }
    }
}

/// An undeferred task ends when its event has been fulfilled.
void undeferred() {
    std::atomic<int> fulfilled{0};
    std::thread other;
#pragma omp parallel
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task detach(event) if (0) shared(other, fulfilled)
        {
            omp_event_handle_t mine = event;
            other = std::thread([mine, &fulfilled] {
                ::usleep(2000);
                fulfilled = 1;
                omp_fulfill_event(mine);
            });
        }
        CHECK(fulfilled == 1);
    }
    other.join();
}

/// Tasks and waits with dependences on a task whose event comes later, also in a team of one.
void before_successors() {
    int value = 0;
    int seen = -1;
    int seen_after_wait = -1;
    std::thread other;
#pragma omp parallel
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task detach(event) depend(out : value) shared(value, other)
        {
            omp_event_handle_t mine = event;
            other = std::thread([mine, &value] {
                ::usleep(2000);
                value = 1;
                omp_fulfill_event(mine);
            });
        }
#pragma omp task depend(in : value) shared(value, seen)
        seen = value;
#pragma omp taskwait depend(in : value)
        seen_after_wait = value;
    }
    other.join();
    CHECK(seen == 1 && seen_after_wait == 1);
}

void many() {
    constexpr int k_tasks = 200;
    std::vector<omp_event_handle_t> events(k_tasks);
    std::atomic<int> ran{0};
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < k_tasks; ++i) {
            omp_event_handle_t event;
#pragma omp task detach(event) shared(ran)
            ran.fetch_add(1);
            events[static_cast<std::size_t>(i)] = event;
        }
        for (int i = 0; i < k_tasks; ++i) {
#pragma omp task firstprivate(i) shared(events)
            omp_fulfill_event(events[static_cast<std::size_t>(i)]);
        }
#pragma omp taskwait
        CHECK(ran == k_tasks);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (begin(argc, argv) != 0) {
        return 1;
    }
    for (int round = 0; round < 5; ++round) {
        within();
        by_another_task();
        by_a_thread();
        undeferred();
        before_successors();
        many();
    }
    return end();
}
