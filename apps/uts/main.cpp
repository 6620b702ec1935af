// SPDX-License-Identifier: BSL-1.0
// uts: counts the nodes of an unbalanced tree, a task for every node and no cut-off. The size of a
// subtree is unknown before the search, so only stealing can balance the work.
#include "tree.hpp"
#include "tree_named.hpp"

#include "../common/cli.hpp"
#include "../common/measure.hpp"
#include "../common/table.hpp"

#include <string>
#include <vector>

namespace uts {

namespace {

constexpr const char* k_examples = R"(Examples:
  uts                          the tree T3: 4 million nodes, 1572 deep
  uts --tree T1 --threads 2
  uts --tree T1L --repeat 1    102 million nodes
  uts --variant futures --quern:inlining=baseline)";

/// Nodes of the tree with root `n`: the plain recursion, the reference of the parallel one.
std::uint64_t search(const tree& t, const node& n) {
    const std::uint32_t children = children_of(t, n);
    std::uint64_t nodes = 1;
    for (std::uint32_t i = 0; i < children; ++i) {
        nodes += search(t, child_of(n, i));
    }
    return nodes;
}

/// The children of a node; in the frame that searches them.
struct family {
    const tree& t;
    const node& parent;
    std::uint32_t size;
};

std::uint64_t search(quern::fork_context here, const tree& t, const node& n);

/// Children first, first + 1, …: all but the first are forked as one stealable entry; this thread
/// searches the first meanwhile.
std::uint64_t search(quern::fork_context here, const family& f, std::uint32_t first) {
    if (first + 1 == f.size) {
        return search(here, f.t, child_of(f.parent, first));
    }
    const auto [rest, one] = quern::fork_join(
        here, [&f, first](quern::fork_context c) { return search(c, f, first + 1); },
        [&f, first](quern::fork_context c) { return search(c, f.t, child_of(f.parent, first)); });
    return one + rest;
}

std::uint64_t search(quern::fork_context here, const tree& t, const node& n) {
    const std::uint32_t children = children_of(t, n);
    if (children == 0) {
        return 1;
    }
    const family f{t, n, children};
    return 1 + search(here, f, 0);
}

/// Runs in a task: finds the first context and searches the whole tree.
std::uint64_t search_from_root(const tree& t) {
    const node root = root_of(t);
    return quern::fork_join([&](quern::fork_context c) { return search(c, t, root); },
                            [] { return 0; })
        .first;
}

/// A future for every child but the first, which is searched meanwhile. A rule decides which of
/// them become tasks (--quern:inlining).
std::uint64_t search_by_futures(const tree& t, const node& n) {
    const std::uint32_t children = children_of(t, n);
    std::vector<quern::future<std::uint64_t>> others;
    others.reserve(children);
    for (std::uint32_t i = 1; i < children; ++i) {
        others.push_back(quern::async(quern::launch::adaptive, [&t, child = child_of(n, i)] {
            return search_by_futures(t, child);
        }));
    }
    std::uint64_t nodes = 1 + (children != 0 ? search_by_futures(t, child_of(n, 0)) : 0);
    for (auto& each : others) {
        nodes += each.get();
    }
    return nodes;
}

/// Counts the whole tree, once and untimed, for the check against the published figures.
void take_census(const tree& t, const node& n, census& sum) {
    const std::uint32_t children = children_of(t, n);
    ++sum.nodes;
    sum.leaves += children == 0 ? 1 : 0;
    sum.depth = std::max(sum.depth, n.depth);
    for (std::uint32_t i = 0; i < children; ++i) {
        take_census(t, child_of(n, i), sum);
    }
}

void check(bool right, const tree& t, const census& found) {
    if (!right) {
        throw std::runtime_error(
            fmt::format("wrong answer: {} has {} nodes, {} leaves, depth {}; found {}, {}, {}",
                        t.name, t.expected.nodes, t.expected.leaves, t.expected.depth, found.nodes,
                        found.leaves, found.depth));
    }
}

template <class F>
double checked_seconds(const tree& t, F&& f) {
    census found = t.expected;  // only the nodes are counted again
    const double seconds = apps::seconds_of([&] { found.nodes = f(); });
    check(found == t.expected, t, found);
    return seconds;
}

int run(int argc, char** argv) {
    cli::command_line app("Unbalanced tree search, a task for every node.", "uts");
    std::string name = "T3";
    std::string which = "fork_join";
    int repeat = 5;
    app.add("--tree", name, "T1, T3 or T1L").shows_default();
    app.add("--variant", which, "fork_join, futures or all").shows_default();
    apps::add_count(app, "--repeat", repeat, 1, 10'000, "measured runs of each variant");
    apps::add_runtime_options(app);
    app.footer(k_examples);
    if (!apps::parse(app, argc, argv)) {
        return apps::k_success;
    }
    const tree& t = tree_named(name);
    apps::checked_word("--variant", which, {"fork_join", "futures", "all"});
    census whole;
    take_census(t, root_of(t), whole);
    check(whole == t.expected, t, whole);

    const quern::runtime rt;
    quern::worker_totals spent;
    const auto in_parallel = [&](std::uint64_t (*count)(const tree&)) {
        double seconds = 0;
        spent += apps::totals_of(rt, [&] {
            seconds = checked_seconds(
                t, [&] { return quern::async(rt, [&t, count] { return count(t); }).get(); });
        });
        return seconds;
    };
    std::vector<apps::variant> variants{
        {"serial", [&] { return checked_seconds(t, [&] { return search(t, root_of(t)); }); }}};
    if (which != "futures") {
        variants.push_back({"fork_join", [&] { return in_parallel(search_from_root); }});
    }
    if (which != "fork_join") {
        variants.push_back({"futures", [&] {
                                return in_parallel([](const tree& all) {
                                    return search_by_futures(all, root_of(all));
                                });
                            }});
    }
    apps::run_in_turns(variants, repeat);
    fmt::print("uts {}: {} nodes, {} leaves, depth {}: right in every run\n", t.name,
               t.expected.nodes, t.expected.leaves, t.expected.depth);
    fmt::print("{} worker{}, policy {}, {:.1f} ns a node serially, median of {}\n", rt.workers(),
               rt.workers() == 1 ? "" : "s", rt.default_pool().policy(),
               variants[0].middle() * 1e9 / static_cast<double>(t.expected.nodes), repeat);
    apps::print_ratios(variants);
    apps::print_workers(spent);
    return apps::k_success;
}

}  // namespace

}  // namespace uts

int main(int argc, char** argv) {
    return apps::guarded_main("uts", [&] { return uts::run(argc, argv); });
}
