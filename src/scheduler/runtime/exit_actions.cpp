// SPDX-License-Identifier: BSL-1.0
// The list of exit actions. A thread that performs one holds the action's own lock, not the list's,
// because the process may fork, end or be interrupted meanwhile.
#include <quern/scheduler/detail/exit_action.hpp>

#include "runtime/exit_action_parts.hpp"

#include <quern/base/detail/process.hpp>
#include <quern/base/detail/symbols.hpp>
#include <quern/scheduler/detail/context.hpp>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

extern "C" {
int __cxa_atexit(void (*function)(void*), void* argument, void* library);  // NOLINT: as in runtime
[[gnu::visibility("hidden")]] extern void* __dso_handle;                   // NOLINT
}

namespace quern::detail {

namespace {

/// What a signal handler may read of an exit action, independent of the heap.
struct notice {
    static constexpr std::size_t k_longest = 200;

    std::atomic<std::size_t> size{0};  ///< 0: free
    std::array<char, k_longest> text{};
};

/// Losses beyond this number are not reported.
constinit std::array<notice, 16> g_notices{};
constinit std::atomic<pid_t> g_owner{0};  ///< the process of the notices

}  // namespace

struct exit_action::state {
    explicit state(function f) : act(std::move(f)) {}

    std::string perform() noexcept {
        const std::scoped_lock lock(busy);
        const function once = std::exchange(act, nullptr);
        std::string where = once ? once() : "";
        if (note != nullptr) {
            std::exchange(note, nullptr)->size.store(0, std::memory_order_relaxed);
        }
        return where;
    }

    const unsigned generation = fork_generation();
    std::mutex busy;
    function act;
    notice* note = nullptr;
};

namespace {

struct acts_of_process {
    explicit acts_of_process(const acts_of_process* inherited) : parents(inherited) {}

    const acts_of_process* parents;  ///< list of the parent of a fork(): an action in it may be
                                     ///< locked for ever
    unsigned generation = fork_generation();
    std::vector<std::shared_ptr<exit_action::state>> all;
};

constinit acts_of_process* g_acts = nullptr;

/// Requires: the lock exit_actions is held.
acts_of_process& acts() {
    if (g_acts == nullptr || g_acts->generation != fork_generation()) {
        g_acts = new acts_of_process(g_acts);
        for (notice& each : g_notices) {
            each.size.store(0, std::memory_order_relaxed);
        }
        g_owner.store(::getpid(), std::memory_order_relaxed);
    }
    return *g_acts;
}

[[gnu::destructor(k_after_static_objects)]] void forget_acts() {
    const std::scoped_lock lock(lock_of(process_lock::exit_actions));
    if (g_acts != nullptr && g_acts->generation == fork_generation() && g_acts->all.empty()) {
        delete std::exchange(g_acts, nullptr);
    }
}

/// Requires: the lock exit_actions is held.
notice* take_notice(const std::string& what) noexcept {
    if (what.empty()) {
        return nullptr;  // nothing is lost
    }
    for (notice& each : g_notices) {
        if (each.size.load(std::memory_order_relaxed) == 0) {
            const std::size_t size = std::min(what.size(), notice::k_longest);
            std::copy_n(what.data(), size, each.text.data());
            each.size.store(size, std::memory_order_release);  // pairs with say_what_is_lost
            return &each;
        }
    }
    return nullptr;
}

/// When exit() calls this, static runtimes, made later, have ended. Runtimes on stacks never end.
void perform_at_exit() {
    static constinit std::atomic<bool> registered{false};
    if (!registered.exchange(true) &&
        __cxa_atexit([](void*) { perform_exit_actions(); }, nullptr, &__dso_handle) != 0) {
        registered = false;
        throw std::bad_alloc();
    }
}

/// A task that ends the process may have little stack left.
template <class F>
void outside_of_tasks(F&& f) noexcept {
    if (current_context() == nullptr) {
        f();
        return;
    }
    try {
        std::thread(std::forward<F>(f)).join();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "quern: what was recorded is lost: %s\n", error.what());
    }
}

}  // namespace

exit_action::exit_action(const std::string& what, function act)
    : m_state(std::make_shared<state>(std::move(act))) {
    const std::scoped_lock lock(lock_of(process_lock::exit_actions));
    acts().all.push_back(m_state);
    m_state->note = take_notice(what);
    perform_at_exit();
    take_signals();
}

exit_action::~exit_action() {
    if (m_state->generation != fork_generation()) {
        return;  // the parent's list keeps it
    }
    std::unique_ptr<std::thread> at_work;
    {
        const std::scoped_lock lock(lock_of(process_lock::exit_actions));
        std::erase(acts().all, m_state);
        at_work = acts().all.empty() ? leave_signals() : nullptr;
    }
    if (at_work != nullptr) {
        at_work->join();
    }
    const std::scoped_lock lock(m_state->busy);
    m_state->act = nullptr;
    if (m_state->note != nullptr) {
        m_state->note->size.store(0, std::memory_order_relaxed);
    }
}

void exit_action::perform() noexcept {
    outside_of_tasks([this] { static_cast<void>(m_state->perform()); });
}

std::string perform_exit_actions() noexcept {
    std::string places;
    outside_of_tasks([&places] {
        std::vector<std::shared_ptr<exit_action::state>> all;
        {
            const std::scoped_lock lock(lock_of(process_lock::exit_actions));
            all = acts().all;
        }
        for (const auto& each : all) {
            const std::string where = each->perform();
            places += (where.empty() || places.empty() ? "" : " and ") + where;
        }
    });
    return places;
}

void say_what_is_lost(std::string_view why) noexcept {
    if (g_owner.load(std::memory_order_relaxed) != ::getpid()) {
        return;
    }
    fixed_text text;
    text.add("quern: not written, because ").add(why);
    bool any = false;
    for (notice& each : g_notices) {
        // pairs with take_notice
        if (const std::size_t size = each.size.exchange(0, std::memory_order_acquire)) {
            text.add(any ? ", " : ": ").add({each.text.data(), size});
            any = true;
        }
    }
    if (any) {
        write_text(STDERR_FILENO, text.add("\n"));
    }
}

}  // namespace quern::detail
