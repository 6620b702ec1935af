// SPDX-License-Identifier: BSL-1.0
// uts over localities: counts the nodes of an unbalanced tree on all ranks. Localities without work
// ask others for some, which give a part of the family they are at; who has none keeps the question
// until it has (Saraswat et al., "Lifeline-based global load balancing", PPoPP 2011). The sum of
// what has been given away comes back as futures, so no protocol is needed for the end.
#include "../../mpi/common/ranks.hpp"
#include "../../uts/tree.hpp"
#include "../../uts/tree_named.hpp"

#include <quern/localities/run_at.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/task/this_task.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace uts {

namespace {

namespace at = quern::localities;

constexpr const char* k_examples = R"(Examples:
  quern run -n 2 uts.openmpi                     the tree T3: 4 million nodes, 1572 deep
  quern run -n 4 uts.openmpi --tree T1 --threads 1
  quern run -n 2 uts.openmpi --tree T1L --repeat 1)";

/// What this locality has to do with the present search.
struct {
    const tree* searched = nullptr;
    std::atomic<int> parts{0};             ///< that are searched here
    std::atomic<bool> has_asked{false};    ///< and has got nothing yet
    std::atomic<std::uint32_t> askers{0};  ///< their number
    std::atomic<std::uint64_t> nodes{0};   ///< searched here
    std::atomic<std::uint64_t> given{0};   ///< parts
    quern::mutex lock;                     ///< of what follows
    std::vector<int> who_asks;
    std::vector<quern::future<std::uint64_t>> sent;
    quern::event is_over;
} g_here;

void begin_search(const tree& t) {
    g_here.searched = &t;
    g_here.has_asked = false;
    g_here.askers = 0;
    g_here.nodes = 0;
    g_here.given = 0;
    g_here.who_asks.clear();
    g_here.is_over.reset();
}

std::uint64_t search_part(const std::vector<node>& roots);

/// Sends the nodes to one that has asked. False: there is none.
bool give(std::vector<node> part) {
    const std::scoped_lock lock(g_here.lock);
    if (g_here.who_asks.empty()) {
        return false;
    }
    const int to = g_here.who_asks.back();
    g_here.who_asks.pop_back();
    g_here.askers.store(static_cast<std::uint32_t>(g_here.who_asks.size()),
                        std::memory_order_relaxed);
    g_here.sent.push_back(at::run_at(to, &search_part, std::move(part)));
    ++g_here.given;
    return true;
}

/// Nodes with the same parent, or those of a part: children first, …, last - 1 are to be searched.
struct family {
    const tree& t;
    const node* parent;
    std::span<const node> roots;

    node child(std::uint32_t index) const {
        return parent != nullptr ? child_of(*parent, index) : roots[index];
    }
    /// The last half of these, of which at least one has children, is given away. Returns the end
    /// of those that are left.
    std::uint32_t share(std::uint32_t first, std::uint32_t last) const {
        const std::uint32_t middle = first + (last - first) / 2;
        std::vector<node> half;
        std::uint32_t grandchildren = 0;
        for (std::uint32_t i = middle; i < last; ++i) {
            half.push_back(child(i));
            grandchildren += children_of(t, half.back());
        }
        return grandchildren != 0 && give(std::move(half)) ? middle : last;
    }
};

std::uint64_t search(quern::fork_context here, const tree& t, const node& n);

std::uint64_t search(quern::fork_context here, const family& f, std::uint32_t first,
                     std::uint32_t last) {
    if (g_here.askers.load(std::memory_order_relaxed) != 0 && last - first > 1) [[unlikely]] {
        last = f.share(first, last);
    }
    if (first + 1 == last) {
        return search(here, f.t, f.child(first));
    }
    const auto [rest, one] = quern::fork_join(
        here, [&f, first, last](quern::fork_context c) { return search(c, f, first + 1, last); },
        [&f, first](quern::fork_context c) { return search(c, f.t, f.child(first)); });
    return one + rest;
}

/// Every now and then a worker lets others run: those that ask, if all workers search.
void let_others_run() {
    constexpr unsigned k_nodes = 512;  // 50 us
    thread_local unsigned left = k_nodes;
    if (--left == 0) {
        left = k_nodes;
        quern::this_task::yield();
    }
}

std::uint64_t search(quern::fork_context here, const tree& t, const node& n) {
    let_others_run();
    const std::uint32_t children = children_of(t, n);
    return children == 0 ? 1 : 1 + search(here, family{t, &n, {}}, 0, children);
}

std::uint64_t search_all(const std::vector<node>& roots) {
    const family all{*g_here.searched, nullptr, roots};
    return quern::fork_join(
               [&](quern::fork_context c) {
                   return search(c, all, 0, static_cast<std::uint32_t>(roots.size()));
               },
               [] { return 0; })
        .first;
}

/// At the locality that is asked. True: `who` gets a part of the present work, or, if it wants to
/// wait, of later work.
bool ask(int who, bool waits) {
    if (!waits && g_here.parts.load() == 0) {
        return false;
    }
    const std::scoped_lock lock(g_here.lock);
    g_here.who_asks.push_back(who);
    g_here.askers.store(static_cast<std::uint32_t>(g_here.who_asks.size()),
                        std::memory_order_relaxed);
    return true;
}

/// Asks the others one after the other, and leaves the question with the one before if none has
/// work.
void ask_for_work() {
    if (at::count() == 1 || g_here.is_over.is_set() || g_here.parts.load() != 0 ||
        g_here.has_asked.exchange(true)) {
        return;
    }
    for (int distance = 1; distance < at::count(); ++distance) {
        if (at::run_at((at::here() + distance) % at::count(), &ask, at::here(), false).get()) {
            return;
        }
    }
    at::run_at((at::here() + at::count() - 1) % at::count(), &ask, at::here(), true).get();
}

/// The number of nodes below these, which other localities help to search.
std::uint64_t search_part(const std::vector<node>& roots) {
    ++g_here.parts;
    g_here.has_asked = false;
    std::uint64_t nodes = search_all(roots);
    g_here.nodes += nodes;
    std::vector<quern::future<std::uint64_t>> sent;
    {
        const std::scoped_lock lock(g_here.lock);
        sent.swap(g_here.sent);
    }
    if (--g_here.parts == 0) {
        at::post_to(at::here(), &ask_for_work);
    }
    for (auto& each : sent) {
        nodes += each.get();
    }
    return nodes;
}

/// Of all localities, by their numbers, at the root.
struct shares {
    std::vector<std::uint64_t> nodes;
    std::uint64_t given = 0;
};

/// Called by all; the root gets the number of nodes.
std::uint64_t search_together() {
    if (at::here() != at::root) {
        ask_for_work();
        g_here.is_over.wait();
        return 0;
    }
    const std::uint64_t nodes =
        at::run_at(at::root, &search_part, std::vector<node>{root_of(*g_here.searched)}).get();
    for (const int each : at::all()) {
        at::run_at(each, [] { g_here.is_over.set(); }).get();
    }
    return nodes;
}

/// The children of the root, dealt out once.
std::uint64_t search_dealt(const tree& t, const apps::mpi::place& of) {
    struct plain {
        static std::uint64_t search(const tree& t, const node& n) {
            const std::uint32_t children = children_of(t, n);
            std::uint64_t nodes = 1;
            for (std::uint32_t i = 0; i < children; ++i) {
                nodes += search(t, child_of(n, i));
            }
            return nodes;
        }
    };
    const node root = root_of(t);
    const auto ranks = static_cast<std::uint32_t>(of.ranks);
    std::uint64_t nodes = of.is_first() ? 1 : 0;
    for (auto i = static_cast<std::uint32_t>(of.rank); i < children_of(t, root); i += ranks) {
        nodes += plain::search(t, child_of(root, i));
    }
    std::uint64_t all = 0;
    MPI_Reduce(&nodes, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    return all;
}

int run(const apps::mpi::place& of, int argc, char** argv) {
    cli::command_line app("Unbalanced tree search on several localities.", "uts");
    std::string name = "T3";
    apps::mpi::variant_options common({"dealt", "localities"});
    app.add("--tree", name, "T1, T3 or T1L").shows_default();
    common.add_to(app);
    if (!common.parse(app, k_examples, argc, argv)) {
        return apps::k_success;
    }
    const tree& t = tree_named(name);
    shares last;
    const auto checked = [&](std::uint64_t nodes) {
        apps::mpi::require_on_all(
            !of.is_first() || nodes == t.expected.nodes,
            fmt::format("{} has {} nodes; found {}", t.name, t.expected.nodes, nodes));
    };
    std::vector<apps::variant> variants = common.chosen({
        {"dealt",
         [&] {
             std::uint64_t nodes = 0;
             const double seconds = apps::mpi::seconds_of_all([&] { nodes = search_dealt(t, of); });
             checked(nodes);
             return seconds;
         }},
        {"localities",
         [&] {
             begin_search(t);
             std::uint64_t nodes = 0;
             const double seconds = apps::mpi::with_runtime([&](const quern::runtime&) {
                 const at::session job(argc, argv);
                 return apps::mpi::seconds_of_all([&] { nodes = search_together(); });
             });
             checked(nodes);
             const std::uint64_t own = g_here.nodes;
             const std::uint64_t given = g_here.given;
             last.nodes.resize(static_cast<std::size_t>(of.ranks));
             MPI_Gather(&own, 1, MPI_UINT64_T, last.nodes.data(), 1, MPI_UINT64_T, 0,
                        MPI_COMM_WORLD);
             MPI_Reduce(&given, &last.given, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
             return seconds;
         }},
    });
    apps::mpi::run_in_turns(variants, common.repeat);
    fmt::print("uts {}: {} nodes, depth {}: right in every run\n", t.name, t.expected.nodes,
               t.expected.depth);
    if (common.runs("localities")) {
        fmt::print("last run: {} parts given away; nodes by locality: {}\n", last.given,
                   fmt::join(last.nodes, ", "));
    }
    apps::mpi::print_all(variants, common.repeat, of, static_cast<double>(t.expected.nodes) / 1e6,
                         "Mnodes/s");
    return apps::k_success;
}

}  // namespace

}  // namespace uts

int main(int argc, char** argv) { return apps::mpi::guarded_main("uts", argc, argv, uts::run); }
