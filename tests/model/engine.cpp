// SPDX-License-Identifier: BSL-1.0
// The steps of an exploration and of each execution in it. A fibre that reaches an operation
// chooses the next actor itself and switches straight to it, so that a step costs at most one
// switch. Called by program.cpp.
#include "engine.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>

namespace model::detail {
namespace {

constexpr std::size_t k_stack_bytes = 256 * 1024;  // per model thread; untouched pages cost nothing
constexpr std::uint32_t k_longest_execution = 60'000;  // an actor's steps are counted in 16 bits

constexpr const char* k_not_deterministic =
    "the program does not do the same when it is run again, or the replay is not of this program";

strategy strategy_of(const options& o) {
    if (!o.replay.empty()) return strategy::scripted;
    if (o.random_runs != 0) return strategy::random;
    return o.reduction ? strategy::reduced : strategy::full;
}

}  // namespace

thread_local engine* engine::active = nullptr;

engine::engine(const options& o, const std::function<void(run&)>& setup)
    : m_options(o), m_setup(setup), m_machine(m_options, *this), m_tree(strategy_of(o), o.seed) {
    m_options.max_steps = std::min(m_options.max_steps, k_longest_execution);
}

void engine::fibre_main(void* argument) {
    auto& self = *static_cast<fibre_of_thread*>(argument);
    engine& e = *self.owner;
    std::string escaped;
    try {
        (*self.body)();
    } catch (const std::exception& error) {
        escaped = std::string("an exception left ") +
                  (self.thread == k_main_thread ? "the setup or end check: " : "a thread: ") +
                  error.what();
    } catch (...) {
        escaped = "an exception of unknown type left a thread";
    }
    if (!escaped.empty()) e.fail(failure::exception, escaped);
    if (self.thread != k_main_thread) {
        e.m_machine.finish(self.thread);
        e.give_way();
    }
    e.enter(k_nobody);
}

void engine::prepare(std::size_t thread, const std::function<void()>& body) {
    fibre_of_thread& f = m_fibres[thread];
    if (!f.stack) f.stack = std::make_unique<fibre>(k_stack_bytes);
    f.owner = this;
    f.thread = thread;
    f.body = &body;
    f.stack->restart(&fibre_main, &f);
}

void engine::enter(std::size_t thread) {
    fibre& from = stack_of(m_thread);
    m_thread = thread;
    from.switch_to(stack_of(thread));
}

void engine::run_alone(const std::function<void()>& body) {
    prepare(k_main_thread, body);
    enter(k_main_thread);
}

void engine::end_with(failure kind, const std::string& message) {
    m_ending = ending::failed;
    m_failure = kind;
    m_message = message;
}

void engine::fail(failure kind, const std::string& message) {
    if (m_machine.is_checking()) {
        end_with(kind, message);
        m_machine.log(m_thread, "*** " + message);
    }
    enter(k_nobody);
    std::abort();  // a failed execution is never resumed
}

unsigned engine::choose_one_of(unsigned n) {
    if (n < 2) return 0;
    const unsigned chosen = m_tree.choose(n);
    if (!m_tree.in_order()) fail(failure::misuse, k_not_deterministic);
    if (m_machine.is_logging())
        m_machine.log(m_thread, "chooses " + std::to_string(chosen) + " of " + std::to_string(n));
    return chosen;
}

reply engine::perform(const request& r) {
    const std::size_t self = m_thread;
    if (m_machine.is_local(self, r)) return m_machine.execute(self, r);
    m_machine.post(self, r);
    give_way();
    const reply result = m_machine.execute(self, r);
    if (!m_machine.is_waiting(self)) return result;
    give_way();
    return m_machine.end_wait(self);
}

// Returns when the tree has picked the calling thread; makes steps of store buffers on the way.
void engine::give_way() {
    const std::size_t self = m_thread;
    if (!m_concurrent) {
        enter(k_nobody);
        return;
    }
    std::size_t next = next_actor();
    for (; next != k_nobody && !m_machine.is_thread(next); next = next_actor())
        m_machine.flush(next);
    if (next != self) enter(next);
}

std::size_t engine::next_actor() {
    actor_set enabled = m_machine.enabled();
    if (enabled == 0) {
        if (m_machine.foreground_done()) {
            m_ending = ending::complete;
            return k_nobody;
        }
        const bool only_time = m_machine.let_time_pass();
        if (!only_time || m_machine.idle_rounds() > m_options.idle_rounds) {
            end_with(only_time ? failure::livelock : failure::deadlock,
                     (only_time ? "nothing changes any more: " : "nobody can run: ") +
                         m_machine.describe_stuck());
            return k_nobody;
        }
        m_tree.barrier();
        enabled = m_machine.enabled();
    }
    if (m_tree.steps() >= m_options.max_steps) {
        end_with(failure::livelock, "an execution of more than " +
                                        std::to_string(m_options.max_steps) +
                                        " steps: " + m_machine.describe_stuck());
        return k_nobody;
    }
    const std::size_t actor = m_tree.pick(enabled, m_thread);
    if (actor == search_tree::k_nobody) {
        m_ending = ending::redundant;
        return k_nobody;
    }
    if (m_tree.must_record())
        record_step(actor);
    else
        m_tree.confirm(m_machine.next_access(actor));
    if (!m_tree.in_order()) {
        end_with(failure::misuse, k_not_deterministic);
        return k_nobody;
    }
    m_machine.begin_step(actor, m_tree.steps());
    m_tree.end_step(actor);
    ++m_steps;
    return actor;
}

void engine::record_step(std::size_t actor) {
    m_predecessors.clear();
    m_machine.list_predecessors(actor, m_predecessors);
    for (actor_set rest = m_tree.sleepers(); rest != 0; rest &= rest - 1)
        m_pending[lowest(rest)] = m_machine.next_access(lowest(rest));
    m_tree.record(actor, m_machine.next_access(actor), m_predecessors, m_pending);
}

engine::ending engine::execute_once(bool logging) {
    m_ending = ending::none;
    m_failure = failure::none;
    m_concurrent = false;
    m_tree.begin_execution();
    m_machine.begin_execution(logging);
    run_alone([this] {
        m_setup(m_run);
        if (m_run.threads().empty() || m_run.threads().size() > k_max_threads)
            fail(failure::misuse,
                 "a model has one to " + std::to_string(k_max_threads) + " threads");
    });
    if (m_ending == ending::none) {
        m_machine.start_threads(m_run.threads());
        for (std::size_t i = 0; i != m_run.threads().size() && m_ending == ending::none; ++i) {
            prepare(i, m_run.threads()[i].function);
            enter(i);
        }
    }
    if (m_ending == ending::none) {
        m_concurrent = true;
        give_way();
    }
    if (m_ending == ending::complete) {
        m_machine.join_threads();
        for (const auto& check : m_run.end_checks()) {
            run_alone(check);
            if (m_ending == ending::failed) break;
        }
    }
    destroy_state();
    return m_ending;
}

// On the main fibre, because destructors may use atomics; with checks if the execution has reached
// its end.
void engine::destroy_state() {
    while (!m_run.empty()) {
        if (m_ending != ending::complete) m_machine.stop_checking();
        run_alone([this] { m_run.clear(); });
    }
}

bool engine::out_of_bounds(const result& r, std::chrono::steady_clock::time_point start) const {
    const std::uint64_t begun = r.executions + r.redundant;
    if (begun >= m_options.max_executions) return true;
    if (begun % 256 != 0) return false;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() >
           m_options.max_seconds;
}

void engine::describe_failure(result& r) {
    execute_once(true);  // the decisions are still in the tree: repeats them with names and a log
    r.kind = m_failure;
    r.message = m_message;
    r.trace = m_machine.trace();
    r.replay = m_tree.script();
}

result engine::explore() {
    result r;
    const auto start = std::chrono::steady_clock::now();
    bool more = m_options.replay.empty() || m_tree.load_script(m_options.replay);
    if (!more) {
        r.kind = failure::misuse;
        r.message = "options::replay is not a sequence of decisions";
    }
    while (more) {
        const ending end = execute_once(false);
        ++(end == ending::redundant ? r.redundant : r.executions);
        r.longest = std::max<std::uint64_t>(r.longest, m_tree.steps());
        if (end == ending::failed || !m_options.replay.empty()) {
            describe_failure(r);
            break;
        }
        more = m_tree.advance();
        if (out_of_bounds(r, start)) break;
        if (m_options.random_runs != 0 && r.executions >= m_options.random_runs) break;
    }
    r.exhaustive = !more;
    r.steps = m_steps;
    r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return r;
}

}  // namespace model::detail
