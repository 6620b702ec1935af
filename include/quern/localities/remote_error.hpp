// SPDX-License-Identifier: BSL-1.0
// What the future of a call gets when the called function has thrown.
#pragma once

#include <quern/base/detail/config.hpp>

#include <stdexcept>
#include <string>

namespace quern::localities {

/// What is known of an exception that a function has thrown at another locality.
struct error_report {
    int locality = 0;     ///< where it was thrown
    std::string type;     ///< "std::invalid_argument"
    std::string message;  ///< its what(), or empty
    std::string task;     ///< the name of the task, or empty
};

/// An exception that was thrown by a function that run_at() has called. It has this type wherever
/// the function ran, at the caller's own locality too, so that a program behaves alike on any
/// number of ranks. what() is "locality 1: std::invalid_argument: no such cell".
///
///     try {
///         quern::localities::run_at(0, [] { throw std::invalid_argument("no such cell"); }).get();
///     } catch (const quern::localities::remote_error& e) {
///         std::puts(e.report().type.c_str());  // std::invalid_argument
///     }
class remote_error : public std::runtime_error {
public:
    explicit remote_error(error_report what);
    const error_report& report() const noexcept { return m_report; }

private:
    error_report m_report;
};

namespace detail {

/// The report of the exception that is being handled. Of a remote_error: its own.
error_report report_of_current_exception(int here);

}  // namespace detail
}  // namespace quern::localities
