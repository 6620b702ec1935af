// SPDX-License-Identifier: BSL-1.0
// sssp: shortest paths from random sources of a Kronecker graph, one search after the other, each
// in parallel by delta stepping. A throttle may choose the number of workers meanwhile.
#include "search.hpp"
#include "throttle.hpp"

#include "../common/cli.hpp"
#include "../common/measure.hpp"

#include <quern/trace/events.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace sssp {

namespace {

constexpr const char* k_examples = R"(Examples:
  sssp                                        64 searches in 65,536 vertices
  sssp --scale 20 --searches 16 --threads 2
  sssp --seconds 10 --threads 8 --throttle saturation
  sssp --seconds 10 --threads 8 --quern:active-workers=2      the same with a fixed number
  sssp --scale 18 --check                     every search compared with Dijkstra's algorithm)";

struct arguments {
    kronecker k;
    double delta = 0.1;
    std::size_t searches = 64;
    double seconds = 0;  ///< 0: by the number of searches
    std::string check;   ///< all, first or none
    throttle_kind throttle = throttle_kind::none;
};

/// One search: when it began, how long it took, what it found.
struct record {
    vertex source = 0;
    std::uint64_t began_ns = 0;  ///< on the clock of decisions
    double seconds = 0;
    double workers = 0;  ///< that might take work, at its end
    result found{};

    double edges() const noexcept { return static_cast<double>(found.ends) / 2; }
    double teps() const noexcept { return edges() / seconds; }
};

/// False when only help was requested.
bool read_arguments(arguments& a, int argc, char** argv) {
    cli::command_line app("Shortest paths from one source by delta stepping (Graph500, kernel 3).",
                          "sssp");
    std::string throttle = "none";
    apps::add_count(app, "--scale", a.k.scale, 4, 28,
                    "logarithm of the number of vertices; there are 16 times as many edges");
    const cli::option searches =
        apps::add_count(app, "--searches", a.searches, 1, 1'000'000, "measured searches");
    const cli::option seconds = apps::add_number(app, "--seconds", a.seconds, 0.001, 1e6,
                                                 "instead: search until so much time has passed")
                                    .shows_default("off");
    apps::add_number(app, "--delta", a.delta, 0.0001, 1,
                     "width of a bucket of distances; the longest edge has 1");
    apps::add_count(app, "--seed", a.k.seed, 0, 1'000'000'000, "of the graph and the sources");
    app.add_flag("--check{all}", a.check,
                 "sources whose distances are compared with those of Dijkstra's algorithm: all, "
                 "first or none (default: all up to scale 12, else first)");
    app.add("--throttle", throttle,
            "policy that chooses the number of workers: none, throughput, queue or saturation")
        .shows_default();
    apps::add_runtime_options(app);
    app.footer(k_examples);
    if (!apps::parse(app, argc, argv)) {
        return false;
    }
    a.throttle = throttle_named(apps::checked_word("--throttle", throttle, throttle_names()));
    constexpr unsigned k_small = 12;  // scale; Dijkstra's algorithm takes milliseconds
    a.check = a.check.empty() ? a.k.scale <= k_small ? "all" : "first"
                              : apps::checked_word("--check", a.check, {"all", "first", "none"});
    if (searches.given() && seconds.given()) {
        throw apps::usage_error("--searches and --seconds exclude each other");
    }
    return true;
}

record search_once(const quern::runtime& rt, delta_stepping& paths, vertex source) {
    record one{.source = source, .began_ns = quern::trace::event_clock_ns()};
    const auto in_task = [&](const char* name, auto&& f) {
        return quern::async({.name = name, .pool = &rt.default_pool().get()}, f).get();
    };
    one.seconds = apps::seconds_of([&] { in_task(k_site, [&] { paths.search(source); }); });
    one.workers = rt.default_pool().active_workers();
    one.found = in_task("fingerprint", [&] { return paths.found(); });
    return one;
}

/// Searches from all sources in turns, until there were enough or the time is over.
std::vector<record> search_all(const arguments& a, const quern::runtime& rt, delta_stepping& paths,
                               const std::vector<vertex>& sources) {
    std::vector<record> all;
    const auto begin = apps::clock::now();
    const auto is_over = [&] {
        return a.seconds > 0 ? apps::seconds_since(begin) >= a.seconds : all.size() >= a.searches;
    };
    do {
        all.push_back(search_once(rt, paths, sources[all.size() % sources.size()]));
    } while (!is_over());
    return all;
}

/// Compares with Dijkstra's algorithm; throws for a difference. Returns the number of sources.
std::size_t check(const graph& g, const std::vector<record>& all, const std::string& how) {
    std::map<vertex, result> expected;
    for (const record& one : all) {
        if (!expected.contains(one.source)) {
            if (how == "none" || (how == "first" && !expected.empty())) {
                continue;
            }
            expected.emplace(one.source, dijkstra(g, one.source));
        }
        if (one.found != expected.at(one.source)) {
            throw std::runtime_error(fmt::format(
                "wrong answer: the distances from {} are not those of Dijkstra's algorithm",
                one.source));
        }
    }
    return expected.size();
}

/// Traversed edges per second: by the Graph500 rule the harmonic mean over the searches.
double harmonic_teps(const std::vector<record>& all) {
    const double sum =
        std::accumulate(all.begin(), all.end(), 0.0,
                        [](double s, const record& one) { return s + 1 / one.teps(); });
    return static_cast<double>(all.size()) / sum;
}

void print_searches(const std::vector<record>& all, double relaxed) {
    std::vector<double> teps;
    std::vector<double> seconds;
    double edges = 0;
    double sum = 0;
    for (const record& one : all) {
        teps.push_back(one.teps());
        seconds.push_back(one.seconds);
        edges += one.edges();
        sum += one.seconds;
    }
    const auto [least, most] = std::minmax_element(teps.begin(), teps.end());
    fmt::print("  TEPS        {:.4g} harmonic mean; median {:.4g}, least {:.4g}, most {:.4g}\n",
               harmonic_teps(all), apps::median(teps), *least, *most);
    fmt::print("  all edges   {:.0f} traversed in {:.3f} s, {:.4g} per second\n", edges, sum,
               edges / sum);
    fmt::print("  a search    {:.3f} ms median, {:.3g} relaxations for each end of an edge\n",
               apps::median(seconds) * 1e3, relaxed / (2 * edges));
}

/// The decisions, and the throughput since the last one.
void print_throttle(const arguments& a, const quern::runtime& rt, const std::vector<record>& all) {
    const auto made = decisions_of_throttle();
    std::vector<record> after;
    double workers = 0;
    for (const record& one : all) {
        workers += one.workers;
        if (made.empty() || one.began_ns > made.back().time_ns) {
            after.push_back(one);
        }
    }
    fmt::print("  throttle    {}: {} of {} workers at the end, mean {:.2f}; {} decision{}\n",
               throttle_names()[static_cast<std::size_t>(a.throttle)],
               rt.default_pool().active_workers(), rt.workers(),
               workers / static_cast<double>(all.size()), made.size(), made.size() == 1 ? "" : "s");
    print_decisions(made, all.front().began_ns);
    if (!after.empty()) {
        fmt::print("  after that  {:.4g} TEPS, harmonic mean of {} searches\n",
                   harmonic_teps(after), after.size());
    }
}

int run(int argc, char** argv) {
    arguments a;
    if (!read_arguments(a, argc, argv)) {
        return apps::k_success;
    }
    const quern::runtime rt;
    graph g;
    const double making =
        apps::seconds_of([&] { g = quern::async(rt, [&] { return make_graph(a.k); }).get(); });
    const std::vector<vertex> sources =
        random_sources(g, a.k.seed, a.seconds > 0 ? 64 : a.searches);
    delta_stepping paths(g, static_cast<float>(a.delta), rt.workers());
    const record warm = search_once(rt, paths, sources.front());  // touches the memory

    const std::uint64_t relaxed_before = paths.relaxed();
    std::vector<record> all;
    {
        const running_throttle throttle(a.throttle, rt, paths, warm.seconds);
        all = search_all(a, rt, paths, sources);
    }
    const auto relaxed = static_cast<double>(paths.relaxed() - relaxed_before);
    const std::size_t checked = check(g, all, a.check);

    fmt::print("sssp: {} vertices, {} edges, made in {:.2f} s, delta {}\n", g.vertices(),
               a.k.edges(), making, a.delta);
    fmt::print("{} searches, compared with Dijkstra's algorithm from {} source{}: {}\n", all.size(),
               checked, checked == 1 ? "" : "s", checked == 0 ? "not checked" : "right");
    fmt::print("{} worker{}, policy {}\n", rt.workers(), rt.workers() == 1 ? "" : "s",
               rt.default_pool().policy());
    print_searches(all, relaxed);
    if (a.throttle != throttle_kind::none) {
        print_throttle(a, rt, all);
    }
    return apps::k_success;
}

}  // namespace

}  // namespace sssp

int main(int argc, char** argv) {
    return apps::guarded_main("sssp", [&] { return sssp::run(argc, argv); });
}
