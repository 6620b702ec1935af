// SPDX-License-Identifier: BSL-1.0
// graph: searches of a Kronecker graph that is spread over the localities, as in the benchmark
// Graph500: breadth-first search, and shortest paths. Each locality has a block of the vertices;
// what it finds for those of another one it sends by one call a round.
#include "by_mpi.hpp"
#include "part.hpp"
#include "reference.hpp"
#include "search.hpp"

#include "../in_session.hpp"

#include <quern/localities/communicator.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace graph {

namespace {

namespace at = quern::localities;

constexpr const char* k_examples = R"(Examples:
  quern run -n 2 graph.openmpi
  quern run -n 4 graph.openmpi --scale 18 --roots 8 --threads 1
  quern run -n 2 graph.openmpi --variant sssp --delta 0.05)";

/// All that the variants use.
struct job {
    apps::mpi::place of;
    problem p{};
    part own{};
    reference expected{};        ///< at rank 0
    std::vector<vertex> keys{};  ///< at all ranks
};

struct outcome {
    double seconds = 0;  ///< of the searches from all keys
    bool is_right = true;
    std::uint64_t rounds = 0;
    std::uint64_t offers_sent = 0;  ///< of this locality
};

/// The values of all vertices, at rank 0.
template <class Value>
std::vector<Value> gathered(const job& j, const std::vector<Value>& own) {
    const MPI_Datatype type = std::is_same_v<Value, float> ? MPI_FLOAT : MPI_UINT32_T;
    std::vector<int> counts;
    std::vector<int> places;
    for (int rank = 0; rank < j.of.ranks; ++rank) {
        places.push_back(static_cast<int>(j.own.among.first_of(rank)));
        counts.push_back(static_cast<int>(j.own.among.first_of(rank + 1)) - places.back());
    }
    std::vector<Value> all(j.of.is_first() ? j.p.k.vertices() : 0);
    MPI_Gatherv(own.data(), static_cast<int>(own.size()), type, all.data(), counts.data(),
                places.data(), type, 0, MPI_COMM_WORLD);
    return all;
}

/// Searches from all keys. `run(key)` is measured.
template <class Search, class Run>
outcome search_all(const job& j, Search& one, const Run& run) {
    outcome result;
    for (std::size_t i = 0; i < j.keys.size(); ++i) {
        one.reset();
        result.seconds += apps::mpi::seconds_of_all([&] { run(j.keys[i]); });
        const auto all = gathered(j, one.found());
        if (j.of.is_first() && !j.expected.is_right(i, all)) {
            result.is_right = false;
        }
    }
    return result;
}

/// Runs in a task of each locality.
template <class Rule>
outcome search_here(const job& j, unsigned workers, Rule rule) {
    const at::communicator world("graph");
    search<Rule> one(j.own, workers, rule);
    outcome result = search_all(j, one, [&](vertex key) { one.run(key, world); });
    result.rounds = one.rounds();
    result.offers_sent = one.offers_sent();
    world.barrier().get();
    return result;
}

void require_memory_for(const problem& p, int ranks) {
    const auto edges = static_cast<double>(p.edges());
    const auto vertices = static_cast<double>(p.k.vertices());
    constexpr double k_graphs = 2;         // the parts, and that of rank 0 to compare with
    constexpr double k_bytes_of_rank = 8;  // for each vertex: names or values, and what is sent
    const double bytes_of_graph = 2 * sizeof(sssp::edge) * edges + sizeof(std::size_t) * vertices;
    apps::mpi::require_memory(
        k_graphs * bytes_of_graph +
        vertices * (k_bytes_of_rank * ranks + sizeof(std::uint32_t) * static_cast<double>(p.keys)));
}

void make_graph(job& j, bool with_paths) {
    apps::mpi::in_task([&] {
        j.own = make_part(j.p, j.of.rank, j.of.ranks);
        if (j.of.is_first()) {
            j.expected = reference(j.p, make_part(j.p, 0, 1).rows, with_paths);
        }
    });
    j.keys = j.expected.keys();
    j.keys.resize(j.p.keys);
    MPI_Bcast(j.keys.data(), static_cast<int>(j.keys.size()), MPI_UINT32_T, 0, MPI_COMM_WORLD);
}

/// A variant on localities. Its last run is described in `line`, but for its name.
template <class Rule>
apps::variant on_localities(const job& j, std::string name, Rule rule, std::string& line, int& argc,
                            char**& argv) {
    return {
        name, [&j, &line, name, rule, &argc, &argv] {
            outcome one = apps::localities::in_session(argc, argv, [&](const quern::runtime& rt) {
                return search_here(j, rt.workers(), rule);
            });
            apps::mpi::require_on_all(one.is_right, name);
            MPI_Allreduce(MPI_IN_PLACE, &one.offers_sent, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
            line = fmt::format("{}: {} rounds, {} values sent for vertices of other localities",
                               name, one.rounds, one.offers_sent);
            return one.seconds;
        }};
}

apps::variant by_mpi(const job& j) {
    return {"bfs-mpi", [&j] {
                mpi_search one(j.own);
                const outcome result = search_all(j, one, [&](vertex key) { one.run(key); });
                apps::mpi::require_on_all(result.is_right, "bfs-mpi");
                return result.seconds;
            }};
}

int run(const apps::mpi::place& of, int argc, char** argv) {
    cli::command_line app("Searches of a graph that is spread over several localities.", "graph");
    job j{of};
    apps::mpi::variant_options common({"bfs-mpi", "bfs", "sssp"});
    apps::add_count(app, "--scale", j.p.k.scale, 4, 28, "logarithm of the number of vertices");
    apps::add_count(app, "--edge-factor", j.p.edge_factor, 1, 1024, "edges for each vertex");
    apps::add_count(app, "--roots", j.p.keys, 1, 1024, "vertices from which searches begin");
    apps::add_number(app, "--delta", j.p.delta, 0.0001, 1,
                     "width of a bucket of distances; the longest edge has 1");
    apps::add_count(app, "--seed", j.p.k.seed, 0, 1'000'000'000, "of the graph and the roots");
    common.add_to(app);
    if (!common.parse(app, k_examples, argc, argv)) {
        return apps::k_success;
    }
    require_memory_for(j.p, of.ranks);
    make_graph(j, common.runs("sssp"));
    std::string levels_line;
    std::string lengths_line;
    std::vector<apps::variant> variants =
        common.chosen({by_mpi(j), on_localities(j, "bfs", by_levels{}, levels_line, argc, argv),
                       on_localities(j, "sssp", by_lengths{static_cast<float>(j.p.delta)},
                                     lengths_line, argc, argv)});
    apps::mpi::run_in_turns(variants, common.repeat);
    fmt::print(
        "graph: {} vertices, {} edges, {} root{}: the levels and distances of serial "
        "searches in each run\n",
        j.p.k.vertices(), j.p.edges(), j.p.keys, j.p.keys == 1 ? "" : "s");
    for (const std::string& line : {levels_line, lengths_line}) {
        if (!line.empty()) {
            fmt::print("last run, {}\n", line);
        }
    }
    apps::mpi::print_all(variants, common.repeat, of, j.expected.edges() / 1e6, "Mteps");
    return apps::k_success;
}

}  // namespace

}  // namespace graph

int main(int argc, char** argv) { return apps::mpi::guarded_main("graph", argc, argv, graph::run); }
