// SPDX-License-Identifier: BSL-1.0
// Whether accesses are checked, and the watch of a recording, which both hang on one pointer: tasks
// and registrations look only at that.
#include "checks/checks_setting.hpp"

#include "checks/page_guard.hpp"

#include <quern/base/detail/spin_lock.hpp>
#include <quern/dependences/detail/access_checks.hpp>
#include <quern/dependences/detail/watch.hpp>
#include <quern/scheduler/observers.hpp>
#include <quern/settings/settings.hpp>

#include <atomic>
#include <cstdio>
#include <mutex>

namespace quern::detail {

constinit std::atomic<dependence_watch*> g_dependence_watch{nullptr};

namespace {

/// Stands before the watch of a recording while accesses are checked.
class watch_of_checks final : public dependence_watch {
public:
    constexpr watch_of_checks() = default;

    void registers(domain_core& home, const dependent_task& task) noexcept override {
        tell([&](dependence_watch& one) { one.registers(home, task); });
    }
    void registers(const weak_entry& part) noexcept override {
        tell([&](dependence_watch& one) { one.registers(part); });
    }
    void follows(const dependent_task& earlier, const dependent_task& later) noexcept override {
        tell([&](dependence_watch& one) { one.follows(earlier, later); });
    }
    void follows(const dependent_task& earlier, const weak_entry& later) noexcept override {
        tell([&](dependence_watch& one) { one.follows(earlier, later); });
    }
    void follows(const weak_entry& earlier, const weak_entry& later) noexcept override {
        tell([&](dependence_watch& one) { one.follows(earlier, later); });
    }
    void follows(const weak_entry& earlier, const dependent_task& later) noexcept override {
        tell([&](dependence_watch& one) { one.follows(earlier, later); });
    }
    void replays(const domain_core& home) noexcept override {
        tell([&](dependence_watch& one) { one.replays(home); });
    }
    void begins(const dependent_task& task) noexcept override {
        tell([&](dependence_watch& one) { one.begins(task); });
    }
    bool wants_edges() const noexcept override { return recording() != nullptr; }

    std::atomic<dependence_watch*> next{nullptr};

private:
    template <class F>
    void tell(F of) const noexcept {
        if (dependence_watch* const one = recording()) {
            of(*one);
        }
    }
    dependence_watch* recording() const noexcept {
        return next.load(std::memory_order_acquire);  // pairs with watch_dependences
    }
};

constinit watch_of_checks g_checks_watch;
constinit std::atomic<bool> g_checks{false};
constinit spin_lock g_lock;  ///< of the two pointers together

/// Requires: the lock is held.
void choose_watch() noexcept {
    dependence_watch* const recording = g_checks_watch.next.load(std::memory_order_relaxed);
    g_dependence_watch.store(g_checks.load(std::memory_order_relaxed) ? &g_checks_watch : recording,
                             std::memory_order_release);  // pairs with watching_dependences
}

class checks_observer final : public runtime_observer {
public:
    constexpr checks_observer() = default;

    void check(const settings&) override {}
    void started(runtime&, const settings& chosen) noexcept override {
        if (chosen.at("check-accesses").text != "on" || checks_accesses()) {
            return;
        }
        if (const char* const why = why_no_page_guard()) {
            std::fprintf(stderr,
                         "quern: check-accesses: page protection is unavailable (%s): only writes "
                         "are seen, by comparison\n",
                         why);
        }
        check_accesses(true);
    }
    void ends(runtime&) noexcept override {}
};

constinit checks_observer g_checks_observer;

}  // namespace

void watch_dependences(dependence_watch* by) noexcept {
    const std::scoped_lock lock(g_lock);
    // release: pairs with recording()
    g_checks_watch.next.store(by, std::memory_order_release);
    choose_watch();
}

void check_accesses(bool on) noexcept {
    const std::scoped_lock lock(g_lock);
    g_checks.store(on, std::memory_order_relaxed);
    choose_watch();
}

bool checks_accesses() noexcept { return g_checks.load(std::memory_order_relaxed); }

void attach_access_checks() noexcept { add_observer(g_checks_observer); }

}  // namespace quern::detail
