// SPDX-License-Identifier: BSL-1.0
// A context in virtual time: a stack, its fork deque, and the decisions of context.cpp, repeated by
// hand: when pushes publish, and when a parent suspends. Each function has the name of the one that
// it repeats.
#pragma once

#include "atomic.hpp"

#include <quern/scheduler/detail/completion.hpp>
#include <quern/scheduler/detail/fork_deque.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace virtual_time {

class context;
class worker;

/// What a worker runs.
class work {
public:
    /// Returns a context with which the worker has to continue, or null.
    virtual context* run(context& here) = 0;

protected:
    ~work() = default;
};

/// A forked child. One cache line and what its function keeps; a block of the real one may lie on
/// one line more.
class alignas(quern::detail::k_cache_line) entry : public work {
public:
    plain<std::uint64_t> closure{1};
    quern::detail::completion<atomics, context> joined;

protected:
    ~entry() = default;
};

/// What a worker's ready deque holds: a queued task, or a context that may resume.
class ready_item : public work {
public:
    atomic<std::uint32_t> position{0};

protected:
    ~ready_item() = default;
};

/// Contexts that do not run and have public entries.
class stealable_contexts {
public:
    void put(context& c) noexcept;
    static void take(context& c) noexcept;
    entry* steal() noexcept;
    bool has_public() noexcept;

private:
    class guard;

    void remove(context& c) noexcept;

    atomic<std::uint64_t> m_count{0};
    atomic<bool> m_lock{false};
    std::vector<context*> m_contexts;
};

struct slots_of_context {
    /// (30 KiB - sizeof(context)) / 8, less the spare slot.
    static constexpr std::size_t k_slots = 3766;

    alignas(quern::detail::k_cache_line) std::array<plain<entry*>, k_slots + 1> slots;
};

class context final : private slots_of_context,
                      public quern::detail::fork_deque<atomics, entry>,
                      public ready_item {
public:
    /// Without a stack: it takes that of the core which begins to run it.
    explicit context(worker& host) : fork_deque(slots.data(), slots.data() + k_slots) {
        adopt(host);
    }
    void adopt(worker& host) noexcept {
        m_host = &host;
        force_slow_path();
    }
    worker& host() const noexcept { return *m_host; }

    void take_stack_of_core() noexcept { m_stack = &machine::running()->stack(); }
    /// The worker's loop is run on it, with `first` as its first item, or none.
    void reopen_for_loop(work* first);
    model::detail::fibre& stack() noexcept { return *m_stack; }
    work* take_first() noexcept { return std::exchange(m_first, nullptr); }

    void push_trapped() noexcept;
    void offer_if_wanted() noexcept {
        if (wanted() && has_private()) {
            answer_request();
        }
    }
    /// False: a thief has run the entry. May suspend.
    bool join(slot* place) noexcept;
    /// Switches to other work. `publish_waiter` is called on the next context and says whether the
    /// waiter was registered; if not, it is ready at once.
    void suspend(bool (*publish_waiter)(context& self, void* argument), void* argument) noexcept;

    /// It resumes.
    context* run(context&) override { return this; }

private:
    friend class stealable_contexts;

    void answer_request() noexcept;
    static void enter(void* self);

    static constexpr picoseconds k_not_timed = ~picoseconds{0};

    worker* m_host = nullptr;
    work* m_first = nullptr;
    model::detail::fibre* m_stack = nullptr;
    std::unique_ptr<model::detail::fibre> m_own_stack;
    picoseconds m_last_slow_path = 0;
    std::uint32_t m_eager_pushes = 0;
    atomic<stealable_contexts*> m_listed_in{nullptr};
};

}  // namespace virtual_time
