// SPDX-License-Identifier: BSL-1.0
// Being told of tasks, of runtimes and of the program's own events as they happen.
#include <quern/quern.hpp>

#include <atomic>
#include <cstdio>
#include <cstring>

// Called on the workers, on several at the same time: atomics only, no locks, no waiting.
struct task_counts final : quern::trace::listener {
    std::atomic<int> begun = 0;
    std::atomic<int> suspended = 0;
    std::atomic<int> named = 0;

    void on_start(const quern::trace::task_event& what) noexcept override {
        ++begun;
        if (what.name != nullptr && std::strcmp(what.name, "solve") == 0) ++named;
    }
    void on_suspend(const quern::trace::task_event&) noexcept override { ++suspended; }
};

// Another one, for what happens rarely. The tasks do not notice it.
struct announcer final : quern::trace::listener {
    void on_runtime_start(const quern::trace::runtime_event& what) noexcept override {
        std::printf("a runtime of %u workers has started\n", what.which.workers());
    }
    void on_runtime_stop(const quern::trace::runtime_event&) noexcept override {
        std::puts("the runtime has ended");
    }
    void on_custom(const quern::trace::task_event& by, const quern::trace::custom_event& what,
                   double value) noexcept override {
        std::printf("%s of task '%s': %g\n", what.name(), by.name, value);
    }
};

constexpr quern::trace::custom_event residual("residual");

int main() {
    using quern::trace::event_kind;
    announcer to_stdout;
    const auto announced = quern::trace::listen(
        to_stdout, event_kind::runtime_start | event_kind::runtime_stop | event_kind::custom);

    quern::runtime rt(quern::runtime_options::with_workers(2));
    task_counts seen;
    quern::trace::listening handle =
        quern::trace::listen(seen, event_kind::task_start | event_kind::task_suspend);

    quern::event go;
    auto waits = quern::async([&go] { go.wait(); });
    while (seen.suspended == 0) {  // until the task has given up its worker
    }
    quern::task_group group;
    for (int i = 0; i < 10; ++i) {
        group.run({.name = "solve"}, [] {});
    }
    group.wait();
    go.set();
    waits.get();
    handle.stop();  // no call is in progress any more

    quern::async({.name = "check"}, [] { residual.fire(0.25); }).get();
    std::printf("begun: %d, of them 'solve': %d, suspensions: %d\n", seen.begun.load(),
                seen.named.load(), seen.suspended.load());
}
