// SPDX-License-Identifier: BSL-1.0
// reduce, transform_reduce and reduce_deterministic, the scans and adjacent_difference: the value
// of the serial formula, also for operations that do not commute.
#include <quern/algorithms/adjacent_difference.hpp>
#include <quern/algorithms/reduce.hpp>
#include <quern/algorithms/scan.hpp>

#include "unit/algorithms/policies.hpp"

#include <algorithm>
#include <functional>
#include <list>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>

namespace {

using numbers = std::vector<int>;

class reducing : public quern_test::on_policies {};
QUERN_ON_1_2_8_WORKERS(reducing);

/// An associative operation that does not commute: 2 x 2 matrices, modulo 2^32.
struct matrix {
    unsigned a = 1, b = 0, c = 0, d = 1;
    friend bool operator==(const matrix&, const matrix&) = default;
    friend matrix operator*(const matrix& x, const matrix& y) {
        return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c,
                x.c * y.b + x.d * y.d};
    }
};
matrix matrix_of(int e) {
    const auto value = static_cast<unsigned>(e);
    return {value, 1, value + 3, 7};
}

TEST_P(reducing, reduce_returns_the_sum) {
    compare([](const auto& run, const numbers& data) {
        const long sum = std::accumulate(data.begin(), data.end(), 5L);
        const std::list<int> list(data.begin(), data.end());
        EXPECT_EQ(sum, run([&](auto how) { return quern::reduce(how, data, 5L); }));
        EXPECT_EQ(sum, run([&](auto how) { return quern::reduce(how, list, 5L); }));
        const std::vector<double> exact(data.begin(), data.end());
        EXPECT_EQ(static_cast<double>(sum - 5),
                  run([&](auto how) { return quern::reduce(how, exact); }));
        EXPECT_EQ(static_cast<double>(sum),
                  run([&](auto how) { return quern::reduce_deterministic(how, exact, 5.0); }));
    });
}

TEST_P(reducing, keeps_the_order) {
    compare([](const auto& run, const numbers& data) {
        matrix expected = matrix_of(77);
        for (const int each : data) {
            expected = expected * matrix_of(each);
        }
        EXPECT_EQ(expected, run([&](auto how) {
                      return quern::transform_reduce(how, data, matrix_of(77), std::multiplies<>{},
                                                     matrix_of);
                  }));
        std::vector<matrix> all(data.size());
        std::transform(data.begin(), data.end(), all.begin(), matrix_of);
        EXPECT_EQ(expected, run([&](auto how) {
                      return quern::reduce(how, all, matrix_of(77), std::multiplies<>{});
                  }));
        EXPECT_EQ(expected, run([&](auto how) {
                      return quern::reduce_deterministic(how, all, matrix_of(77),
                                                         std::multiplies<>{});
                  }));
    });
}

TEST_P(reducing, transform_reduce_of_two_ranges_is_the_inner_product) {
    compare([](const auto& run, const numbers& data) {
        const std::vector<long> x(data.begin(), data.end());
        const long expected = std::inner_product(x.begin(), x.end(), x.rbegin(), 1L);
        EXPECT_EQ(expected, run([&](auto how) {
                      return quern::transform_reduce(how, x.begin(), x.end(), x.rbegin(), 1L);
                  }));
        const std::list<long> list(data.begin(), data.end());
        EXPECT_EQ(expected, run([&](auto how) {
                      return quern::transform_reduce(how, list.begin(), list.end(), x.rbegin(), 1L);
                  }));
        const auto larger = [](long a, long b) { return std::max(a, b); };
        const long most =
            std::inner_product(x.begin(), x.end(), x.rbegin(), 1L, larger, std::minus<>{});
        EXPECT_EQ(most, run([&](auto how) {
                      return quern::transform_reduce(how, x.begin(), x.end(), x.rbegin(), 1L,
                                                     larger, std::minus<>{});
                  }));
    });
}

TEST_P(reducing, takes_values_that_can_only_be_moved) {
    inside([] {
        const numbers data = quern_test::numbers(10'007);
        const long sum = std::accumulate(data.begin(), data.end(), 0L);
        quern_test::for_every_policy([&](const auto& run) {
            const std::unique_ptr<long> found = run([&](auto how) {
                return quern::transform_reduce(
                    how, data, std::make_unique<long>(0),
                    [](std::unique_ptr<long> a, std::unique_ptr<long> b) {
                        *a += *b;
                        return a;
                    },
                    [](int e) { return std::make_unique<long>(e); });
            });
            EXPECT_EQ(*found, sum);
        });
    });
}

/// Sums of these depend on the grouping.
std::vector<double> inexact(std::size_t n) {
    const numbers data = quern_test::numbers(n);
    std::vector<double> x(n);
    std::transform(data.begin(), data.end(), x.begin(),
                   [](int e) { return 1.0 / (1.0 + e) - 1e-3 * e; });
    return x;
}

TEST_P(reducing, reduce_deterministic_has_the_same_bits_every_time) {
    inside([] {
        for (const std::size_t n : quern_test::sizes()) {
            const std::vector<double> x = inexact(n);
            const double expected = quern::reduce_deterministic(quern::seq, x, 0.0);
            EXPECT_NEAR(expected, std::accumulate(x.begin(), x.end(), 0.0), 1e-4);
            for (int round = 0; round < 5; ++round) {
                EXPECT_EQ(expected, quern::reduce_deterministic(quern::par, x, 0.0));
                EXPECT_EQ(expected, quern::reduce_deterministic(
                                        quern::par.with(quern::dynamic_chunk_size(3)), x, 0.0));
            }
        }
    });
}

TEST_P(reducing, scans_return_every_partial_sum) {
    compare([](const auto& run, const numbers& data) {
        std::vector<long> x(data.begin(), data.end());
        std::vector<long> expected(data.size());
        std::vector<long> out(data.size());
        const std::list<long> list(data.begin(), data.end());
        const auto square = [](long e) { return e * e; };
        const auto check = [&](auto scan) {
            std::fill(out.begin(), out.end(), -1);
            EXPECT_TRUE(out.end() == run([&](auto how) { return scan(how, x); }));
            EXPECT_EQ(out, expected);
            std::fill(out.begin(), out.end(), -1);
            EXPECT_TRUE(out.end() == run([&](auto how) { return scan(how, list); }));
            EXPECT_EQ(out, expected);
        };
        std::inclusive_scan(x.begin(), x.end(), expected.begin());
        check([&](auto how, const auto& in) {
            return quern::inclusive_scan(how, in.begin(), in.end(), out.begin());
        });
        std::inclusive_scan(x.begin(), x.end(), expected.begin(), std::plus<>{}, 7L);
        check([&](auto how, const auto& in) {
            return quern::inclusive_scan(how, in.begin(), in.end(), out.begin(), std::plus<>{}, 7L);
        });
        std::exclusive_scan(x.begin(), x.end(), expected.begin(), 7L);
        check([&](auto how, const auto& in) {
            return quern::exclusive_scan(how, in.begin(), in.end(), out.begin(), 7L);
        });
        std::transform_inclusive_scan(x.begin(), x.end(), expected.begin(), std::plus<>{}, square);
        check([&](auto how, const auto& in) {
            return quern::transform_inclusive_scan(how, in.begin(), in.end(), out.begin(),
                                                   std::plus<>{}, square);
        });
        std::transform_inclusive_scan(x.begin(), x.end(), expected.begin(), std::plus<>{}, square,
                                      7L);
        check([&](auto how, const auto& in) {
            return quern::transform_inclusive_scan(how, in.begin(), in.end(), out.begin(),
                                                   std::plus<>{}, square, 7L);
        });
        std::transform_exclusive_scan(x.begin(), x.end(), expected.begin(), 7L, std::plus<>{},
                                      square);
        check([&](auto how, const auto& in) {
            return quern::transform_exclusive_scan(how, in.begin(), in.end(), out.begin(), 7L,
                                                   std::plus<>{}, square);
        });
        std::exclusive_scan(x.begin(), x.end(), expected.begin(), 7L);
        run([&](auto how) {
            return quern::exclusive_scan(how, x.begin(), x.end(), x.begin(), 7L);
        });
        EXPECT_EQ(x, expected) << "in place";
    });
}

TEST_P(reducing, scans_keep_the_order) {
    compare([](const auto& run, const numbers& data) {
        std::vector<matrix> x(data.size());
        std::transform(data.begin(), data.end(), x.begin(), matrix_of);
        std::vector<matrix> expected(data.size());
        std::vector<matrix> out(data.size());
        std::inclusive_scan(x.begin(), x.end(), expected.begin(), std::multiplies<>{});
        for (int round = 0; round < 3; ++round) {
            run([&](auto how) {
                return quern::inclusive_scan(how, x.begin(), x.end(), out.begin(),
                                             std::multiplies<>{});
            });
            EXPECT_EQ(out, expected);
        }
        std::exclusive_scan(x.begin(), x.end(), expected.begin(), matrix_of(3),
                            std::multiplies<>{});
        run([&](auto how) {
            return quern::exclusive_scan(how, x.begin(), x.end(), x.begin(), matrix_of(3),
                                         std::multiplies<>{});
        });
        EXPECT_EQ(x, expected) << "in place";
    });
}

TEST_P(reducing, scans_whose_operation_suspends) {
    inside([] {
        const numbers data = quern_test::numbers(quern_test::scaled<std::size_t>(20'000, 2'000));
        const std::vector<long> x(data.begin(), data.end());
        std::vector<long> expected(x.size());
        std::vector<long> out(x.size());
        std::inclusive_scan(x.begin(), x.end(), expected.begin());
        quern::inclusive_scan(quern::par, x.begin(), x.end(), out.begin(), [](long a, long b) {
            if ((a + b) % 16 == 0) {
                quern_test::let_others_run();
            }
            return a + b;
        });
        EXPECT_EQ(out, expected);
    });
}

TEST_P(reducing, adjacent_difference_subtracts_the_element_before) {
    compare([](const auto& run, const numbers& data) {
        numbers expected(data.size());
        numbers out(data.size());
        std::adjacent_difference(data.begin(), data.end(), expected.begin());
        EXPECT_TRUE(out.end() == run([&](auto how) {
                        return quern::adjacent_difference(how, data.begin(), data.end(),
                                                          out.begin());
                    }));
        EXPECT_EQ(out, expected);
        const std::list<int> list(data.begin(), data.end());
        std::fill(out.begin(), out.end(), -1);
        run([&](auto how) {
            return quern::adjacent_difference(how, list.begin(), list.end(), out.begin());
        });
        EXPECT_EQ(out, expected);
    });
}

TEST_P(reducing, throws_the_exception_of_an_operation) {
    inside([] {
        for (const std::size_t n : {17UL, 100'003UL}) {
            quern_test::for_every_policy([&](const auto& run) {
                std::vector<long> x(n, 1);
                x[n / 2] = -1'000'000'000;
                const auto fails = [](long a, long b) {
                    return a + b < 0 ? throw std::runtime_error("sum") : a + b;
                };
                EXPECT_THROW(run([&](auto how) { return quern::reduce(how, x, 0L, fails); }),
                             std::runtime_error);
                EXPECT_THROW(run([&](auto how) {
                                 return quern::inclusive_scan(how, x.begin(), x.end(), x.begin(),
                                                              fails);
                             }),
                             std::runtime_error);
            });
        }
    });
}

TEST(reducing_from_outside, runs_on_the_default_runtime) {
    for (const std::size_t n : quern_test::sizes()) {
        const numbers data = quern_test::numbers(n);
        const std::vector<long> x(data.begin(), data.end());
        std::vector<long> expected(n);
        std::inclusive_scan(x.begin(), x.end(), expected.begin());
        quern_test::for_every_policy([&](const auto& run) {
            std::vector<long> out(n);
            run([&](auto how) {
                return quern::inclusive_scan(how, x.begin(), x.end(), out.begin());
            });
            EXPECT_EQ(out, expected);
            EXPECT_EQ(n == 0 ? 0 : expected.back(),
                      run([&](auto how) { return quern::reduce(how, x, 0L); }));
        });
    }
}

}  // namespace
