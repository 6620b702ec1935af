// SPDX-License-Identifier: BSL-1.0
// Random programs whose answer is known: a tree of tasks, made anew from its seed at each call, in
// which every node chooses how to run its children (or to wait, or to throw). The value of a node
// is a hash of its children's in order, so that a child that is lost, run twice or exchanged for
// another shows.
#pragma once

#include <quern/base/rng.hpp>
#include <quern/quern.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace quern_test {

/// What a node throws; it carries the node's value, which its parent then uses.
struct thrown {
    std::uint64_t value;
};

class random_program {
public:
    /// Expected number of nodes grows with the budget.
    static std::uint64_t run_serially(std::uint64_t seed, int budget) {
        std::uint64_t value = 0;
        random_program{false}.visit(seed, budget, value);
        return value;
    }

    /// Requires: called by a task.
    static std::uint64_t run(std::uint64_t seed, int budget) {
        std::uint64_t value = 0;
        random_program{true}.visit(seed, budget, value);
        return value;
    }

private:
    using values = std::vector<std::uint64_t>;

    explicit random_program(bool parallel) : m_parallel(parallel) {}

    static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
        a ^= b + 0x9E3779B97F4A7C15ULL + (a << 6) + (a >> 2);
        return a * 0xBF58476D1CE4E5B9ULL;
    }

    /// Puts the value of a node where its parent finds it, in one way or the other.
    void visit(std::uint64_t seed, int budget, std::uint64_t& value) const {
        try {
            value = node(seed, budget);
        } catch (const thrown& error) {
            value = error.value;
        }
    }

    std::uint64_t node(std::uint64_t seed, int budget) const {
        quern::detail::rng random(seed);
        random.next();
        const std::uint32_t way = random.below(8);
        const std::uint32_t count = budget <= 0 ? 0 : 1 + random.below(5);
        const bool throws = random.below(10) == 0;
        const bool waits = random.below(4) == 0;
        values children(count, 0);
        if (waits && m_parallel) {
            let_others_run();
        }
        if (m_parallel) {
            run_children(way, seed, budget - 1 - static_cast<int>(random.below(2)), children);
        } else {
            const int rest = budget - 1 - static_cast<int>(random.below(2));
            for (std::size_t i = 0; i < children.size(); ++i) {
                visit(child_seed(seed, i), rest, children[i]);
            }
        }
        const std::uint64_t value = std::accumulate(children.begin(), children.end(), seed, mix);
        if (throws) {
            throw thrown{value};
        }
        return value;
    }

    static std::uint64_t child_seed(std::uint64_t seed, std::size_t i) { return mix(seed, i + 1); }

    void run_children(std::uint32_t way, std::uint64_t seed, int budget, values& out) const {
        const auto child = [this, seed, budget, &out](std::size_t i) {
            visit(child_seed(seed, i), budget, out[i]);
        };
        switch (way) {
            case 0:
                by_fork_join(0, out.size(), child);
                break;
            case 1:
                quern::scope([&](quern::fork_scope& s) {
                    for (std::size_t i = 0; i < out.size(); ++i) {
                        s.spawn([&child, i] { child(i); });
                    }
                });
                break;
            case 2: {
                quern::task_group group;
                for (std::size_t i = 0; i < out.size(); ++i) {
                    group.run([&child, i] { child(i); });
                }
                group.wait();
                break;
            }
            case 3:
                by_async(out.size(), child);
                break;
            case 4:
                by_throwing_async(seed, budget, out);
                break;
            case 5:
                by_dataflow(seed, budget, out);
                break;
            case 6:
                quern::parallel_for(std::size_t{0}, out.size(), quern::grain::fixed(1), child);
                break;
            default:
                for (std::size_t i = 0; i < out.size(); ++i) {
                    child(i);
                }
        }
    }

    template <class Child>
    static void by_fork_join(std::size_t first, std::size_t last, const Child& child) {
        if (last - first < 2) {
            if (first != last) {
                child(first);
            }
            return;
        }
        const std::size_t middle = first + (last - first) / 2;
        quern::fork_join([&child, first, middle] { by_fork_join(first, middle, child); },
                         [&child, middle, last] { by_fork_join(middle, last, child); });
    }

    template <class Child>
    static void by_async(std::size_t count, const Child& child) {
        constexpr quern::launch k_ways[] = {quern::launch::async, quern::launch::fork,
                                            quern::launch::deferred, quern::launch::sync};
        std::vector<quern::future<void>> all;
        for (std::size_t i = 0; i < count; ++i) {
            const quern::task_attributes how{.how = k_ways[i % 4],
                                             .urgency = static_cast<quern::priority>(i % 3),
                                             .stack = static_cast<quern::stack_class>(i % 2)};
            all.push_back(quern::async(how, [&child, i] { child(i); }));
        }
        for (auto& f : all) {
            f.get();
        }
    }

    /// The exceptions come out of get().
    void by_throwing_async(std::uint64_t seed, int budget, values& out) const {
        std::vector<quern::future<std::uint64_t>> all;
        for (std::size_t i = 0; i < out.size(); ++i) {
            all.push_back(quern::async([program = *this, s = child_seed(seed, i), budget] {
                return program.node(s, budget);
            }));
        }
        for (std::size_t i = all.size(); i-- > 0;) {
            try {
                out[i] = all[i].get();
            } catch (const thrown& error) {
                out[i] = error.value;
            }
        }
    }

    /// A chain: each child begins when the one before it has ended.
    void by_dataflow(std::uint64_t seed, int budget, values& out) const {
        quern::shared_future<void> before = quern::make_ready_future();
        for (std::size_t i = 0; i < out.size(); ++i) {
            auto next =
                quern::dataflow(quern::unwrapping([program = *this, s = child_seed(seed, i), budget,
                                                   &o = out[i]] { program.visit(s, budget, o); }),
                                before);
            before = next.share();
        }
        before.get();
    }

    bool m_parallel;
};

}  // namespace quern_test
