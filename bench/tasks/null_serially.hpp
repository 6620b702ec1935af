// SPDX-License-Identifier: BSL-1.0
// The serial programs of the null problems. "serial" is the reference Ts: a loop over the task, one
// cycle each (as also remains of calls that the compiler finds empty). "call" makes a real call for
// each, for comparison.
#pragma once

#include "null_tasks.hpp"

namespace bench {

template <class Task>
[[gnu::noinline]] void call_once(Task task) {
    task();
}

/// Registers both for a problem.
class null_serially {
public:
    explicit null_serially(const char* problem)
        : m_loop(problem, "serial",
                 [](const arguments& a) -> job {
                     return null_problem(a.size, [](auto tasks, long n) {
                         for (long i = 0; i < n; ++i) {
                             tasks[i]();
                         }
                     });
                 }),
          m_call(problem, "call", [](const arguments& a) -> job {
              return null_problem(a.size, [](auto tasks, long n) {
                  for (long i = 0; i < n; ++i) {
                      call_once(tasks[i]);
                  }
              });
          }) {}

private:
    contender m_loop;
    contender m_call;
};

}  // namespace bench
