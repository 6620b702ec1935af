// SPDX-License-Identifier: BSL-1.0
// Small random programs over all operations of the explorer, for comparing two ways to explore one
// program. Called by reduction_test.cpp. A program is plain data made from a seed, so that a
// failing one can be printed. It must have no unbounded loop, because it is also explored without
// reduction.
#pragma once

#include "explorer.hpp"

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace model::random_programs {

enum class verb : std::uint8_t {
    load,
    store,
    exchange,
    add,
    cas,
    cas_weak,
    spin,
    spin_two,
    spin_twice,
    wait,
    timed_wait,
    wake,
    fence,
    choose,
    read,
    write
};

struct instruction {
    verb what;
    unsigned object;
    int value;
    std::memory_order order;
};
using program = std::vector<std::vector<instruction>>;  // by thread

struct program_shape {
    unsigned threads = 2;
    unsigned length = 4;
    unsigned objects = 2;
    bool futexes = false;
    bool spins = false;
    bool plain_variables = false;
};

inline program random_program(std::uint32_t seed, const program_shape& shape) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    std::vector<verb> verbs{verb::load,     verb::load, verb::store, verb::store,    verb::store,
                            verb::exchange, verb::add,  verb::cas,   verb::cas_weak, verb::fence};
    if (shape.futexes)
        verbs.insert(verbs.end(),
                     {verb::wait, verb::timed_wait, verb::wake, verb::wake, verb::wake});
    if (shape.spins)
        verbs.insert(verbs.end(), {verb::spin, verb::spin_two, verb::spin_twice, verb::choose});
    if (shape.plain_variables) verbs.insert(verbs.end(), {verb::read, verb::write});
    constexpr std::memory_order k_load_orders[] = {
        std::memory_order_relaxed, std::memory_order_acquire, std::memory_order_seq_cst};
    constexpr std::memory_order k_store_orders[] = {
        std::memory_order_relaxed, std::memory_order_release, std::memory_order_seq_cst};
    program p(shape.threads);
    for (auto& thread : p) {
        for (unsigned length = 1 + below(shape.length); thread.size() != length;) {
            instruction i{verbs[below(static_cast<unsigned>(verbs.size()))], below(shape.objects),
                          static_cast<int>(below(3)), std::memory_order_seq_cst};
            const bool only_loads = i.what == verb::load || i.what == verb::spin ||
                                    i.what == verb::spin_two || i.what == verb::spin_twice;
            i.order = only_loads ? k_load_orders[below(3)] : k_store_orders[below(3)];
            thread.push_back(i);
        }
    }
    return p;
}

struct shared {
    atomic<std::uint32_t> objects[3];
    var<int> plain[3];
    std::vector<int> seen[4];  // by thread; a thread writes only its own
};

inline void run_thread(shared& s, std::vector<int>& seen, const std::vector<instruction>& code) {
    for (const instruction& i : code) {
        atomic<std::uint32_t>& o = s.objects[i.object];
        const auto value = static_cast<std::uint32_t>(i.value);
        std::uint32_t expected = value;
        switch (i.what) {
            case verb::load:
                seen.push_back(static_cast<int>(o.load(i.order)));
                break;
            case verb::store:
                o.store(value, i.order);
                break;
            case verb::exchange:
                seen.push_back(static_cast<int>(o.exchange(value, i.order)));
                break;
            case verb::add:
                seen.push_back(static_cast<int>(o.fetch_add(value, i.order)));
                break;
            case verb::cas:
                seen.push_back(o.compare_exchange_strong(expected, value + 1, i.order));
                break;
            case verb::cas_weak:
                seen.push_back(o.compare_exchange_weak(expected, value + 1, i.order));
                break;
            case verb::spin:
                while (o.load(i.order) == value)
                    atomics::pause();
                break;
            case verb::spin_two:
                while (o.load(i.order) == value && s.objects[(i.object + 1) % 3].load() != value)
                    atomics::pause();
                break;
            case verb::spin_twice:
                for (int n = 0; n != 2 && o.load(i.order) == value; ++n) {
                    atomics::pause();
                    seen.push_back(n);
                }
                break;
            case verb::wait:
                atomics::futex_wait(o, value);
                break;
            case verb::timed_wait:
                seen.push_back(atomics::futex_wait_for(o, value, std::chrono::nanoseconds(1)));
                break;
            case verb::wake:
                atomics::futex_wake(o, 1 + i.value % 2);
                break;
            case verb::fence:
                atomics::fence(i.order);
                break;
            case verb::choose:
                seen.push_back(static_cast<int>(choose(2)));
                break;
            case verb::read:
                seen.push_back(s.plain[i.object].read());
                break;
            case verb::write:
                s.plain[i.object].write(i.value);
                break;
        }
    }
}

// The result of an execution as text: all values that a thread saw, then the final values.
using outcomes = std::set<std::string>;

inline result explore_program(const program& p, const options& o, outcomes& all) {
    return explore(o, [&](run& r) {
        auto& s = r.make<shared>();
        for (std::size_t t = 0; t != p.size(); ++t)
            r.thread([&s, &p, t] { run_thread(s, s.seen[t], p[t]); });
        r.at_end([&s, &all] {
            std::string text;
            for (const auto& seen : s.seen) {
                for (const int value : seen)
                    text += std::to_string(value) + ' ';
                text += "| ";
            }
            for (const auto& object : s.objects)
                text += std::to_string(object.load()) + ' ';
            all.insert(text);
        });
    });
}

inline std::string to_text(const program& p) {
    constexpr const char* k_names[] = {"load",
                                       "store",
                                       "exchange",
                                       "add",
                                       "cas",
                                       "cas_weak",
                                       "spin while",
                                       "spin while it, and not next, is",
                                       "spin twice while",
                                       "wait",
                                       "timed_wait",
                                       "wake",
                                       "fence",
                                       "choose",
                                       "read",
                                       "write"};
    constexpr const char* k_orders[] = {"relaxed", "consume", "acquire",
                                        "release", "acq_rel", "seq_cst"};
    std::string text;
    for (const auto& thread : p) {
        for (const instruction& i : thread)
            text += std::string(k_names[static_cast<int>(i.what)]) + " a" +
                    std::to_string(i.object) + ' ' + std::to_string(i.value) + ' ' +
                    k_orders[static_cast<int>(i.order)] + "; ";
        text += '\n';
    }
    return text;
}

}  // namespace model::random_programs
