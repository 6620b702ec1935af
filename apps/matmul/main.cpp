// SPDX-License-Identifier: BSL-1.0
// matmul: C = A B by a task for each block of C. The block's size is a quern::tuned number, which
// each multiplication tries until it is found; fixed sizes run beside it in turns.
#include "../common/cli.hpp"
#include "../common/measure.hpp"
#include "../common/table.hpp"

#include <quern/adaptation/tuned.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace matmul {

namespace {

constexpr const char* k_examples = R"(Examples:
  matmul                             1024 rows, the block size chosen beside fixed ones
  matmul --n 512 --start 16 --repeat 30 --threads 2
  QUERN_DECISIONS=stderr matmul      says which sizes it tries and why)";

using matrix = std::vector<double>;

constexpr std::size_t k_columns = 8;  // that the innermost loops keep in registers, for two rows

/// A block of C, [i, i_end) x [j, j_end). A strip of B, eight columns wide, is copied so that it is
/// contiguous; the larger the block the more rows use the copy.
void multiply_block(std::size_t n, const matrix& a, const matrix& b, matrix& c, std::size_t i_begin,
                    std::size_t i_end, std::size_t j_begin, std::size_t j_end) {
    std::vector<double> strip(n * k_columns);
    for (std::size_t j = j_begin; j < j_end; j += k_columns) {
        const std::size_t width = std::min(k_columns, j_end - j);
        for (std::size_t k = 0; k < n; ++k) {
            for (std::size_t x = 0; x < k_columns; ++x) {
                strip[k * k_columns + x] = x < width ? b[k * n + j + x] : 0;
            }
        }
        for (std::size_t i = i_begin; i < i_end; i += 2) {
            const std::size_t second = std::min(i + 1, i_end - 1);
            double sums[2][k_columns] = {};
            for (std::size_t k = 0; k < n; ++k) {
                for (std::size_t x = 0; x < k_columns; ++x) {
                    sums[0][x] += a[i * n + k] * strip[k * k_columns + x];
                    sums[1][x] += a[second * n + k] * strip[k * k_columns + x];
                }
            }
            std::copy_n(sums[0], width, &c[i * n + j]);
            std::copy_n(sums[1], width, &c[second * n + j]);
        }
    }
}

void multiply(std::size_t n, const matrix& a, const matrix& b, matrix& c, std::size_t block) {
    quern::task_group group;
    for (std::size_t i = 0; i < n; i += block) {
        for (std::size_t j = 0; j < n; j += block) {
            group.run([&, i, j] {
                multiply_block(n, a, b, c, i, std::min(i + block, n), j, std::min(j + block, n));
            });
        }
    }
    group.wait();
}

/// The side of a square block of so many elements.
std::size_t side_of(std::size_t elements) {
    return std::max<std::size_t>(
        1, static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(elements)))));
}

class problem {
public:
    explicit problem(std::size_t n) : m_n(n), m_a(numbers()), m_b(numbers()), m_c(m_a.size()) {}

    double seconds_with(const quern::runtime& rt, std::size_t block) {
        const double seconds = apps::seconds_of(
            [&] { quern::async(rt, [&] { multiply(m_n, m_a, m_b, m_c, block); }).get(); });
        check();
        return seconds;
    }

private:
    matrix numbers() {
        matrix m(m_n * m_n);
        std::uniform_int_distribution<int> whole(-8, 8);
        std::generate(m.begin(), m.end(), [&] { return whole(m_random); });
        return m;
    }

    /// C x = A (B x) for random x (Freivalds 1977); all are integers, so sums are exact.
    void check() {
        std::vector<double> x(m_n);
        std::uniform_int_distribution<int> whole(0, 1 << 16);
        std::generate(x.begin(), x.end(), [&] { return whole(m_random); });
        if (times(m_c, x) != times(m_a, times(m_b, x))) {
            throw std::runtime_error("wrong answer: C x is not A (B x)");
        }
        std::fill(m_c.begin(), m_c.end(), 0.0);
    }

    std::vector<double> times(const matrix& m, const std::vector<double>& x) const {
        std::vector<double> y(m_n);
        for (std::size_t i = 0; i < m_n; ++i) {
            y[i] = std::inner_product(x.begin(), x.end(),
                                      m.begin() + static_cast<std::ptrdiff_t>(i * m_n), 0.0);
        }
        return y;
    }

    std::mt19937 m_random{1};
    std::size_t m_n;
    matrix m_a, m_b, m_c;
};

int run(int argc, char** argv) {
    cli::command_line app("Matrix product with a block size that is chosen while it runs.",
                          "matmul");
    std::size_t n = 1024;
    std::size_t start = 0;
    int repeat = 20;
    apps::add_count(app, "--n", n, 16, 100'000, "rows and columns");
    const cli::option has_start = apps::add_count(app, "--start", start, 16, 100'000,
                                                  "rows of the first block that is tried");
    apps::add_count(app, "--repeat", repeat, 1, 10'000, "measured runs of each variant");
    apps::add_runtime_options(app);
    app.footer(k_examples);
    if (!apps::parse(app, argc, argv)) {
        return apps::k_success;
    }
    const quern::runtime rt;
    problem p(n);
    constexpr std::size_t k_least = 16;
    const std::size_t most = n * n / std::min<std::size_t>(rt.workers(), n / k_least);
    quern::tuned<std::size_t> elements(
        "matmul.block", {k_least * k_least, std::max(most, k_least * k_least)},
        has_start.given() ? std::optional(start * start) : std::nullopt, {.unit = "elements"});
    std::vector<apps::variant> variants;
    for (std::size_t block = k_least; block <= side_of(most); block *= 2) {
        variants.push_back({"blocks of " + std::to_string(block),
                            [&p, &rt, block] { return p.seconds_with(rt, block); }});
    }
    std::vector<double> chosen;
    variants.push_back({"quern::tuned", [&] {
                            const bool converged = elements.converged();
                            auto now = elements.enter();
                            const double seconds = p.seconds_with(rt, side_of(now.value()));
                            if (converged) {
                                chosen.push_back(seconds);
                            }
                            return seconds;
                        }});
    apps::run_in_turns(variants, repeat);
    fmt::print("matmul: {} rows: right in every run\n", n);
    fmt::print("{} worker{}, policy {}, median of {}\n", rt.workers(), rt.workers() == 1 ? "" : "s",
               rt.default_pool().policy(), repeat);
    apps::print_ratios(variants);
    const auto best = std::min_element(variants.begin(), variants.end() - 1,
                                       [](auto& a, auto& b) { return a.middle() < b.middle(); });
    fmt::print("  chosen: blocks of {}, {} {}: {}\n", side_of(elements.best()), elements.trials(),
               elements.trials() == 1 ? "trial" : "trials", elements.why());
    if (!chosen.empty()) {
        fmt::print("  after the search {:.3f} of the time with {}, the best fixed size\n",
                   apps::median(chosen) / best->middle(), best->name);
    }
    return apps::k_success;
}

}  // namespace

}  // namespace matmul

int main(int argc, char** argv) {
    return apps::guarded_main("matmul", [&] { return matmul::run(argc, argv); });
}
