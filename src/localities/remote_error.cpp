// SPDX-License-Identifier: BSL-1.0
// Exceptions in words that travel.
#include <quern/localities/remote_error.hpp>

#include <quern/base/detail/symbols.hpp>
#include <quern/task/this_task.hpp>

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <typeinfo>
#include <utility>

namespace quern::localities {

namespace {

std::string words_of(const error_report& what) {
    std::string words = "locality " + std::to_string(what.locality) + ": " + what.type;
    if (!what.message.empty()) {
        words += ": " + what.message;
    }
    if (!what.task.empty()) {
        words += " (task " + what.task + ")";
    }
    return words;
}

std::string name_of(const std::type_info* type) {
    if (type == nullptr) {
        return "an exception of another language";
    }
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(type->name(), nullptr, nullptr, &status), &std::free);
    return status == 0 && name ? name.get() : type->name();
}

}  // namespace

remote_error::remote_error(error_report what)
    : std::runtime_error(words_of(what)), m_report(std::move(what)) {}

namespace detail {

error_report report_of_current_exception(int here) {
    const char* const task = quern::this_task::name();
    error_report what{.locality = here,
                      .type = name_of(abi::__cxa_current_exception_type()),
                      .message = {},
                      .task = task != nullptr ? task : ""};
    try {
        throw;
    } catch (const remote_error& e) {
        return e.report();
    } catch (const std::exception& e) {
        what.message = e.what();
    } catch (...) {
        // Its type is all that is known.
    }
    return what;
}

}  // namespace detail
}  // namespace quern::localities
