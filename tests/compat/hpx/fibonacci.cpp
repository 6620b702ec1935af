// SPDX-License-Identifier: BSL-1.0
// Fibonacci numbers by futures, in four ways: a task per call, a dataflow, an action, and a policy
// that makes a task only where that pays.
#include <hpx/hpx_init.hpp>
#include <hpx/include/actions.hpp>
#include <hpx/include/lcos.hpp>
#include <hpx/include/util.hpp>

#include <cstdint>
#include <iostream>

std::uint64_t fibonacci_serial(std::uint64_t n) {
    return n < 2 ? n : fibonacci_serial(n - 1) + fibonacci_serial(n - 2);
}

std::uint64_t fibonacci_by_tasks(std::uint64_t n) {
    if (n < 2) {
        return n;
    }
    hpx::future<std::uint64_t> first = hpx::async(fibonacci_by_tasks, n - 1);
    std::uint64_t second = fibonacci_by_tasks(n - 2);
    return first.get() + second;
}

hpx::future<std::uint64_t> fibonacci_by_dataflow(std::uint64_t n) {
    if (n < 2) {
        return hpx::make_ready_future(n);
    }
    hpx::future<std::uint64_t> first = hpx::async(fibonacci_by_dataflow, n - 1);
    hpx::future<std::uint64_t> second = fibonacci_by_dataflow(n - 2);
    return hpx::dataflow(hpx::unwrapping([](std::uint64_t a, std::uint64_t b) { return a + b; }),
                         std::move(first), std::move(second));
}

std::uint64_t fibonacci_by_action(std::uint64_t n);
HPX_PLAIN_ACTION(fibonacci_by_action, fibonacci_action)

std::uint64_t fibonacci_by_action(std::uint64_t n) {
    if (n < 2) {
        return n;
    }
    hpx::id_type const here = hpx::find_here();
    fibonacci_action fib;
    hpx::future<std::uint64_t> first = hpx::async(fib, here, n - 1);
    hpx::future<std::uint64_t> second = hpx::async<fibonacci_action>(here, n - 2);
    return first.get() + second.get();
}

std::uint64_t fibonacci_by_policy(std::uint64_t n) {
    if (n < 2) {
        return n;
    }
    hpx::launch const how = n > 10 ? hpx::launch::fork : hpx::launch::deferred;
    hpx::future<std::uint64_t> first = hpx::async(how, fibonacci_by_policy, n - 1);
    std::uint64_t second = fibonacci_by_policy(n - 2);
    return first.get() + second;
}

int hpx_main(hpx::program_options::variables_map& vm) {
    std::uint64_t const n = vm["n-value"].as<std::uint64_t>();
    std::uint64_t const expected = fibonacci_serial(n);

    hpx::chrono::high_resolution_timer t;
    bool const right = fibonacci_by_tasks(n) == expected &&
                       fibonacci_by_dataflow(n).get() == expected &&
                       fibonacci_by_action(n) == expected && fibonacci_by_policy(n) == expected;
    hpx::util::format_to(std::cout, "fibonacci({1}) == {2}, elapsed time: {3} [s]\n", n, expected,
                         t.elapsed());
    hpx::finalize();
    return right ? 0 : 1;
}

int main(int argc, char* argv[]) {
    hpx::program_options::options_description desc_commandline("Usage: " HPX_APPLICATION_STRING
                                                               " [options]");
    desc_commandline.add_options()("n-value",
                                   hpx::program_options::value<std::uint64_t>()->default_value(16),
                                   "n value for the Fibonacci function");

    hpx::init_params init_args;
    init_args.desc_cmdline = desc_commandline;
    return hpx::init(argc, argv, init_args);
}
