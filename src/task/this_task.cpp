// SPDX-License-Identifier: BSL-1.0
// Queries and operations of the running task.
#include <quern/task/this_task.hpp>

#include <quern/scheduler/detail/fresh_stack.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/timers.hpp>

#include <atomic>
#include <limits>
#include <stdexcept>

namespace quern::detail {

std::uint64_t new_task_id(std::uint64_t count) noexcept {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(count, std::memory_order_relaxed) + 1;
}

}  // namespace quern::detail

namespace quern::this_task {

namespace {

constexpr detail::wait_kind k_yield{"its turn: it has yielded"};
constexpr detail::wait_kind k_sleep{"a time: it sleeps"};

struct alarm final : detail::timer {
    alarm() noexcept
        : timer([](timer& self) noexcept {
              detail::resume_in_turn(*static_cast<alarm&>(self).sleeper);
          }) {}
    detail::context* sleeper = nullptr;
};

/// The context of the caller's stack, also in a blocking_region; or null.
const detail::context* own_context() noexcept {
    const detail::context* const here = detail::current_context();
    return here != nullptr ? here : detail::spare_thread_context();
}

}  // namespace

void yield() noexcept {
    if (!is_task()) {
        std::this_thread::yield();
        return;
    }
    auto publish = [](detail::context& self) {
        this_worker(self).push_last(self);
        return true;
    };
    detail::suspend(publish, {&k_yield});
}

void sleep_until(std::chrono::steady_clock::time_point when) noexcept {
    if (!is_task()) {
        std::this_thread::sleep_until(when);
        return;
    }
    alarm bell;
    auto publish = [&bell, when](detail::context& self) {
        bell.sleeper = &self;
        self.host().home().set_timer(bell, when);
        return true;
    };
    detail::suspend(publish, {&k_sleep});
}

void require_task() {
    if (!is_task()) {
        throw std::logic_error("quern: this_task::suspend() was called by a thread, not by a task");
    }
}

std::uint64_t id() noexcept {
    detail::context* const root = detail::task_root();
    if (root == nullptr) {
        return 0;
    }
    if (root->task().id == 0) {  // created on demand: most tasks never need it
        root->task().id = detail::new_task_id();
    }
    return root->task().id;
}

const char* name() noexcept {
    const detail::context* const root = detail::task_root();
    return root != nullptr ? static_cast<const char*>(root->task().name) : nullptr;
}

priority get_priority() noexcept {
    const detail::context* const self = own_context();
    return self != nullptr ? self->urgency : priority::normal;
}

std::size_t stack_left() noexcept {
    const detail::context* const self = own_context();
    if (self == nullptr) {
        return std::numeric_limits<std::size_t>::max();
    }
    return detail::bytes_left_of_stack(__builtin_frame_address(0));
}

}  // namespace quern::this_task
