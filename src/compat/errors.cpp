// SPDX-License-Identifier: BSL-1.0
// The names of HPX's errors, and the translation of Quern's.
#include <quern/compat/hpx/errors.hpp>

#include <array>

namespace hpx {

namespace {

constexpr std::array<const char*, 37> k_names{
    "success",
    "no_success",
    "not_implemented",
    "out_of_memory",
    "invalid_status",
    "bad_parameter",
    "lock_error",
    "uninitialized_value",
    "deadlock",
    "assertion_failure",
    "null_thread_id",
    "invalid_data",
    "yield_aborted",
    "commandline_option_error",
    "unhandled_exception",
    "kernel_error",
    "broken_task",
    "task_moved",
    "task_already_started",
    "future_already_retrieved",
    "promise_already_satisfied",
    "future_does_not_support_cancellation",
    "future_can_not_be_cancelled",
    "no_state",
    "broken_promise",
    "thread_resource_error",
    "future_cancelled",
    "thread_cancelled",
    "thread_not_interruptable",
    "unknown_error",
    "filesystem_error",
    "bad_function_call",
    "task_canceled_exception",
    "task_block_not_active",
    "out_of_range",
    "length_error",
    "bad_component_type",
};
static_assert(k_names.size() == static_cast<std::size_t>(error::bad_component_type) + 1);

class names final : public std::error_category {
public:
    const char* name() const noexcept override { return "HPX"; }
    std::string message(int value) const override {
        const auto index = static_cast<std::size_t>(value);
        return "HPX(" + std::string(index < k_names.size() ? k_names[index] : "unknown") + ")";
    }
};

error code_of(const std::error_code& of) {
    if (of == std::future_errc::broken_promise) {
        return error::broken_promise;
    }
    if (of == std::future_errc::future_already_retrieved) {
        return error::future_already_retrieved;
    }
    return of == std::future_errc::promise_already_satisfied ? error::promise_already_satisfied
                                                             : error::no_state;
}

/// Calls f with the exception, as its own type.
template <class F>
auto with(const std::exception_ptr& error, F&& f) {
    try {
        std::rethrow_exception(error);
    } catch (const exception& e) {
        return f(&e, e.what());
    } catch (const std::exception& e) {
        return f(static_cast<const exception*>(nullptr), e.what());
    } catch (...) {
        return f(static_cast<const exception*>(nullptr), "an exception that is no std::exception");
    }
}

}  // namespace

namespace detail {

const std::error_category& error_category() noexcept {
    static const names k_category;
    return k_category;
}

void report(error_code& ec, error e, const char* function, const std::string& message) {
    if (&ec == &throws) {
        throw exception(e, message, function, "", -1);
    }
    ec = error_code(e, message);
}

void throw_translated(const std::future_error& error) {
    throw exception(code_of(error.code()), error.what());
}

}  // namespace detail

std::string get_error_what(const exception& error) { return error.what(); }
std::string get_error_what(const std::exception_ptr& error) {
    return with(error, [](const exception*, const char* what) { return std::string(what); });
}
error get_error(const std::exception_ptr& error) {
    return with(error, [](const exception* e, const char*) {
        return e != nullptr ? e->get_error() : error::unknown_error;
    });
}

std::string diagnostic_information(const exception& error) {
    std::string text = "{what}: " + std::string(error.what()) + "\n";
    if (!error.function().empty()) {
        text += "{function}: " + error.function() + "\n";
    }
    if (!error.file().empty()) {
        text += "{file}: " + error.file() + "\n{line}: " + std::to_string(error.line()) + "\n";
    }
    return text;
}
std::string diagnostic_information(const std::exception_ptr& error) {
    return with(error, [](const exception* e, const char* what) {
        return e != nullptr ? diagnostic_information(*e) : "{what}: " + std::string(what) + "\n";
    });
}

}  // namespace hpx
