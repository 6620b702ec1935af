// SPDX-License-Identifier: BSL-1.0
// Shared by the tests of tasks: fixtures that run every case on runtimes of 1, 2 and 8 workers,
// waiting for a condition, and ways to occupy workers or to move tasks between them.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/base/detail/function_ref.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/task/async.hpp>
#include <quern/task/this_task.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <unistd.h>

namespace quern_test {

inline constexpr bool k_sanitized = quern::detail::k_asan || quern::detail::k_tsan;

/// The amount of work: sanitizers are slow.
template <class T>
constexpr T scaled(T plain, T sanitized) {
    return k_sanitized ? sanitized : plain;
}

/// Waits until the condition holds, with a limit far above the expected time.
template <class Condition>
bool eventually(Condition condition, std::chrono::milliseconds limit = std::chrono::seconds(10)) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
}

/// Occupies the calling thread, and so its worker.
inline void spin_for(std::chrono::microseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
    }
}

/// The OS thread that runs the caller. (A compiler may reuse an old value of pthread_self.)
inline pid_t os_thread() { return ::gettid(); }

/// A gate at which workers wait without being suspended.
class spin_gate {
public:
    void open() noexcept { m_open.store(true, std::memory_order_release); }
    bool is_open() const noexcept { return m_open.load(std::memory_order_acquire); }
    void pass() const noexcept {
        while (!is_open()) {
            std::this_thread::yield();
        }
    }

private:
    std::atomic<bool> m_open{false};
};

/// Lets other tasks run: the caller is queued behind the ready ones, and may resume on another
/// worker.
inline void let_others_run() { quern::this_task::yield(); }

/// Suspends the calling task until another worker runs it. False if that did not happen. Requires:
/// at least two workers.
inline bool move_to_another_worker() {
    const int before = quern::current_worker_rank();
    for (int attempt = 0; attempt < 1'000; ++attempt) {
        auto arrived = std::make_shared<std::atomic<bool>>(false);
        auto publish = [&arrived](quern::detail::context& self) {
            const auto keep = arrived;  // the frame may be destroyed once the task resumes
            auto& pool = self.host().home();
            self.home = static_cast<std::int16_t>((self.host().rank() + 1) % pool.size());
            pool.inject(self);
            for (int i = 0; i < 100 && !keep->load(); ++i) {  // keeps its old worker away
                std::this_thread::sleep_for(std::chrono::microseconds(10));
            }
            return true;
        };
        quern::detail::suspend(publish);
        quern::detail::current_context()->home = -1;
        arrived->store(true);
        if (quern::current_worker_rank() != before) {
            return true;
        }
    }
    return false;
}

/// Tasks that wait until they are released.
class waiting_room {
public:
    /// Called by a task.
    void wait() {
        auto publish = [this](quern::detail::context& self) {
            const std::scoped_lock lock(m_mutex);
            m_waiting.push_back(&self);
            return true;
        };
        quern::detail::suspend(publish);
    }

    std::size_t size() {
        const std::scoped_lock lock(m_mutex);
        return m_waiting.size();
    }

    void resume_all() {
        std::vector<quern::detail::context*> all;
        {
            const std::scoped_lock lock(m_mutex);
            all.swap(m_waiting);
        }
        for (quern::detail::context* c : all) {
            quern::detail::resume(*c);
        }
    }

private:
    std::mutex m_mutex;
    std::vector<quern::detail::context*> m_waiting;
};

struct setting {
    unsigned workers;
    const char* policy;

    friend std::ostream& operator<<(std::ostream& out, const setting& s) {
        return out << s.workers << " workers, " << s.policy;
    }
};

/// Calls the function as a task and throws what it throws. Compiled once for all functions: there
/// are hundreds of calls, and what a task is made of takes longer to compile than most bodies.
inline void call_inside(quern::runtime& rt, quern::detail::function_ref<void()> f) {
    quern::async(rt, [f] { f(); }).get();
}

template <class F>
auto result_inside(quern::runtime& rt, F& f) {
    using result = std::decay_t<std::invoke_result_t<F&>>;
    if constexpr (std::is_void_v<result>) {
        quern_test::call_inside(rt, f);
    } else {
        std::optional<result> value;
        quern_test::call_inside(rt, [&] { value.emplace(f()); });
        return *std::move(value);
    }
}

/// A case runs once per setting. `inside` calls a function as a task and throws what it throws.
class on_lone_runtime : public testing::TestWithParam<setting> {
protected:
    template <class F>
    auto inside(F&& f) {
        return quern_test::result_inside(rt, f);
    }

    unsigned workers() const { return GetParam().workers; }

    /// Whether an idle worker steals from another one.
    bool has_thieves() const { return workers() > 1 && rt.default_pool().get().policy().steals; }

    /// The length of a chain that must not use one stack: a million under the first policy, fewer
    /// under the others.
    int a_million() const {
        const bool first = GetParam().policy == quern::scheduling_policies().front().name;
        return scaled(first ? 1'000'000 : 100'000, 10'000);
    }

    bool takes_the_youngest_first() const {
        const std::string_view policy = GetParam().policy;
        return policy == "work-stealing" || policy == "priority-local-lifo" || policy == "sherwood";
    }

    quern::runtime rt{quern::runtime_options::with_workers(GetParam().workers, GetParam().policy)};
};

struct usual_runtime {
    quern::runtime& usual = quern::runtime::default_instance();
};

/// The same beside the default runtime, which is started before, so that calls outside of tasks do
/// not run on the case's own runtime.
class on_runtime : private usual_runtime, public on_lone_runtime {};

inline std::string name_of_setting(const testing::TestParamInfo<setting>& info) {
    std::string name = std::to_string(info.param.workers) + "_" + info.param.policy;
    for (char& c : name) {
        c = c == '-' ? '_' : c;
    }
    return name;
}

/// 1, 2 and 8 workers under the first policies: the default, three more that steal, two that do
/// not. Under sanitizers, which are slow and whose subject is interleavings, all but the default
/// have only 8 workers.
inline std::vector<setting> settings_of(std::size_t policies) {
    std::vector<setting> all;
    for (const quern::scheduling_policy& policy : quern::scheduling_policies().first(policies)) {
        for (const unsigned workers : {1U, 2U, 8U}) {
            if (!k_sanitized || all.size() < 3 || workers == 8) {
                all.push_back({workers, policy.name.data()});  // a literal
            }
        }
    }
    return all;
}

#define QUERN_ON_FIRST_POLICIES(suite, count)                                              \
    INSTANTIATE_TEST_SUITE_P(on, suite, testing::ValuesIn(quern_test::settings_of(count)), \
                             quern_test::name_of_setting)

#define QUERN_ON_1_2_8_WORKERS(suite) QUERN_ON_FIRST_POLICIES(suite, 1)
#define QUERN_ON_STEALING_POLICIES(suite) QUERN_ON_FIRST_POLICIES(suite, 4)
#define QUERN_ON_ALL_POLICIES(suite) \
    QUERN_ON_FIRST_POLICIES(suite, quern::scheduling_policies().size())

}  // namespace quern_test
