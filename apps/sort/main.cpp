// SPDX-License-Identifier: BSL-1.0
// sort: merge sort of random numbers, whose halves are sorted and merged in parallel down to a
// cut-off. quern::cutoff chooses it while the program runs; fixed ones run beside it in turns.
#include "../common/cli.hpp"
#include "../common/measure.hpp"
#include "../common/table.hpp"

#include <quern/adaptation/cutoff.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sort {

namespace {

constexpr const char* k_examples = R"(Examples:
  sort                            ten million numbers, the cut-off chosen beside fixed ones
  sort --n 1000000 --repeat 21 --threads 2
  QUERN_DECISIONS=stderr sort     says which cut-off it takes and why)";

/// A fixed cut-off has the interface of quern::cutoff.
struct fixed_cutoff {
    double most;

    template <class Parallel, class Serial>
    void operator()(double cost, Parallel&& parallel, Serial&& serial) const {
        cost <= most ? serial() : parallel();
    }
};

/// Operations of a sort of n numbers, to a factor.
double sorting(std::ptrdiff_t n) {
    const auto numbers = static_cast<double>(n);
    return numbers * std::log2(numbers + 1);
}

/// The two ways to cut off: of sorting and of merging, whose costs have other factors.
template <class Cutoff>
struct cutoffs {
    Cutoff& of_sort;
    Cutoff& of_merge;
};

template <class Cutoff>
void merge(quern::fork_context here, const cutoffs<Cutoff>& by, const double* a,
           const double* a_end, const double* b, const double* b_end, double* out) {
    if (a_end - a < b_end - b) {
        std::swap(a, b);
        std::swap(a_end, b_end);
    }
    by.of_merge(
        static_cast<double>(a_end - a + (b_end - b)),
        [&] {
            if (a_end - a < 2) {
                std::merge(a, a_end, b, b_end, out);
                return;
            }
            const double* const a_middle = a + (a_end - a) / 2;
            const double* const b_middle = std::lower_bound(b, b_end, *a_middle);
            double* const out_middle = out + (a_middle - a) + (b_middle - b);
            quern::fork_join(
                here,
                [&](quern::fork_context c) {
                    sort::merge(c, by, a_middle, a_end, b_middle, b_end, out_middle);
                },
                [&](quern::fork_context c) { sort::merge(c, by, a, a_middle, b, b_middle, out); });
        },
        [&] { std::merge(a, a_end, b, b_end, out); });
}

/// Sorts n numbers at `at`, into `at` or `other`; both places are written.
template <class Cutoff>
void sort_range(quern::fork_context here, const cutoffs<Cutoff>& by, double* at, double* other,
                std::ptrdiff_t n, bool to_other) {
    const auto serially = [&] {
        std::sort(at, at + n);
        if (to_other) {
            std::copy(at, at + n, other);
        }
    };
    by.of_sort(
        sorting(n),
        [&] {
            if (n < 2) {
                serially();
                return;
            }
            const std::ptrdiff_t half = n / 2;
            quern::fork_join(
                here,
                [&](quern::fork_context c) {
                    sort::sort_range(c, by, at + half, other + half, n - half, !to_other);
                },
                [&](quern::fork_context c) {
                    sort::sort_range(c, by, at, other, half, !to_other);
                });
            const double* const from = to_other ? at : other;
            sort::merge(here, by, from, from + half, from + half, from + n, to_other ? other : at);
        },
        serially);
}

template <class Cutoff>
void sort_all(const cutoffs<Cutoff>& by, std::vector<double>& numbers, std::vector<double>& other) {
    const auto n = static_cast<std::ptrdiff_t>(numbers.size());
    quern::fork_join(
        [&](quern::fork_context c) {
            sort::sort_range(c, by, numbers.data(), other.data(), n, false);
        },
        [] {});
}

/// Random numbers, and the same in order.
struct problem {
    explicit problem(std::size_t n) : numbers(n), sorted(n), work(n), other(n) {
        std::mt19937_64 random(1);
        std::uniform_real_distribution<double> number(0, 1);
        std::generate(numbers.begin(), numbers.end(), [&] { return number(random); });
        sorted = numbers;
        std::sort(sorted.begin(), sorted.end());
    }

    template <class F>
    double checked_seconds(F&& f) {
        work = numbers;
        const double seconds = apps::seconds_of(f);
        if (work != sorted) {
            throw std::runtime_error("wrong answer: the numbers are not those in order");
        }
        return seconds;
    }

    std::vector<double> numbers, sorted, work, other;
};

int run(int argc, char** argv) {
    cli::command_line app("Merge sort with a cut-off that is chosen while it runs.", "sort");
    std::size_t n = 10'000'000;
    int repeat = 7;
    apps::add_count(app, "--n", n, 1, 1'000'000'000, "numbers");
    apps::add_count(app, "--repeat", repeat, 1, 10'000, "measured runs of each variant");
    apps::add_runtime_options(app);
    app.footer(k_examples);
    if (!apps::parse(app, argc, argv)) {
        return apps::k_success;
    }
    const quern::runtime rt;
    problem p(n);
    std::vector<apps::variant> variants{
        {"std::sort",
         [&] { return p.checked_seconds([&] { std::sort(p.work.begin(), p.work.end()); }); }}};
    for (const std::ptrdiff_t size : {64, 512, 4'096, 32'768, 262'144}) {
        variants.push_back(
            {"cut off at " + std::to_string(size), [&p, &rt, size] {
                 fixed_cutoff of_sort{sorting(size)};
                 fixed_cutoff of_merge{static_cast<double>(size) * 4};
                 return p.checked_seconds([&] {
                     quern::async(rt, [&] {
                         sort_all(cutoffs<fixed_cutoff>{of_sort, of_merge}, p.work, p.other);
                     }).get();
                 });
             }});
    }
    quern::cutoff of_sort("sort");
    quern::cutoff of_merge("merge");
    variants.push_back(
        {"quern::cutoff", [&] {
             return p.checked_seconds([&] {
                 quern::async(rt, [&] {
                     sort_all(cutoffs<quern::cutoff>{of_sort, of_merge}, p.work, p.other);
                 }).get();
             });
         }});
    apps::run_in_turns(variants, repeat);
    fmt::print("sort: {} numbers: in order in every run\n", n);
    fmt::print("{} worker{}, policy {}, median of {}\n", rt.workers(), rt.workers() == 1 ? "" : "s",
               rt.default_pool().policy(), repeat);
    apps::print_ratios(variants);
    fmt::print(
        "  chosen: serial sorts of at most {:.0f} n log n, serial merges of {:.0f} numbers\n",
        of_sort.proven(), of_merge.proven());
    return apps::k_success;
}

}  // namespace

}  // namespace sort

int main(int argc, char** argv) {
    return apps::guarded_main("sort", [&] { return sort::run(argc, argv); });
}
