// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/quern.hpp"

namespace bench::loop_null {

namespace {

void loop(auto tasks, long n, quern::grain grain) {
    quern::parallel_for(0L, n, grain, [tasks](long i) { tasks[i](); });
}

const contender by_ones{"loop_null", "grain_1", [](const arguments& a) {
                            return null_by_quern(
                                a, [](auto t, long n) { loop(t, n, quern::grain::fixed(1)); });
                        }};
const contender by_default{
    "loop_null", "default", [](const arguments& a) {
        return null_by_quern(a, [](auto t, long n) { loop(t, n, quern::grain::automatic()); });
    }};

}  // namespace

}  // namespace bench::loop_null
