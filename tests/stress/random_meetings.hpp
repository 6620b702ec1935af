// SPDX-License-Identifier: BSL-1.0
// Ways of random programs in which the children, as tasks, wait for one another or for their
// parent: every type of quern/sync.
#pragma once

#include <quern/quern.hpp>

#include "random_family.hpp"

#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace quern_test::ways {

/// Calls body(i) in a task for each child; returns when all have ended.
template <class Body>
void in_tasks(const family& f, Body body) {
    std::vector<quern::future<void>> all;
    for (std::size_t i = 0; i < f.size(); ++i) {
        all.push_back(quern::async([&body, i] { body(i); }));
    }
    for (auto& each : all) {
        each.get();
    }
}

/// Each child runs with the lock held; a plain number detects concurrent access.
template <class Lock, class Mutex>
void under(Mutex& m, const family& f) {
    std::size_t inside = 0;
    in_tasks(f, [&](std::size_t i) {
        const Lock held(m);
        const quern::ignore_held_locks on_purpose;
        const std::size_t before = inside++;
        f.run(i);
        if (before != 0 || --inside != 0) {
            f.spoil();
        }
    });
}

inline void mutex(const family& f) {
    quern::mutex m;
    under<std::unique_lock<quern::mutex>>(m, f);
}
inline void timed_mutex(const family& f) {
    quern::timed_mutex m;
    std::size_t count = 0;
    in_tasks(f, [&](std::size_t i) {
        using namespace std::chrono_literals;
        f.run(i);
        std::unique_lock lock(m, std::defer_lock);
        while (!lock.try_lock_for(1us)) {
        }
        ++count;
    });
    if (count != f.size()) {
        f.spoil();
    }
}
inline void recursive_mutex(const family& f) {
    quern::recursive_mutex m;
    under<std::unique_lock<quern::recursive_mutex>>(m, f);
}
inline void shared_mutex(const family& f) {
    quern::shared_mutex m;
    under<std::unique_lock<quern::shared_mutex>>(m, f);
}
inline void shared_mutex_of_readers(const family& f) {
    quern::shared_mutex m;
    in_tasks(f, [&](std::size_t i) {
        const std::shared_lock held(m);
        const quern::ignore_held_locks on_purpose;
        f.run(i);
    });
}

inline quern::task<> hold_across(quern::mutex& m, const family& f, std::size_t i) {
    const auto held = co_await m.co_lock();
    f.run(i);
}
inline void co_mutex(const family& f) {
    quern::mutex m;
    in_tasks(f, [&](std::size_t i) { quern::start(hold_across(m, f, i)).get(); });
}

inline void guard(const family& f) {
    quern::guard one_at_a_time;
    std::vector<quern::future<void>> all;
    for (std::size_t i = 0; i < f.size(); ++i) {
        all.push_back(quern::run_guarded(one_at_a_time, [&f, i] { f.run(i); }));
    }
    quern::wait_all(all);
}

/// The children one after another, the last one first.
inline void condition_variable(const family& f) {
    quern::mutex m;
    quern::condition_variable changed;
    std::size_t turn = f.size();
    in_tasks(f, [&](std::size_t i) {
        std::unique_lock lock(m);
        changed.wait(lock, [&] { return turn == i + 1; });
        {
            const quern::ignore_held_locks on_purpose;
            f.run(i);
        }
        turn = i;
        changed.notify_all();
    });
}
inline void condition_variable_any(const family& f) {
    quern::shared_mutex m;
    quern::condition_variable_any changed;
    std::size_t turn = 0;
    in_tasks(f, [&](std::size_t i) {
        std::unique_lock lock(m);
        changed.wait(lock, [&] { return turn == i; });
        {
            const quern::ignore_held_locks on_purpose;
            f.run(i);
        }
        turn = i + 1;
        changed.notify_all();
    });
}

inline void barrier(const family& f) {
    quern::barrier all(static_cast<std::ptrdiff_t>(f.size()));
    in_tasks(f, [&](std::size_t i) {
        all.arrive_and_wait();
        f.run(i);
        all.arrive_and_wait();
    });
}

inline void latch(const family& f) {
    quern::latch all(static_cast<std::ptrdiff_t>(f.size()));
    in_tasks(f, [&](std::size_t i) {
        f.run(i);
        all.arrive_and_wait();
    });
}

inline void event(const family& f) {
    quern::event go;
    std::vector<quern::future<void>> all;
    for (std::size_t i = 0; i < f.size(); ++i) {
        all.push_back(quern::async([&, i] {
            go.wait();
            f.run(i);
        }));
    }
    go.set();
    quern::wait_all(all);
}

inline void semaphore(const family& f) {
    quern::counting_semaphore<> two(2);
    in_tasks(f, [&](std::size_t i) {
        two.acquire();
        f.run(i);
        two.release();
    });
}

/// No child begins before the child two places earlier has ended.
inline void sliding_semaphore(const family& f) {
    quern::sliding_semaphore window(2);
    std::vector<quern::future<void>> all;
    for (std::size_t i = 0; i < f.size(); ++i) {
        const auto step = static_cast<std::int64_t>(i);
        window.wait(step);
        all.push_back(quern::async([&f, &window, i, step] {
            f.run(i);
            window.signal(step);
        }));
    }
    quern::wait_all(all);
}

inline void trigger(const family& f) {
    quern::trigger turn;
    in_tasks(f, [&](std::size_t i) {
        turn.synchronize(static_cast<std::int64_t>(i));
        f.run(i);
        turn.set();
    });
}

inline void and_gate(const family& f) {
    if (f.size() == 0) {
        return;
    }
    quern::and_gate all(f.size());
    const auto end = all.get_future();
    for (std::size_t i = 0; i < f.size(); ++i) {
        quern::post([&f, &all, i] {
            f.run(i);
            all.set(i);
        });
    }
    end.wait();
}

inline void call_once(const family& f) {
    std::vector<quern::once_flag> flags(f.size());
    in_tasks(f, [&](std::size_t i) {
        for (std::size_t k = 0; k < f.size(); ++k) {  // begins with its own
            const std::size_t which = (i + k) % f.size();
            quern::call_once(flags[which], [&f, which] { f.run(which); });
        }
    });
}

inline void channel(const family& f) {
    quern::channel<std::size_t> numbers(1);
    auto sender = quern::async([&] {
        for (std::size_t i = 0; i < f.size(); ++i) {
            numbers.send(i);
        }
        numbers.close();
    });
    in_tasks(f, [&](std::size_t) {
        for (const std::size_t which : numbers) {
            f.run(which);
        }
    });
    sender.get();
}

inline quern::task<> receive_all(quern::channel<std::size_t>& numbers, const family& f) {
    while (const auto which = co_await numbers.co_receive()) {
        f.run(*which);
    }
}
inline void co_channel(const family& f) {
    quern::channel<std::size_t> numbers;
    auto one = quern::start(receive_all(numbers, f));
    auto other = quern::start(receive_all(numbers, f));
    for (std::size_t i = 0; i < f.size(); ++i) {
        numbers.send(i);
    }
    numbers.close();
    quern::wait_all(one, other);
}

inline void full_empty(const family& f) {
    quern::full_empty<std::size_t> cell;
    auto writer = quern::async([&] {
        for (std::size_t i = 0; i < f.size(); ++i) {
            cell.write_ef(i);
        }
    });
    in_tasks(f, [&](std::size_t) { f.run(cell.read_fe()); });
    writer.get();
}

inline void timed_waits(const family& f) {
    using namespace std::chrono_literals;
    std::vector<quern::future<void>> all;
    for (std::size_t i = 0; i < f.size(); ++i) {
        all.push_back(quern::async([&f, i] {
            quern::this_task::sleep_for(10us);
            f.run(i);
        }));
    }
    for (auto& each : all) {
        while (each.wait_for(20us) != std::future_status::ready) {
        }
        each.get();
    }
}

}  // namespace quern_test::ways
