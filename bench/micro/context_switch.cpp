// SPDX-License-Identifier: BSL-1.0
// The cost of a switch between two stacks. The figures of docs/design/0002-context-switch.md; run
// it on builds with QUERN_CONTEXT_SWITCH=native and =boost to compare. The two stacks differ in a
// sticky floating-point flag, as two stacks do once one of them has rounded a result.
#include <quern/context/detail/execution_stack.hpp>

#include <benchmark/benchmark.h>

namespace {

using quern::detail::execution_stack;

/// Two stacks that switch to each other for ever.
struct pair {
    execution_stack here;
    execution_stack there{quern::detail::allocate_stack(quern::stack_class::small)};
    quern::detail::exception_globals& exceptions = quern::detail::this_thread_exceptions();

    pair() {
        here.adopt_thread();
        there.restart(
            [](void* p) {
                auto& self = *static_cast<pair*>(p);
                self.there.entered();
                for (;;) {
                    self.there.switch_to(self.here, self.exceptions, false);
                }
            },
            this);
    }
    ~pair() {
        const auto span = there.span();
        there.forget();
        quern::detail::release_stack(span);
    }
};

void round_trip(benchmark::State& state) {
    pair stacks;
    volatile double third = 1.0;
    third = third / 3;  // inexact: sets the sticky flag on this stack alone
    for (auto _ : state) {
        stacks.here.switch_to(stacks.there, stacks.exceptions, false);
    }
    state.SetItemsProcessed(2 * state.iterations());
}

BENCHMARK(round_trip);

}  // namespace

BENCHMARK_MAIN();
