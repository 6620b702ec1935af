// SPDX-License-Identifier: BSL-1.0
// The spawner repeats fork_scope of quern/task/scope.hpp.
#include "spawn.hpp"

#include <deque>

namespace virtual_time {
namespace {

/// As fork_scope::k_plenty.
constexpr std::size_t k_plenty = 64;

class scope {
public:
    explicit scope(worker& host) : m_stack(host.running), m_next(m_stack.first()) {}

    void spawn() {
        if (m_stack.has_private(k_plenty) || (m_stack.no_room_at(m_next) && !make_room())) {
            m_stack.offer_if_wanted();
            atomics::spend(&costs::inline_spawn);
            return;
        }
        atomics::spend(&costs::queued_spawn);
        entry& child = make_child();
        if (m_stack.push(m_next++, &child)) {
            m_stack.push_trapped();
        }
    }

    void join_all() {
        while (m_next != m_stack.first()) {
            auto* const place = --m_next;
            if (!m_stack.pop(place)) {
                m_stack.join(place);
            }
            m_stack.offer_if_wanted();
            m_free.push_back(
                m_young.back());  // the worker's cache gives the last freed block first
            m_young.pop_back();
        }
    }

private:
    bool make_room() {
        join_all();
        return !m_stack.no_room_at(m_next);
    }

    entry& make_child() {
        if (m_free.empty()) {
            m_free.push_back(&m_blocks.emplace_back());
        }
        entry* const block = m_free.back();
        m_free.pop_back();
        block->closure = 1;
        block->joined.~completion();
        new (&block->joined) quern::detail::completion<atomics, int>();
        m_young.push_back(block);
        return *block;
    }

    stack& m_stack;
    stack::slot* m_next;
    std::deque<entry> m_blocks;
    std::vector<entry*> m_free;
    std::vector<entry*> m_young;
};

}  // namespace

spawn_result simulate_spawn(const costs& c, const rules& r, unsigned workers, long tasks,
                            std::uint64_t seed) {
    pool p(workers, r, seed);
    machine m(c, seed);
    picoseconds took = 0;
    m.add_core([&] {
        worker& host = *p.workers[0];
        host.begin_item();
        scope s(host);
        // An untimed part first, as in the benchmark.
        for (long i = 0; i < tasks / 4; ++i) {
            s.spawn();
        }
        s.join_all();
        const picoseconds start = m.now();
        for (long i = 0; i < tasks; ++i) {
            s.spawn();
        }
        s.join_all();
        took = m.now() - start;
    });
    for (unsigned i = 1; i < workers; ++i) {
        m.add_core([&p, i] { p.workers[i]->run(); });
    }
    m.run();
    spawn_result result;
    result.ns_per_task = static_cast<double>(took) * 1e-3 / static_cast<double>(tasks);
    std::uint64_t stolen = 0;
    for (const auto& w : p.workers) {
        stolen += w->counted.stolen;
        result.parks += w->counted.parks;
    }
    const double all = static_cast<double>(tasks + tasks / 4);
    result.stolen = static_cast<double>(stolen) / all;
    result.answers = 1000 * static_cast<double>(p.workers[0]->counted.answers) / all;
    result.late_joins = p.workers[0]->counted.late_joins;
    result.counted = m.counted();
    return result;
}

}  // namespace virtual_time
