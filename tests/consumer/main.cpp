// SPDX-License-Identifier: BSL-1.0
// An outside project that uses Quern: the umbrella header and one library. Every consumer project
// beside this file compiles it, each finding Quern in its own way. Must use only the public
// interface.
#include <quern/quern.hpp>
#include <quern/version.hpp>

#include <cstdio>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <stop_token>

#ifndef __cpp_concepts
#    error "Quern must ask its user for C++20"
#endif

namespace {

struct own_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

long fib(int n) {
    if (n < 2) {
        return n;
    }
    const auto [a, b] = quern::fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
    return a + b;
}

/// Whether an exception reaches a handler of its type, also where the library throws it.
template <class Error, class Function>
bool throws(Function&& f) {
    try {
        f();
    } catch (const Error& error) {
        return std::strlen(error.what()) > 0;
    } catch (...) {
    }
    return false;
}

bool computes() {
    const long sum = quern::parallel_reduce(
        0, 1000, 0L, [](int i) { return static_cast<long>(i); }, std::plus<>{});
    return quern::async([] { return fib(20); }).get() == 6765 && sum == 499500;
}

bool errors_arrive() {
    const auto of_program = [] { quern::async([]() -> int { throw own_error("own"); }).get(); };
    const auto of_library = [] {
        quern::channel<int> closed;
        closed.close();
        closed.send(1);
    };
    const auto of_task = [] {
        std::stop_source source;
        source.request_stop();
        quern::async({.stop = source.get_token()}, [] { return 1; }).get();
    };
    return throws<own_error>(of_program) && throws<std::runtime_error>(of_program) &&
           throws<quern::channel_closed>(of_library) && throws<std::runtime_error>(of_library) &&
           throws<quern::task_cancelled>(of_task) && throws<std::exception>(of_task);
}

bool is(const char* what, bool right) {
    std::printf("%s: %s\n", what, right ? "right" : "WRONG");
    return right;
}

}  // namespace

int main() {
    const bool version =
        is(QUERN_VERSION_STRING, !std::strcmp(QUERN_VERSION_STRING, EXPECTED_VERSION));
    const bool answers = is("answers", computes());
    const bool errors = is("errors", errors_arrive());
    return version && answers && errors ? 0 : 1;
}
