// SPDX-License-Identifier: BSL-1.0
// The steps of a run, and what the state of a line costs. The rules are in README.md, "The
// machine".
#include "machine.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace virtual_time {
namespace {

constexpr std::uintptr_t k_line_bytes = 64;

[[noreturn]] void give_up(const char* why) noexcept {
    std::fprintf(stderr, "virtual: %s\n", why);
    std::abort();
}

/// splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
std::uint64_t mixed(std::uint64_t x) noexcept {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

}  // namespace

thread_local machine* machine::s_running = nullptr;

void machine::add_core(std::function<void()> body) {
    if (m_cores.size() == k_most_cores) {
        give_up("too many cores");
    }
    core& c = m_cores.emplace_back();
    c.owner = this;
    c.number = m_cores.size() - 1;
    c.order = mixed(m_seed * k_most_cores + c.number);
    c.body = std::move(body);
    c.first_stack = std::make_unique<fibre>(k_stack_bytes);
}

void machine::core_main(void* argument) {
    auto& self = *static_cast<core*>(argument);
    machine& m = *self.owner;
    self.body();
    if (self.number == 0) {  // its stack: another core may run on it now
        self.first_stack->switch_to(m.m_controller);
    }
    m.here().sleeps = true;
    m.resume_next();
}

void machine::run() {
    for (core& c : m_cores) {
        c.stack = c.first_stack.get();
        c.stack->restart(&core_main, &c);
        if (c.number != 0) {
            queue_up(c);
        }
    }
    m_here = 0;
    s_running = this;
    m_controller.switch_to(*m_cores[0].stack);
    s_running = nullptr;
}

void machine::resume_next() noexcept {
    if (m_turns.empty()) {
        give_up("every core sleeps, and the main one has not returned");
    }
    core& from = here();
    m_here = m_turns.top().core;
    m_turns.pop();
    if (&from != &here()) {
        from.stack->switch_to(*here().stack);
    }
}

void machine::continue_on(fibre& next) noexcept {
    fibre& from = *std::exchange(here().stack, &next);
    from.switch_to(next);
}

void machine::wait_for_turn() noexcept {
    core& self = here();
    for (;;) {
        self.at += std::exchange(self.delay, 0);
        const turn mine{self.at, self.order, self.number};
        if (m_turns.empty() || m_turns.top() > mine) {
            return;
        }
        m_turns.push(mine);
        resume_next();
        if (self.delay == 0) {
            return;
        }
    }
}

void machine::touch(const void* address, access kind) noexcept {
    wait_for_turn();
    ++m_figures.accesses;
    line& l = m_lines[reinterpret_cast<std::uintptr_t>(address) / k_line_bytes];
    switch (kind) {
        case access::load:
            pay_load(here(), l);
            break;
        case access::store:
            pay_store(here(), l);
            break;
        case access::modify:
            pay_modify(here(), l);
            break;
    }
}

void machine::pay_load(core& c, line& l) noexcept {
    if (is_only_holder(c, l) || (l.owner == k_none && l.sharers[c.number])) {
        c.at += m_costs.load;
        return;
    }
    ++m_figures.transfers;
    const picoseconds start = std::max(c.at, l.free_at);
    if (l.owner != k_none) {
        c.at = l.free_at = start + m_costs.transfer;
        l.sharers.reset();
        l.sharers.set(static_cast<std::size_t>(l.owner));
        l.owner = k_none;
    } else {
        c.at = start + m_costs.shared;
    }
    l.sharers.set(c.number);
}

picoseconds machine::take_line(core& c, line& l, picoseconds from) noexcept {
    if (is_only_holder(c, l)) {
        return from;
    }
    ++m_figures.transfers;
    l.free_at = std::max(from, l.free_at) + m_costs.transfer;
    l.owner = static_cast<std::int32_t>(c.number);
    l.sharers.reset();
    return l.free_at;
}

void machine::pay_store(core& c, line& l) noexcept {
    if (!is_only_holder(c, l)) {
        c.drained = take_line(c, l, std::max(c.at, c.drained));
    }
    c.at += m_costs.store;
}

void machine::pay_modify(core& c, line& l) noexcept {
    c.at = take_line(c, l, std::max(c.at, c.drained)) + m_costs.modify;
}

void machine::barrier() noexcept {
    wait_for_turn();
    ++m_figures.barriers;
    core& self = here();
    self.at = m_barrier_free_at =
        std::max({self.at, self.drained, m_barrier_free_at}) + m_costs.barrier;
    for (core& other : m_cores) {
        if (&other != &self && !other.sleeps) {
            other.delay += m_costs.interrupt;
        }
    }
}

void machine::futex_wait(const void* word, const std::uint32_t& value,
                         std::uint32_t expected) noexcept {
    core& self = here();
    spend(m_costs.futex_call);
    wait_for_turn();
    if (value != expected) {
        return;
    }
    m_sleepers[word].push_back(self.number);
    self.sleeps = true;
    resume_next();
}

void machine::futex_wake(const void* word, int count) noexcept {
    wait_for_turn();
    const auto found = m_sleepers.find(word);
    core& self = here();
    if (found == m_sleepers.end()) {
        spend(m_costs.futex_call);
        return;
    }
    auto& sleepers = found->second;
    while (count-- > 0 && !sleepers.empty()) {
        core& woken = m_cores[sleepers.front()];
        sleepers.erase(sleepers.begin());
        self.at += m_costs.futex_wake;
        woken.at = self.at + m_costs.wake_latency;
        woken.sleeps = false;
        woken.delay = 0;
        queue_up(woken);
        ++m_figures.wakes;
    }
    if (sleepers.empty()) {
        m_sleepers.erase(found);
    }
}

}  // namespace virtual_time
