// SPDX-License-Identifier: BSL-1.0
// fib: the doubly recursive Fibonacci function with a task for every call and no cut-off. The calls
// do no other work, so the ratio to the serial function is the cost of a task.
#include "../common/cli.hpp"
#include "../common/measure.hpp"
#include "../common/table.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace fib {

namespace {

constexpr const char* k_examples = R"(Examples:
  fib                                    all variants of fib(35)
  fib --n 40 --threads 2 --variant context --repeat 3
  fib --n 25 --variant future --policy priority-local-fifo
  fib --n 27 --variant adaptive --quern:inlining=baseline)";

[[gnu::noinline]] long serial(int n) {  // noinline: a real call, as in the tasks
    return n < 2 ? n : serial(n - 1) + serial(n - 2);
}

/// Passes the next fork position down the recursion. `inline` allows gcc at -O2 to expand the
/// leaves in the children; without it each leaf is a call and the time 1.5 times as long.
inline long with_context(quern::fork_context here, int n) {
    if (n < 2) {
        return n;
    }
    const auto [a, b] = quern::fork_join(
        here, [n](quern::fork_context c) { return with_context(c, n - 1); },
        [n](quern::fork_context c) { return with_context(c, n - 2); });
    return a + b;
}

/// Finds the fork position in thread-local memory at each fork.
inline long plain(int n) {
    if (n < 2) {
        return n;
    }
    const auto [a, b] =
        quern::fork_join([n] { return plain(n - 1); }, [n] { return plain(n - 2); });
    return a + b;
}

/// An allocated task for every call.
long with_future(int n) {
    if (n < 2) {
        return n;
    }
    auto a = quern::async(with_future, n - 1);
    const long b = with_future(n - 2);
    return a.get() + b;
}

/// The same, where a rule decides which of them become tasks.
long with_adaptive(int n) {
    if (n < 2) {
        return n;
    }
    auto a = quern::async(quern::launch::adaptive, with_adaptive, n - 1);
    const long b = with_adaptive(n - 2);
    return a.get() + b;
}

/// By addition, independent of all variants above.
long by_addition(int n) {
    long a = 0;
    long b = 1;
    for (int i = 0; i < n; ++i) {
        a = std::exchange(b, a + b);
    }
    return a;
}

template <class F>
double checked_seconds(int n, F&& f) {
    long answer = 0;
    const double seconds = apps::seconds_of([&] { answer = f(); });
    if (answer != by_addition(n)) {
        throw std::runtime_error(
            fmt::format("wrong answer: fib({}) = {} and not {}", n, by_addition(n), answer));
    }
    return seconds;
}

apps::variant serial_variant(int n) {
    return {"serial", [n] { return checked_seconds(n, [n] { return serial(n); }); }};
}

/// Runs f() as a task of the runtime; the time includes the wait for it.
template <class F>
apps::variant parallel_variant(const char* name, const quern::runtime& rt, int n, F f) {
    return {name,
            [&rt, n, f] { return checked_seconds(n, [&] { return quern::async(rt, f).get(); }); }};
}

void print_comparison(int n, int repeat, std::vector<apps::variant> variants) {
    apps::run_in_turns(variants, repeat);
    fmt::print("fib({}) = {}, {} calls, median of {}\n", n, by_addition(n),
               2 * by_addition(n + 1) - 1, repeat);
    apps::print_ratios(variants);
}

int run(int argc, char** argv) {
    cli::command_line app("The Fibonacci function, a task for every call.", "fib");
    int n = 35;
    int repeat = 7;
    std::string which = "all";
    apps::add_count(app, "--n", n, 0, 60, "argument");
    apps::add_count(app, "--repeat", repeat, 1, 10'000, "measured runs of each variant");
    app.add("--variant", which, "context, plain, future, adaptive, serial or all").shows_default();
    apps::add_runtime_options(app);
    app.footer(k_examples);
    if (!apps::parse(app, argc, argv)) {
        return apps::k_success;
    }
    apps::checked_word("--variant", which,
                       {"context", "plain", "future", "adaptive", "serial", "all"});

    const quern::runtime rt;
    fmt::print("fib: {} worker{}, policy {}\n", rt.workers(), rt.workers() == 1 ? "" : "s",
               rt.default_pool().policy());
    const auto wanted = [&which](const char* name) { return which == name || which == "all"; };
    std::vector<apps::variant> forks{serial_variant(n)};
    if (wanted("context")) {
        forks.push_back(parallel_variant("context", rt, n, [n] {
            const auto [a, b] = quern::fork_join(
                [n](quern::fork_context c) { return with_context(c, n); }, [] { return 0L; });
            return a + b;
        }));
    }
    if (wanted("plain")) {
        forks.push_back(parallel_variant("plain", rt, n, [n] { return plain(n); }));
    }
    const bool only_futures = which == "future" || which == "adaptive";
    if (!only_futures) {
        print_comparison(n, repeat, std::move(forks));
    }
    if (only_futures || which == "all") {
        constexpr int k_future_n = 27;  // half a million tasks of about 50 ns
        const int smaller = which == "all" ? std::min(n, k_future_n) : n;
        std::vector<apps::variant> futures{
            serial_variant(smaller),
            parallel_variant("future", rt, smaller, [smaller] { return with_future(smaller); })};
        if (which != "future") {
            futures.push_back(parallel_variant("adaptive", rt, smaller,
                                               [smaller] { return with_adaptive(smaller); }));
        }
        print_comparison(smaller, repeat, std::move(futures));
    }
    return apps::k_success;
}

}  // namespace

}  // namespace fib

int main(int argc, char** argv) {
    return apps::guarded_main("fib", [&] { return fib::run(argc, argv); });
}
