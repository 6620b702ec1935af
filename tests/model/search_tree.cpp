// SPDX-License-Identifier: BSL-1.0
// Dynamic partial order reduction with source sets and sleep sets (Abdulla, Aronis, Jonsson and
// Sagonas, "Optimal dynamic partial order reduction", POPL 2014, in the simpler of its two forms).
// Called by the engine through search_tree.hpp. The prefix that an execution shares with the one
// before is not analysed again: its events stay.
#include "search_tree.hpp"

#include <algorithm>
#include <sstream>

namespace model::detail {
namespace {

constexpr std::size_t k_classes = 7;
using row = std::uint8_t[k_classes];
// In the order of access_class; symmetric. A wait reads the word and enters the set of waiters, a
// wake removes from the set, an idle wake found it empty (perhaps because of a time-out). A row may
// depend on the state only as far as no step independent of the other one can change it.
constexpr row k_conflict[k_classes] = {
    {0, 0, 0, 0, 0, 0, 0},  // none
    {0, 0, 1, 0, 0, 0, 0},  // read
    {0, 1, 1, 1, 0, 0, 0},  // write
    {0, 0, 1, 0, 1, 1, 0},  // wait
    {0, 0, 0, 1, 1, 1, 1},  // wake
    {0, 0, 0, 1, 1, 0, 1},  // idle_wake
    {0, 0, 0, 0, 1, 1, 0},  // time_out
};

bool ends_pause(const access& writer, const access& paused) noexcept {
    return writer.kind == access_class::write && (paused.woken_by & object_bit(writer.object)) != 0;
}

}  // namespace

bool dependent(const access& a, const access& b) noexcept {
    if (a.thread == b.thread)
        return false;  // a thread and its own buffer; the same actor is ordered anyway
    if (a.object == b.object &&
        k_conflict[static_cast<std::size_t>(a.kind)][static_cast<std::size_t>(b.kind)] != 0)
        return true;
    return ends_pause(a, b) || ends_pause(b, a);
}

void search_tree::begin_execution() {
    m_cursor = 0;
    m_current = 0;
    m_step = 0;
    m_sleep = 0;
    m_counts.clear();
    m_barrier.clear();
    std::fill(std::begin(m_last), std::end(m_last), k_no_event);
}

std::size_t search_tree::pick(actor_set enabled, std::size_t preferred) {
    m_current = m_cursor++;
    if (m_current < m_nodes.size()) {
        const node& n = m_nodes[m_current];
        const bool same = n.enabled == enabled || n.enabled == 0;  // 0: from a script
        m_diverged = m_diverged || n.event == k_choice || (enabled & one(n.chosen)) == 0 || !same;
        return m_diverged ? lowest(enabled) : n.chosen;
    }
    node n;
    n.event = m_step;
    n.enabled = enabled;
    n.sleep = m_strategy == strategy::reduced ? m_sleep : 0;
    const actor_set candidates = enabled & ~n.sleep;
    if (candidates == 0) return k_nobody;
    if (m_strategy == strategy::random) {
        actor_set rest = candidates;
        for (auto skip = next_random() % static_cast<unsigned>(std::popcount(rest)); skip != 0;
             --skip)
            rest &= rest - 1;
        n.chosen = static_cast<unsigned>(lowest(rest));
    } else {
        n.chosen = static_cast<unsigned>(preferred != k_nobody && (candidates & one(preferred)) != 0
                                             ? preferred
                                             : lowest(candidates));
    }
    n.backtrack = m_strategy == strategy::full ? enabled : one(n.chosen);
    m_nodes.push_back(n);
    return n.chosen;
}

void search_tree::record(std::size_t actor, const access& a, std::span<const std::uint32_t> after,
                         std::span<const access> pending) {
    event e;
    e.actor = static_cast<actor_id>(actor);
    e.index = static_cast<std::uint16_t>(m_counts[actor] + 1);
    e.decided_at = static_cast<std::uint32_t>(m_current);
    e.what = a;
    node& n = m_nodes[m_current];
    if (m_strategy == strategy::reduced) {
        e.clock = m_barrier;
        if (m_last[actor] != k_no_event) e.clock.join(m_events[m_last[actor]].clock);
        for (const std::uint32_t earlier : after)
            e.clock.join(m_events[earlier].clock);
        e.clock.set(actor, e.index);
        find_races(actor, a, e.clock);
        m_nodes[m_current].next_sleep = 0;
        for (actor_set rest = n.sleep & ~one(actor); rest != 0; rest &= rest - 1)
            if (!dependent(pending[lowest(rest)], a)) n.next_sleep |= one(lowest(rest));
    }
    m_events.push_back(e);
}

void search_tree::confirm(const access& a) noexcept {
    const access& before = m_events[m_step].what;
    m_diverged = m_diverged || before.kind != a.kind || before.object != a.object;
}

void search_tree::end_step(std::size_t actor) noexcept {
    m_sleep = m_nodes[m_current].next_sleep;
    m_last[actor] = m_step++;
    m_counts.tick(actor);
}

// Latest first, so that a step ordered before the new one through a later step is not mistaken for
// a race.
void search_tree::find_races(std::size_t actor, const access& a, order_clock& clock) {
    for (std::size_t i = m_events.size(); i-- != 0;) {
        const event& e = m_events[i];
        if (clock[e.actor] >= e.index || !dependent(e.what, a)) continue;
        reverse(i, actor, clock[actor], clock);
        clock.join(e.clock);
    }
}

// Step `first` and the new step of `actor` are dependent and adjacent in the order. Candidates to
// run instead of `first`, so that the new step comes before it: every step that starts the sequence
// of the steps not after `first`.
void search_tree::reverse(std::size_t first, std::size_t actor, std::uint16_t index,
                          const order_clock& clock) {
    const event& e = m_events[first];
    actor_set seen = 0;
    actor_set starters = 0;
    std::uint16_t first_index[k_max_actors];
    const auto visit = [&](std::size_t who, std::uint16_t count, const order_clock& seen_clock) {
        bool has_predecessor = false;
        for (actor_set rest = seen; rest != 0 && !has_predecessor; rest &= rest - 1)
            has_predecessor = seen_clock[lowest(rest)] >= first_index[lowest(rest)];
        if ((seen & one(who)) != 0) return;
        seen |= one(who);
        first_index[who] = count;
        if (!has_predecessor) starters |= one(who);
    };
    for (std::size_t i = first + 1; i != m_events.size(); ++i) {
        const event& between = m_events[i];
        if (between.clock[e.actor] < e.index) visit(between.actor, between.index, between.clock);
    }
    visit(actor, index, clock);

    node& n = m_nodes[e.decided_at];
    if ((starters & (n.backtrack | n.sleep)) != 0) return;
    starters &= n.enabled;
    if (starters == 0)
        n.backtrack |= n.enabled;
    else
        n.backtrack |= (starters & one(actor)) != 0 ? one(actor) : one(lowest(starters));
}

unsigned search_tree::choose(unsigned n) {
    const std::size_t at = m_cursor++;
    if (at < m_nodes.size()) {
        m_diverged = m_diverged || m_nodes[at].event != k_choice || m_nodes[at].chosen >= n;
        return m_diverged ? 0 : m_nodes[at].chosen;
    }
    node choice;
    choice.event = k_choice;
    choice.alternatives = n;
    choice.chosen = m_strategy == strategy::random ? static_cast<unsigned>(next_random() % n) : 0;
    m_nodes.push_back(choice);
    return choice.chosen;
}

bool search_tree::advance() {
    if (m_strategy == strategy::scripted) return false;
    if (m_strategy == strategy::random) {
        m_nodes.clear();
        m_events.clear();
        return true;
    }
    for (; !m_nodes.empty(); m_nodes.pop_back()) {
        node& n = m_nodes.back();
        if (n.event == k_choice) {
            if (++n.chosen < n.alternatives) return true;
            continue;
        }
        m_events.resize(std::min<std::size_t>(m_events.size(), n.event));
        n.sleep |= one(n.chosen);
        if (const actor_set rest = n.backtrack & ~n.sleep; rest != 0) {
            n.chosen = static_cast<unsigned>(lowest(rest));
            return true;
        }
    }
    return false;
}

std::string search_tree::script() const {
    std::ostringstream text;
    for (std::size_t i = 0; i != std::min(m_cursor, m_nodes.size()); ++i)
        text << (i == 0 ? "" : " ") << (m_nodes[i].event == k_choice ? "=" : "")
             << m_nodes[i].chosen;
    return text.str();
}

bool search_tree::load_script(const std::string& text) {
    std::istringstream words(text);
    std::uint32_t steps = 0;
    for (std::string word; words >> word;) {
        node n;
        const bool choice = word.front() == '=';
        const std::string digits = word.substr(choice ? 1 : 0);
        if (digits.empty() || digits.size() > 4 ||
            digits.find_first_not_of("0123456789") != std::string::npos)
            return false;
        n.event = choice ? k_choice : steps++;
        n.chosen = static_cast<unsigned>(std::stoul(digits));
        if (!choice && n.chosen >= k_max_actors) return false;
        m_nodes.push_back(n);
    }
    return true;
}

std::uint64_t search_tree::next_random() noexcept {  // xorshift64*, Vigna 2016
    m_random ^= m_random >> 12;
    m_random ^= m_random << 25;
    m_random ^= m_random >> 27;
    return (m_random * 2685821657736338717ull) >> 32;
}

}  // namespace model::detail
