// SPDX-License-Identifier: BSL-1.0
// sort: numbers in parts at all localities are sorted where they are, or brought to the first
// locality, sorted there and sent back.
#include "../in_session.hpp"

#include <quern/algorithms/sort.hpp>
#include <quern/localities/partitioned_vector.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sort {

namespace {

namespace at = quern::localities;

constexpr const char* k_examples = R"(Examples:
  quern run -n 2 sort.openmpi
  quern run -n 4 sort.openmpi --n 10000000 --threads 1
  quern run -n 2 sort.mpich --last 3     the last part has three times as many as each other)";

struct problem {
    std::uint32_t n = 2'000'000;
    std::uint32_t last = 1;
};

using numbers = std::vector<std::uint64_t>;
using parts = at::partitioned_vector<std::uint64_t>;

/// The number with an index, before all are sorted. By the mixing function of SplitMix64 (Steele,
/// Lea, Flood 2014).
std::uint64_t made(std::uint64_t index) {
    std::uint64_t x = (index + 1) * 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31U);
}

numbers sorted_serially(const problem& p) {
    numbers all;
    for (std::uint64_t i = 0; i < p.n; ++i) {
        all.push_back(made(i));
    }
    std::sort(all.begin(), all.end());
    return all;
}

parts make_parts(const problem& p) {
    std::vector<double> weights(static_cast<std::size_t>(at::count()), 1.0);
    weights.back() = p.last;
    parts all(p.n, 0, weights);
    all.for_each_index([](std::uint64_t index, std::uint64_t& each) { each = made(index); }).get();
    return all;
}

void sort_where_they_are(const parts& all) { all.sort().get(); }

void sort_at_root(const parts& all) {
    numbers here = all.to_vector().get();
    quern::sort(quern::par, here);
    std::vector<quern::future<void>> sent;
    auto first = here.begin();
    for (int part = 0; part < all.parts(); ++part) {
        const auto last = first + static_cast<std::ptrdiff_t>(all.size_of(part));
        sent.push_back(all.part(part).call(
            [](numbers& of, numbers&& sorted) { of = std::move(sorted); }, numbers(first, last)));
        first = last;
    }
    for (auto& each : sent) {
        each.get();
    }
}

struct outcome {
    double seconds = 0;
    numbers sorted{};  ///< at the root
};

/// Called by all; the root has the numbers sorted.
template <class Sort>
outcome run_sort(const problem& p, const Sort& sorts) {
    outcome result;
    const parts all = at::here() == at::root ? make_parts(p) : parts();
    result.seconds = apps::mpi::seconds_of_all([&] {
        if (at::here() == at::root) {
            sorts(all);
        }
    });
    if (at::here() == at::root) {
        result.sorted = all.to_vector().get();
    }
    return result;
}

int run(const apps::mpi::place& of, int argc, char** argv) {
    cli::command_line app("Sorts numbers that are in parts at all localities.", "sort");
    problem p;
    apps::mpi::variant_options common({"root", "parts"});
    apps::add_count(app, "--n", p.n, 1, 1'000'000'000, "numbers of 8 bytes");
    apps::add_count(app, "--last", p.last, 1, 1'000,
                    "how many times as many as the others the last part has");
    common.add_to(app);
    if (!common.parse(app, k_examples, argc, argv)) {
        return apps::k_success;
    }
    apps::mpi::require_memory(6.0 * p.n * sizeof(std::uint64_t));
    const numbers expected = of.is_first() ? sorted_serially(p) : numbers{};
    const auto with = [&](const char* name, auto sorts) {
        return apps::variant{name, [&, name, sorts] {
                                 const outcome one = apps::localities::in_session(
                                     argc, argv, [&](auto&) { return run_sort(p, sorts); });
                                 apps::mpi::require_on_all(!of.is_first() || one.sorted == expected,
                                                           std::string("the order of ") + name);
                                 return one.seconds;
                             }};
    };
    std::vector<apps::variant> variants =
        common.chosen({with("root", sort_at_root), with("parts", sort_where_they_are)});
    apps::mpi::run_in_turns(variants, common.repeat);
    fmt::print("sort: {} numbers in {} parts: in order in every run\n", p.n, of.ranks);
    apps::mpi::print_all(variants, common.repeat, of, p.n / 1e6, "million numbers/s");
    return apps::k_success;
}

}  // namespace

}  // namespace sort

int main(int argc, char** argv) { return apps::mpi::guarded_main("sort", argc, argv, sort::run); }
