// SPDX-License-Identifier: BSL-1.0
// Whether accesses are checked, and the recording of the graph; both hang on one pointer: tasks
// and registrations look only at that.
#include "checks/checks_setting.hpp"

#include "checks/page_guard.hpp"

#include <quern/base/detail/spin_lock.hpp>
#include <quern/dependences/detail/access_checks.hpp>
#include <quern/dependences/detail/graph_recording.hpp>
#include <quern/scheduler/observers.hpp>
#include <quern/settings/settings.hpp>

#include <atomic>
#include <cstdio>
#include <mutex>

namespace quern::detail {

constinit std::atomic<graph_recording*> g_graph_recording{nullptr};

namespace {

/// Stands before the attached recording while accesses are checked.
class recording_of_checks final : public graph_recording {
public:
    constexpr recording_of_checks() = default;

    void registers(domain_shared& home, const dependent_task& task) noexcept override {
        tell([&](graph_recording& one) { one.registers(home, task); });
    }
    void registers(const weak_entry& part) noexcept override {
        tell([&](graph_recording& one) { one.registers(part); });
    }
    void follows(const dependent_task& earlier, const dependent_task& later) noexcept override {
        tell([&](graph_recording& one) { one.follows(earlier, later); });
    }
    void follows(const dependent_task& earlier, const weak_entry& later) noexcept override {
        tell([&](graph_recording& one) { one.follows(earlier, later); });
    }
    void follows(const weak_entry& earlier, const weak_entry& later) noexcept override {
        tell([&](graph_recording& one) { one.follows(earlier, later); });
    }
    void follows(const weak_entry& earlier, const dependent_task& later) noexcept override {
        tell([&](graph_recording& one) { one.follows(earlier, later); });
    }
    void replays(const domain_shared& home) noexcept override {
        tell([&](graph_recording& one) { one.replays(home); });
    }
    void begins(const dependent_task& task) noexcept override {
        tell([&](graph_recording& one) { one.begins(task); });
    }
    bool wants_edges() const noexcept override { return recording() != nullptr; }

    std::atomic<graph_recording*> next{nullptr};

private:
    template <class F>
    void tell(F of) const noexcept {
        if (graph_recording* const one = recording()) {
            of(*one);
        }
    }
    graph_recording* recording() const noexcept {
        return next.load(std::memory_order_acquire);  // pairs with set_graph_recording
    }
};

constinit recording_of_checks g_recording_of_checks;
constinit std::atomic<bool> g_checks{false};
constinit spin_lock g_lock;  ///< of the two pointers together

/// Requires: the lock is held.
void choose_recording() noexcept {
    graph_recording* const recording = g_recording_of_checks.next.load(std::memory_order_relaxed);
    g_graph_recording.store(
        g_checks.load(std::memory_order_relaxed) ? &g_recording_of_checks : recording,
        std::memory_order_release);  // pairs with current_graph_recording
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

void set_graph_recording(graph_recording* by) noexcept {
    const std::scoped_lock lock(g_lock);
    // release: pairs with recording()
    g_recording_of_checks.next.store(by, std::memory_order_release);
    choose_recording();
}

void check_accesses(bool on) noexcept {
    const std::scoped_lock lock(g_lock);
    g_checks.store(on, std::memory_order_relaxed);
    choose_recording();
}

bool checks_accesses() noexcept { return g_checks.load(std::memory_order_relaxed); }

void attach_access_checks() noexcept { add_observer(g_checks_observer); }

}  // namespace quern::detail
