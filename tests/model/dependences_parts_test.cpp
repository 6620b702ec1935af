// SPDX-License-Identifier: BSL-1.0
// Parts of an access that are released before it (src/dependences/README.md, "Parts of an access"):
// a task that uses the part alone begins once, after the release of the part, whether its link was
// pushed before, after or meanwhile; one that uses the rest too begins after the release of the
// whole.
#include "protocol.hpp"

#include <quern/dependences/detail/access_word.hpp>

#include <mutex>

namespace {

using model::atomic;
using model::check;
using model::run;
using model::var;

class model_lock {
public:
    void lock() noexcept {
        while (m_held.exchange(true, std::memory_order_acquire)) {
            model::protocol_atomics::pause();
        }
    }
    void unlock() noexcept { m_held.store(false, std::memory_order_release); }

private:
    atomic<bool> m_held{false};
};

struct task;

struct link {
    var<link*> next = nullptr;
    var<task*> to = nullptr;
};

struct task {
    quern::detail::predecessor_count<model::protocol_atomics> missing;
    link own;
    bool uses_rest = false;
    var<int> begun = 0;
};

/// An access of two parts, of which the first is released early.
struct access {
    quern::detail::successor_stack<model::protocol_atomics, link> successors;
    model_lock lock;
    var<int> has_first = 1;  ///< the first part is not released
    var<int> first = 0;
    var<int> rest = 0;
    task tasks[2];
    bool looks_under_lock = true;

    void begin(task& one) {
        check(first == 1, "the part has been computed");
        check(!one.uses_rest || rest == 1, "the rest has been computed");
        one.begun = one.begun + 1;
    }
    void follow(link* one) {
        while (one != nullptr) {
            task& to = *one->to;
            one = one->next;
            if (to.missing.satisfied()) {
                begin(to);
            }
        }
    }
    bool must_wait(const task& one) { return one.uses_rest || has_first == 1; }

    /// access_record::precede
    bool precede(task& one) {
        one.own.to = &one;
        if (successors.push(one.own)) {
            return true;
        }
        if (successors.is_released()) {
            return false;
        }
        if (!looks_under_lock) {
            lock.lock();
            const bool waits = must_wait(one);
            lock.unlock();
            return waits && successors.push_partly(one.own);
        }
        const std::lock_guard held(lock);
        return must_wait(one) && successors.push_partly(one.own);
    }
    void spawn(task& one) {
        const bool waits = precede(one);
        if (one.missing.registered(waits ? 1 : 0)) {
            begin(one);
        }
    }

    /// links_past. False: of another part, which no task uses.
    void release_part(bool is_first) {
        link* past = nullptr;
        link* last = nullptr;
        {
            const std::lock_guard held(lock);
            if (is_first) {
                has_first = 0;
            }
            for (link* each = successors.take_partly(); each != nullptr;) {
                link& now = *each;
                each = now.next;
                const bool waits = must_wait(*now.to);
                if (waits && successors.push_partly(now)) {
                    continue;
                }
                now.next = nullptr;
                if (last == nullptr) {
                    past = &now;
                } else {
                    last->next = &now;
                }
                last = &now;
            }
        }
        follow(past);
    }
    void release() { follow(successors.release()); }
};

/// The part is released by a child's thread, while the task ends and others are spawned.
void explore(const char* name, bool second_uses_rest, bool has_other_part) {
    model::expect_passes_everywhere(name, {}, [=](run& r) {
        auto& a = r.make<access>();
        a.tasks[1].uses_rest = second_uses_rest;
        a.first = has_other_part ? 0 : 1;
        r.thread([&a] {
            a.spawn(a.tasks[0]);
            a.spawn(a.tasks[1]);
        });
        r.thread([&a, has_other_part] {
            if (has_other_part) {
                a.first = 1;
            }
            a.release_part(true);
        });
        if (has_other_part) {
            r.thread([&a] { a.release_part(false); });
        } else {
            r.thread([&a] {
                a.rest = 1;
                a.release();
            });
        }
        r.at_end([&a, has_other_part, second_uses_rest] {
            if (has_other_part) {
                check(a.tasks[0].begun == 1, "it begins without the release of the whole");
                check(a.tasks[1].begun == (second_uses_rest ? 0 : 1), "the other one waits");
                a.rest = 1;
                a.release();
            }
            check(a.tasks[0].begun == 1 && a.tasks[1].begun == 1, "each has begun once");
        });
    });
}

TEST(model_dependences_parts, against_the_end_of_the_task) {
    explore("parts, the end", false, false);
}
TEST(model_dependences_parts, against_the_end_of_the_task_with_one_that_waits) {
    explore("parts, the end, one waits", true, false);
}
TEST(model_dependences_parts, against_another_part) { explore("parts, another", true, true); }

// A part that is released between the look and the push leaves the link behind.
TEST(model_dependences_parts, a_look_before_the_lock_is_found) {
    model::expect_found_broken("a look before the lock", {}, [](run& r) {
        auto& a = r.make<access>();
        a.looks_under_lock = false;
        a.first = 1;
        r.thread([&a] {
            a.release_part(false);
            a.release_part(true);
        });
        r.thread([&a] { a.spawn(a.tasks[0]); });
        r.at_end([&a] { check(a.tasks[0].begun == 1, "it begins without the end of the task"); });
    });
}

}  // namespace
