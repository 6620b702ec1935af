// SPDX-License-Identifier: BSL-1.0
// HPX's composable guards, and task groups and blocks: Quern's with HPX's members.
#pragma once

#include <quern/compat/hpx/async.hpp>
#include <quern/sync/guard.hpp>
#include <quern/task/task_group.hpp>

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace hpx::lcos::local {

using guard = quern::guard;

/// Guards that are taken together; the set keeps them alive.
class guard_set {
public:
    void add(const std::shared_ptr<guard>& one) { m_guards.push_back(one); }
    std::shared_ptr<guard> get(std::size_t index) const { return m_guards[index]; }
    std::size_t size() const noexcept { return m_guards.size(); }
    quern::guard_set all() const {
        std::vector<guard*> pointers;
        for (const auto& each : m_guards) {
            pointers.push_back(each.get());
        }
        return quern::guard_set(std::move(pointers));
    }

private:
    std::vector<std::shared_ptr<guard>> m_guards;
};

/// Runs f(ts...) when the guard, or all of the set, are free. Does not wait.
template <class F, class... Ts>
auto run_guarded(guard& g, F&& f, Ts&&... ts) {
    return hpx::future(quern::run_guarded(
        g, quern::detail::bind_call(std::forward<F>(f), std::forward<Ts>(ts)...)));
}
template <class F, class... Ts>
auto run_guarded(const guard_set& guards, F&& f, Ts&&... ts) {
    return hpx::future(quern::run_guarded(
        guards.all(), [kept = guards, call = quern::detail::bind_call(
                                          std::forward<F>(f), std::forward<Ts>(ts)...)]() mutable {
            return call();
        }));
}

}  // namespace hpx::lcos::local

namespace hpx::experimental {

/// As quern::task_group, with arguments and executors.
class task_group {
public:
    template <class F, class... Ts>
        requires(!hpx::detail::start_wish<F>)
    void run(F&& f, Ts&&... ts) {
        m_group.run(quern::detail::bind_call(std::forward<F>(f), std::forward<Ts>(ts)...));
    }
    template <hpx::detail::own_executor Executor, class F, class... Ts>
    void run(const Executor&, F&& f, Ts&&... ts) {
        run(std::forward<F>(f), std::forward<Ts>(ts)...);
    }
    void wait() {
        try {
            m_group.wait();
        } catch (...) {
            throw exception_list(std::current_exception());
        }
    }

private:
    quern::task_group m_group;
};

/// The argument of define_task_block's function.
class task_block : public task_group {};

/// Calls f(block), then waits for all tasks of the block.
template <class F>
void define_task_block(F&& f) {
    task_block block;
    try {
        std::forward<F>(f)(block);
    } catch (...) {
        const std::exception_ptr first = std::current_exception();
        try {
            block.wait();
        } catch (...) {  // the first one is thrown
        }
        throw exception_list(first);
    }
    block.wait();
}
template <class Policy, class F>
void define_task_block(Policy&&, F&& f) {
    define_task_block(std::forward<F>(f));
}
template <class... Args>
void define_task_block_restore_thread(Args&&... args) {
    define_task_block(std::forward<Args>(args)...);
}

}  // namespace hpx::experimental
