// SPDX-License-Identifier: BSL-1.0
// The handler of unobserved exceptions, and the exceptions that it is not given.
#include <quern/task/exceptions.hpp>

#include <quern/task/stop.hpp>

#include <atomic>
#include <future>
#include <utility>

namespace quern {

namespace {

/// A plain function pointer: swapping needs no lock, and a handler in use cannot be destroyed.
std::atomic<exception_handler> g_handler{nullptr};

bool is_worth_reporting(const std::exception_ptr& error, exception_origin where) noexcept {
    try {
        std::rethrow_exception(error);
    } catch (const task_cancelled&) {
        return false;
    } catch (const std::future_error& e) {
        return where != exception_origin::unobserved_future ||
               e.code() != std::future_errc::broken_promise;
    } catch (...) {
        return true;
    }
}

}  // namespace

exception_handler set_exception_handler(exception_handler handler) noexcept {
    // acq_rel: release makes what the handler reads visible to report_exception; acquire makes what
    // the previous handler reads visible to the caller.
    return g_handler.exchange(handler, std::memory_order_acq_rel);
}

exception_handler get_exception_handler() noexcept {
    return g_handler.load(std::memory_order_acquire);  // pairs with set_exception_handler
}

namespace detail {

void report_exception(std::exception_ptr error, exception_origin where) noexcept {
    const exception_handler handler = get_exception_handler();
    if (handler == nullptr && where != exception_origin::posted_task) {
        return;
    }
    if (!is_worth_reporting(error, where)) {
        return;
    }
    if (handler != nullptr) {
        handler(std::move(error), where);
        return;
    }
    std::terminate();  // inside the handler of posted_task, so that the message names the exception
}

}  // namespace detail
}  // namespace quern
