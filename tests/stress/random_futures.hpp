// SPDX-License-Identifier: BSL-1.0
// Ways of random programs to run children as queued tasks: futures and their continuations,
// threads, coroutines; with exceptions and stop requests.
#pragma once

#include <quern/quern.hpp>

#include "random_family.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace quern_test::ways {

template <class Start>
void get_all(const family& f, Start start) {
    std::vector<quern::future<std::uint64_t>> all;
    for (std::size_t i = 0; i < f.size(); ++i) {
        all.push_back(start(i));
    }
    for (std::size_t i = all.size(); i-- > 0;) {
        keep_outcome(f, i, [&all, i] { return all[i].get(); });
    }
}

inline void async(const family& f) {
    get_all(f, [&f](std::size_t i) { return quern::async([&f, i] { return f.value_of(i); }); });
}

inline void async_in_every_way(const family& f) {
    constexpr quern::launch k_ways[] = {quern::launch::async, quern::launch::fork,
                                        quern::launch::deferred, quern::launch::sync};
    get_all(f, [&f, &k_ways](std::size_t i) {
        const quern::task_attributes how{.how = k_ways[i % 4],
                                         .urgency = static_cast<quern::priority>(i % 3),
                                         .rank = static_cast<std::int16_t>(i % 5 - 2),
                                         .stack = static_cast<quern::stack_class>(i % 2)};
        return quern::async(how, [&f, i] { return f.value_of(i); });
    });
}

/// Children that a rule may run in their parent's place, with continuations and dataflow.
inline void async_adaptive(const family& f) {
    constexpr quern::launch k_how = quern::launch::adaptive;
    get_all(f, [&f](std::size_t i) {
        const auto call = [&f, i] { return f.value_of(i); };
        switch (i % 4) {
            case 0:
                return quern::async(k_how, call);
            case 1:
                return quern::async(
                    {.how = k_how, .instance = reinterpret_cast<std::uintptr_t>(&f) + i}, call);
            case 2:
                return quern::async(k_how, [] {}).then(k_how, [call](auto) { return call(); });
            default:
                return quern::dataflow(
                    k_how, [call](auto, auto) { return call(); }, quern::async(k_how, [] {}),
                    quern::async([] {}));
        }
    });
}

inline void async_with_hints(const family& f) {
    get_all(f, [&f](std::size_t i) {
        const auto here = static_cast<int>(i);
        const quern::task_attributes how = i % 2 == 0 ? quern::task_attributes{.worker = here}
                                                      : quern::task_attributes{.numa_node = here};
        return quern::async(
            how, [&f](std::size_t which) { return f.value_of(which); }, i);
    });
}

/// A task whose token was stopped before it began does not run.
inline void async_that_is_stopped(const family& f) {
    std::stop_source stop;
    stop.request_stop();
    for (std::size_t i = 0; i < f.size(); ++i) {
        auto dropped =
            quern::async({.stop = stop.get_token()}, [&f, i] { f.keep(i, f.value_of(i)); });
        try {
            dropped.get();
        } catch (const quern::task_cancelled&) {
            f.run(i);
        }
    }
}

/// A wait that a stop request may end before the result is there.
inline void waits_that_are_stopped(const family& f) {
    for (std::size_t i = 0; i < f.size(); ++i) {
        keep_outcome(f, i, [&f, i] {
            std::stop_source stop;
            auto result = quern::async([&f, i] { return f.value_of(i); });
            quern::post([stop]() mutable { stop.request_stop(); });
            if (result.wait(stop.get_token()) ? !result.is_ready() : !stop.stop_requested()) {
                f.spoil();
            }
            return result.get();
        });
    }
}

inline void post(const family& f) {
    quern::latch all(static_cast<std::ptrdiff_t>(f.size()));
    for (std::size_t i = 0; i < f.size(); ++i) {
        quern::post([&f, &all, i] {
            f.run(i);
            all.count_down();
        });
    }
    all.wait();
}

/// Tasks whose functions return while another task still works for them.
inline void held_tasks(const family& f) {
    get_all(f, [&f](std::size_t i) {
        return quern::async([&f, i] {
            auto own = std::make_shared<quern::task_hold>(quern::this_task::hold());
            if (i % 2 == 0) {
                quern::post([own] { own->drop(); });
            } else {
                quern::post([own] {
                    quern::this_task::yield();
                    own->drop();
                });
            }
            return f.value_of(i);
        });
    });
}

inline void promises(const family& f) {
    get_all(f, [&f](std::size_t i) {
        quern::promise<std::uint64_t> promise;
        auto result = promise.get_future();
        quern::post([&f, i, own = std::move(promise)]() mutable {
            try {
                own.set_value(f.value_of(i));
            } catch (const thrown&) {
                own.set_exception(std::current_exception());
            }
        });
        return result;
    });
}

inline void packaged_tasks(const family& f) {
    get_all(f, [&f](std::size_t i) {
        quern::packaged_task<std::uint64_t()> task([&f, i] { return f.value_of(i); });
        auto result = task.get_future();
        quern::thread(std::move(task)).detach();
        return result;
    });
}

inline void threads(const family& f) {
    std::vector<quern::thread> all;
    for (std::size_t i = 0; i < f.size(); ++i) {
        all.emplace_back([&f, i] { f.run(i); });
    }
    for (quern::thread& each : all) {
        each.join();
    }
}

inline void jthreads(const family& f) {
    std::vector<quern::jthread> all;
    for (std::size_t i = 0; i < f.size(); ++i) {
        all.emplace_back([&f](const std::stop_token&, std::size_t which) { f.run(which); }, i);
    }
}

inline void blocking(const family& f) {
    for (std::size_t i = 0; i < f.size(); ++i) {
        keep_outcome(f, i, [&f, i] { return quern::blocking([&f, i] { return f.value_of(i); }); });
    }
}

inline void pinned(const family& f) {
    const quern::pin_to_worker here;
    const int rank = quern::current_worker_rank();
    async(f);
    if (quern::current_worker_rank() != rank) {
        f.spoil();
    }
}

inline void task_locals(const family& f) {
    static quern::task_local<std::uint64_t> own;
    get_all(f, [&f](std::size_t i) {
        return quern::async([&f, i] {
            *own = i + 1;
            const std::uint64_t value = f.value_of(i);
            if (*own != i + 1) {
                f.spoil();
            }
            return value;
        });
    });
}

// -- continuations of futures ------------------------------------------------------------------

inline void then(const family& f) {
    get_all(f, [&f](std::size_t i) {
        return quern::async([] {}).then([&f, i](auto) { return f.value_of(i); });
    });
}

/// Each child begins when the previous one has ended.
inline void dataflow_chain(const family& f) {
    quern::shared_future<void> before = quern::make_ready_future();
    for (std::size_t i = 0; i < f.size(); ++i) {
        before = quern::dataflow(quern::unwrapping([&f, i] { f.run(i); }), before).share();
    }
    before.get();
}

inline std::vector<quern::future<std::size_t>> started(const family& f) {
    std::vector<quern::future<std::size_t>> all;
    for (std::size_t i = 0; i < f.size(); ++i) {
        all.push_back(quern::async([&f, i] {
            f.run(i);
            return i;
        }));
    }
    return all;
}

inline void dataflow_of_many(const family& f) {
    quern::dataflow([](auto) {}, started(f)).get();
}

inline void when_all(const family& f) {
    for (auto& each : quern::when_all(started(f)).get()) {
        each.get();
    }
}

inline void when_any(const family& f) {
    auto rest = started(f);
    while (!rest.empty()) {
        auto first = quern::when_any(std::move(rest)).get();
        rest = std::move(first.futures);
        rest[first.index].get();
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(first.index));
    }
}

inline void when_some(const family& f) {
    auto all = started(f);
    quern::wait_some(all.size() / 2, all);
    quern::wait_all(all);
}

inline void when_each(const family& f) {
    std::size_t sum = 0;
    quern::when_each([&sum](auto ready) { sum += ready.get() + 1; }, started(f)).get();
    if (sum != f.size() * (f.size() + 1) / 2) {
        f.spoil();
    }
}

inline void split_future(const family& f) {
    if (f.size() == 0) {
        return;  // otherwise nothing would wait for the whole
    }
    auto whole = quern::async([&f] {
        std::vector<std::uint64_t> values(f.size());
        for (std::size_t i = 0; i < f.size(); ++i) {
            try {
                values[i] = f.value_of(i);
            } catch (const thrown& error) {
                values[i] = error.value;
            }
        }
        return values;
    });
    auto parts = quern::split_future(std::move(whole), f.size());
    for (std::size_t i = 0; i < f.size(); ++i) {
        f.keep(i, parts[i].get());
    }
}

// -- coroutines -------------------------------------------------------------------------------

inline quern::task<std::uint64_t> as_coroutine(const family& f, std::size_t i) {
    co_return f.value_of(i);
}

inline quern::task<> await_each(const family& f) {
    for (std::size_t i = 0; i < f.size(); ++i) {
        std::uint64_t value = 0;
        try {
            value = co_await as_coroutine(f, i);
        } catch (const thrown& error) {
            value = error.value;
        }
        f.keep(i, value);
    }
}
inline void coroutine(const family& f) { quern::start(await_each(f)).get(); }

inline void started_coroutines(const family& f) {
    get_all(f, [&f](std::size_t i) { return quern::start(as_coroutine(f, i)); });
}

inline quern::task<> await_futures(const family& f) {
    for (auto& each : started(f)) {
        co_await std::move(each);
    }
}
inline void coroutine_of_futures(const family& f) { quern::start(await_futures(f)).get(); }

}  // namespace quern_test::ways
