// SPDX-License-Identifier: BSL-1.0
// Interruption, and hpx::this_thread on Quern.
#include <quern/compat/hpx/thread.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/task/task_local.hpp>

#include <algorithm>
#include <limits>

namespace hpx {

namespace detail {

namespace {

quern::task_local<std::shared_ptr<interruption>>& own_place() {
    static quern::task_local<std::shared_ptr<interruption>> place;
    return place;
}

}  // namespace

interruption* own_interruption() noexcept {
    return own_place().has_value() ? own_place()->get() : nullptr;
}
void set_own_interruption(std::shared_ptr<interruption> own) { *own_place() = std::move(own); }

void interruption::request(bool wanted) {
    if (wanted && !enabled()) {
        throw exception(error::thread_not_interruptable, "the thread has disabled interruption");
    }
    if (wanted) {
        m_asked.set();
    } else {
        m_asked.reset();
    }
}

void interruption::point() {
    if (enabled() && requested()) {
        m_asked.reset();
        throw thread_interrupted();
    }
}

void interruption::sleep_until(std::chrono::steady_clock::time_point when) {
    if (enabled()) {
        m_asked.wait_until(when);
        point();
    } else {
        quern::this_task::sleep_until(when);
    }
}

}  // namespace detail

namespace this_thread {

void interruption_point() {
    if (detail::interruption* own = detail::own_interruption()) {
        own->point();
    }
}
bool interruption_enabled() noexcept {
    const detail::interruption* own = detail::own_interruption();
    return own != nullptr && own->enabled();
}
bool interruption_requested() noexcept {
    const detail::interruption* own = detail::own_interruption();
    return own != nullptr && own->requested();
}

namespace {

bool set_enabled(bool on) noexcept {
    detail::interruption* own = detail::own_interruption();
    return own != nullptr && own->enable(on);
}

}  // namespace

disable_interruption::disable_interruption() noexcept : m_before(set_enabled(false)) {}
disable_interruption::~disable_interruption() { set_enabled(m_before); }
restore_interruption::restore_interruption(disable_interruption& d) noexcept
    : m_before(set_enabled(d.m_before)) {}
restore_interruption::~restore_interruption() { set_enabled(m_before); }

void yield() {
    quern::this_task::yield();
    interruption_point();
}

void sleep_until(std::chrono::steady_clock::time_point when) {
    if (detail::interruption* own = detail::own_interruption()) {
        own->sleep_until(when);
    } else {
        quern::this_task::sleep_until(when);
    }
}

threads::thread_priority get_priority() noexcept {
    switch (quern::this_task::get_priority()) {
        case quern::priority::low:
            return threads::thread_priority::low;
        case quern::priority::high:
            return threads::thread_priority::high;
        default:
            return threads::thread_priority::normal;
    }
}

std::ptrdiff_t get_available_stack_space() noexcept {
    constexpr auto k_most = std::size_t(std::numeric_limits<std::ptrdiff_t>::max());
    return static_cast<std::ptrdiff_t>(std::min(quern::this_task::stack_left(), k_most));
}

std::ptrdiff_t get_stack_size() noexcept {
    constexpr std::ptrdiff_t k_kib = 1024;
    const quern::detail::context* const here = quern::detail::current_context();
    if (here == nullptr) {
        return get_available_stack_space();
    }
    switch (here->size()) {
        case quern::stack_class::small:
            return 64 * k_kib;
        case quern::stack_class::medium:
            return 512 * k_kib;
        default:
            return 8 * 1024 * k_kib;
    }
}

}  // namespace this_thread

std::size_t get_worker_thread_num() noexcept {
    return static_cast<std::size_t>(quern::current_worker_rank());
}
std::size_t get_worker_thread_num(error_code& ec) noexcept {
    detail::succeed(ec);
    return get_worker_thread_num();
}
std::size_t get_local_worker_thread_num() noexcept { return get_worker_thread_num(); }
std::size_t get_os_thread_count() { return quern::current_pool().workers(); }
std::size_t get_num_worker_threads() { return quern::current_pool().workers(); }
std::size_t get_thread_count() { return quern::current_pool().get().contexts_away() + 1; }
std::string get_thread_name() {
    const int rank = quern::current_worker_rank();
    return rank < 0 ? "main-thread" : "worker-thread#" + std::to_string(rank);
}

}  // namespace hpx
