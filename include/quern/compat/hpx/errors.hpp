// SPDX-License-Identifier: BSL-1.0
// Errors as HPX reports them: hpx::exception with a code of hpx::error, or an error_code argument
// of the caller. Functions of this header set throw unless they get an error_code.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/compat/hpx/format.hpp>

#include <cstddef>
#include <exception>
#include <future>
#include <list>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace hpx {

/// The error codes that programs can get.
enum class error : int {
    success,
    no_success,
    not_implemented,
    out_of_memory,
    invalid_status,
    bad_parameter,
    lock_error,
    uninitialized_value,
    deadlock,
    assertion_failure,
    null_thread_id,
    invalid_data,
    yield_aborted,
    commandline_option_error,
    unhandled_exception,
    kernel_error,
    broken_task,
    task_moved,
    task_already_started,
    future_already_retrieved,
    promise_already_satisfied,
    future_does_not_support_cancellation,
    future_can_not_be_cancelled,
    no_state,
    broken_promise,
    thread_resource_error,
    future_cancelled,
    thread_cancelled,
    thread_not_interruptable,
    unknown_error,
    filesystem_error,
    bad_function_call,
    task_canceled_exception,
    task_block_not_active,
    out_of_range,
    length_error,
    bad_component_type,
};
using enum error;  // older programs say hpx::no_state

/// How an error_code stores an error. Only the caller's choice is recorded here.
enum class throwmode { plain, rethrow, lightweight, lightweight_rethrow };

namespace detail {
const std::error_category& error_category() noexcept;
}

inline std::error_code make_error_code(error e) noexcept {
    return {static_cast<int>(e), detail::error_category()};
}

}  // namespace hpx

template <>
struct std::is_error_code_enum<hpx::error> : std::true_type {};

namespace hpx {

/// The exception of functions of namespace hpx.
class exception : public std::system_error {
public:
    explicit exception(error e = error::success) : std::system_error(make_error_code(e)) {}
    exception(error e, const std::string& message, throwmode = throwmode::plain)
        : std::system_error(make_error_code(e), message), m_message(message) {}
    exception(error e, std::string message, std::string function, std::string file, long line)
        : std::system_error(make_error_code(e), function + ": " + message),
          m_message(std::move(message)),
          m_function(std::move(function)),
          m_file(std::move(file)),
          m_line(line) {}

    error get_error() const noexcept { return static_cast<error>(code().value()); }
    std::error_code get_error_code(throwmode = throwmode::plain) const noexcept { return code(); }

    const std::string& message() const noexcept { return m_message; }
    const std::string& function() const noexcept { return m_function; }
    const std::string& file() const noexcept { return m_file; }
    long line() const noexcept { return m_line; }

private:
    std::string m_message, m_function, m_file;
    long m_line = -1;
};

/// Leaves an interrupted thread.
struct thread_interrupted : std::exception {
    const char* what() const noexcept override { return "hpx::thread_interrupted"; }
};

/// Stores an error for a caller that wants no exception.
class error_code : public std::error_code {
public:
    explicit error_code(throwmode = throwmode::plain)
        : std::error_code(make_error_code(error::success)) {}
    explicit error_code(error e, throwmode = throwmode::plain)
        : std::error_code(make_error_code(e)) {}
    error_code(error e, std::string message, throwmode = throwmode::plain)
        : std::error_code(make_error_code(e)), m_message(std::move(message)) {}

    const std::string& get_message() const noexcept { return m_message; }
    void clear() { *this = error_code(); }

private:
    std::string m_message;
};

/// The default argument: stores nothing; the error is thrown.
inline error_code throws(throwmode::plain);

inline error_code make_success_code(throwmode = throwmode::plain) { return error_code(); }

/// The exceptions of a parallel algorithm.
class exception_list : public exception {
public:
    using exception_list_type = std::list<std::exception_ptr>;
    using iterator = exception_list_type::const_iterator;

    exception_list() : exception(error::unknown_error) {}
    explicit exception_list(std::exception_ptr first) : exception_list() {
        m_exceptions.push_back(std::move(first));
    }

    void add(std::exception_ptr error) { m_exceptions.push_back(std::move(error)); }
    std::size_t size() const noexcept { return m_exceptions.size(); }
    iterator begin() const noexcept { return m_exceptions.begin(); }
    iterator end() const noexcept { return m_exceptions.end(); }

private:
    exception_list_type m_exceptions;
};

namespace detail {

/// Throws, or stores the error for the caller.
void report(error_code& ec, error e, const char* function, const std::string& message);

inline void succeed(error_code& ec) {
    if (&ec != &throws) {
        ec.clear();
    }
}

/// HPX's exception for an error of Quern's.
[[noreturn]] void throw_translated(const std::future_error& error);

/// Calls f; errors of the standard's futures become HPX's.
template <class F>
decltype(auto) translated(F&& f) {
    try {
        return std::forward<F>(f)();
    } catch (const std::future_error& error) {
        throw_translated(error);
    }
}

/// Calls f; with an error_code to fill, an exception is stored there and the result is T().
template <class F>
auto translated(error_code& ec, F&& f) -> decltype(f()) {
    if (&ec == &throws) {
        return translated(std::forward<F>(f));
    }
    try {
        ec.clear();
        return translated(std::forward<F>(f));
    } catch (const exception& e) {
        ec = error_code(e.get_error(), e.message());
    } catch (const std::exception& e) {
        ec = error_code(error::unhandled_exception, e.what());
    }
    return decltype(f())();
}

}  // namespace detail

std::string get_error_what(const std::exception_ptr& error);
std::string get_error_what(const exception& error);
inline error get_error(const exception& e) noexcept { return e.get_error(); }
error get_error(const std::exception_ptr& error);
inline std::string get_error_function_name(const exception& e) { return e.function(); }
inline std::string get_error_file_name(const exception& e) { return e.file(); }
inline long get_error_line_number(const exception& e) noexcept { return e.line(); }

/// All facts about an error, one per line.
std::string diagnostic_information(const exception& error);
std::string diagnostic_information(const std::exception_ptr& error);

}  // namespace hpx

#define HPX_THROW_EXCEPTION(code, function, ...) \
    throw ::hpx::exception(code, ::hpx::util::format(__VA_ARGS__), function, __FILE__, __LINE__)
#define HPX_THROWS_IF(ec, code, function, ...) \
    ::hpx::detail::report(ec, code, function, ::hpx::util::format(__VA_ARGS__))
