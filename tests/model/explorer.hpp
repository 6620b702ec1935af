// SPDX-License-Identifier: BSL-1.0
// The explorer: runs a small concurrent program, written against model::atomics, in every
// distinguishable interleaving, and reports the first one that fails. Model tests call explore().
// README.md says what is covered and what is not. It must never call a run exhaustive that a bound
// has cut, and never depend on time, addresses or an OS thread.
#pragma once

#include "atomic.hpp"
#include "var.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace model {

enum class memory : std::uint8_t {
    sequential,  // every store is visible at once
    tso,         // stores that are not seq_cst wait in a first-in-first-out buffer per thread
    pso  // as tso, but stores to different addresses may overtake each other, except past a release
};

enum class pause_wakes : std::uint8_t {
    any_write,  // a paused thread resumes when another thread has changed any atomic
    read_set    // … any atomic that it has read since the pause before: far fewer executions
                // (README.md)
};

struct options {
    memory stores = memory::sequential;
    pause_wakes pause = pause_wakes::any_write;
    bool reduction = true;  // false: every interleaving, also those that differ only in the order
                            // of independent steps
    bool check_lifetimes =
        true;  // constructing and destroying an atomic or var must be ordered with its uses
    std::uint32_t spurious_cas =
        0;  // spurious failures of compare_exchange_weak, per thread and execution
    std::uint32_t spurious_wakeups = 0;  // spurious returns of futex_wait, per thread and execution
    std::uint32_t timeouts = 2;  // time-outs while others could still run, per thread and execution
    std::uint32_t idle_rounds =
        8;  // rounds in which all threads only spin and change nothing: then livelock
    std::uint32_t max_steps = 5'000;  // per execution; more is reported as livelock
    std::uint64_t max_executions =
        50'000'000;            // bound on the whole exploration: more is reported as not exhaustive
    double max_seconds = 500;  // likewise
    std::uint64_t random_runs =
        0;  // not 0: this many random interleavings instead of all (never exhaustive)
    std::uint64_t seed = 1;
    std::string replay = {};  // not empty: only this one interleaving, as printed in a report
};

enum class failure : std::uint8_t {
    none,
    check,      // model::check was false
    race,       // two unordered accesses to a var, one of them a write
    lifetime,   // an access not ordered after construction or before destruction
    deadlock,   // no thread can run and at least one is not finished
    livelock,   // threads spin for ever, or an execution is too long
    exception,  // an exception left a thread
    misuse      // the model program itself: too many threads, not deterministic, …
};

struct result {
    failure kind = failure::none;
    std::string message;           // one line
    std::string trace;             // the failing interleaving, a line per operation
    std::string replay;            // for options::replay
    std::uint64_t executions = 0;  // maximal interleavings run to their end
    std::uint64_t redundant = 0;   // begun, then found to repeat an earlier one
    std::uint64_t steps = 0;       // all steps, including those repeated to return to a branch
    std::uint64_t longest = 0;     // steps in the longest execution
    double seconds = 0;
    bool exhaustive = false;  // complete, within the options

    [[nodiscard]] bool ok() const noexcept { return kind == failure::none; }
    [[nodiscard]] std::string report() const;  // all of it, for a test's message
};

// One execution's program: made anew by the setup function for each execution.
class run {
public:
    void thread(std::function<void()> f) { m_threads.push_back({std::move(f), false}); }
    // May still be blocked when all others are finished: a server, a parked worker.
    void background_thread(std::function<void()> f) { m_threads.push_back({std::move(f), true}); }
    // Runs alone after the threads, and sees all their writes.
    void at_end(std::function<void()> f) { m_end_checks.push_back(std::move(f)); }

    // Shared state that lives until the end of the end check.
    template <class T, class... Args>
    T& make(Args&&... args) {
        auto object = std::make_shared<T>(std::forward<Args>(args)...);
        m_state.push_back(object);
        return *object;
    }

    struct body {
        std::function<void()> function;
        bool background;
    };
    [[nodiscard]] const std::vector<body>& threads() const noexcept { return m_threads; }
    [[nodiscard]] const std::vector<std::function<void()>>& end_checks() const noexcept {
        return m_end_checks;
    }
    [[nodiscard]] bool empty() const noexcept {
        return m_threads.empty() && m_end_checks.empty() && m_state.empty();
    }
    void clear();

private:
    std::vector<body> m_threads;
    std::vector<std::function<void()>> m_end_checks;
    std::vector<std::shared_ptr<void>> m_state;
};

// Requires: `setup` does the same each time it is called; no exploration is active on this OS
// thread.
[[nodiscard]] result explore(const options& o, const std::function<void(run&)>& setup);

// Ends the execution as failed when `condition` is false. In threads, in the setup and in end
// checks.
void check(bool condition, const char* text);
// Any number from 0 to n - 1; each is explored.
[[nodiscard]] unsigned choose(unsigned n);
// A line in the trace.
void note(const char* text);
// The trace's name of this address where it is the value of an atomic.
void name_value(const void* address, const char* text);
// 0 for the first thread of the run, …
[[nodiscard]] unsigned this_thread();

[[nodiscard]] const char* to_string(failure kind) noexcept;

}  // namespace model
