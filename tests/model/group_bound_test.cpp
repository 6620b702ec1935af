// SPDX-License-Identifier: BSL-1.0
// The bound of a task group (src/task/README.md): an owner that waits for room resumes exactly
// once, and is not forgotten.
#include "protocol.hpp"

#include <quern/task/detail/group_bound.hpp>

#include <cstdint>
#include <optional>

namespace {

using model::atomic;
using model::check;
using model::run;
using model::var;

struct waiter {
    var<int> frame = 0;
    atomic<int> resumptions = 0;
};

/// A bound of the old kind: the waiter's address and the number are two words.
class bound_of_two_words {
public:
    explicit bound_of_two_words(std::uint32_t most) noexcept : m_most(most) {}

    void will_queue() noexcept { m_queued.fetch_add(1, std::memory_order_relaxed); }
    waiter* begins() noexcept {
        const std::int64_t left = m_queued.fetch_sub(1) - 1;
        return left <= m_most / 2 && m_waiter.load() != nullptr ? m_waiter.exchange(nullptr)
                                                                : nullptr;
    }
    bool wait(waiter& w) noexcept {
        m_waiter.store(&w);
        return m_queued.load() > m_most / 2 || m_waiter.exchange(nullptr) == nullptr;
    }

private:
    const std::int64_t m_most;
    atomic<std::int64_t> m_queued{0};
    atomic<waiter*> m_waiter{nullptr};
};

/// A group that ends, with its bound, when its owner has resumed and all its tasks have ended.
template <class Bound>
struct group {
    group(std::uint32_t most, int tasks) : to_end(tasks + 1) { bound.emplace(most); }

    std::optional<Bound> bound;
    waiter owner;
    atomic<int> to_end;

    /// By the owner once it has resumed, and by each task.
    void ends() {
        if (to_end.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            bound.reset();
        }
    }

    void resume(waiter& w) {
        w.resumptions.fetch_add(1, std::memory_order_relaxed);
        ends();
    }

    void begin_task() {
        if (waiter* const w = bound->begins()) {
            check(w->frame == 1, "the waiter's frame is visible");
            resume(*w);
        }
        ends();
    }

    /// As the owner in wait_for_room(), which resumes itself if it need not wait.
    void wait() {
        owner.frame = 1;
        if (!bound->wait(owner)) {
            resume(owner);
        }
    }

    void check_end() { check(owner.resumptions.load() == 1, "the owner continues once"); }
};

using quern_group = group<quern::detail::group_bound<model::protocol_atomics, waiter>>;

constexpr auto two_tasks_begin = []<class Group>(run& r, Group& g) {
    g.bound->will_queue();
    g.bound->will_queue();
    r.thread([&g] { g.wait(); });
    for (int t = 0; t < 2; ++t) {
        r.thread([&g] { g.begin_task(); });
    }
    r.at_end([&g] { g.check_end(); });
};

TEST(model_group_bound, two_tasks_begin_while_the_owner_waits) {
    for (const std::uint32_t most : {1U, 2U}) {
        model::expect_passes_everywhere("bound, 2 tasks begin", {}, [most](run& r) {
            two_tasks_begin(r, r.make<quern_group>(most, 2));
        });
    }
}

TEST(model_group_bound, a_task_that_begins_makes_another) {
    model::expect_passes_everywhere("bound of 1, a task makes one", {}, [](run& r) {
        auto& g = r.make<quern_group>(1U, 2);
        g.bound->will_queue();
        r.thread([&g] { g.wait(); });
        r.thread([&g] {
            g.begin_task();
            g.bound->will_queue();
            g.begin_task();
        });
        r.at_end([&g] { g.check_end(); });
    });
}

TEST(model_group_bound, a_second_access_of_the_owner_is_found) {
    model::expect_found_broken("bound of two words", {}, [](run& r) {
        two_tasks_begin(r, r.make<group<bound_of_two_words>>(2U, 2));
    });
}

}  // namespace
