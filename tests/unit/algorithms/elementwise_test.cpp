// SPDX-License-Identifier: BSL-1.0
// for_each, transform, copy, move, fill, generate, replace, reverse, rotate and relatives do what
// the algorithms of the standard do.
#include <quern/algorithms/copy.hpp>
#include <quern/algorithms/fill.hpp>
#include <quern/algorithms/for_each.hpp>
#include <quern/algorithms/replace.hpp>
#include <quern/algorithms/reverse.hpp>
#include <quern/algorithms/transform.hpp>

#include "unit/algorithms/policies.hpp"

#include <algorithm>
#include <forward_list>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

using numbers = std::vector<int>;

class elementwise : public quern_test::on_policies {};
QUERN_ON_1_2_8_WORKERS(elementwise);

TEST_P(elementwise, for_each_calls_the_function_for_every_element) {
    compare([](const auto& run, const numbers& data) {
        numbers expected = data;
        std::for_each(expected.begin(), expected.end(), [](int& e) { e += 3; });
        numbers x = data;
        run([&](auto how) {
            return quern::for_each(how, x.begin(), x.end(), [](int& e) { e += 3; });
        });
        EXPECT_EQ(x, expected);
        x = data;
        run([&](auto how) { return quern::for_each(how, x, [](int& e) { e += 3; }); });
        EXPECT_EQ(x, expected);
        x = data;
        const auto n = static_cast<long>(data.size());
        auto end = run(
            [&](auto how) { return quern::for_each_n(how, x.begin(), n, [](int& e) { e += 3; }); });
        EXPECT_EQ(x, expected);
        EXPECT_TRUE(end == x.end());
        std::list<int> list(data.begin(), data.end());
        run([&](auto how) { return quern::for_each(how, list, [](int& e) { e += 3; }); });
        EXPECT_TRUE(std::equal(list.begin(), list.end(), expected.begin(), expected.end()));
        std::forward_list<int> other(data.begin(), data.end());
        auto last = run([&](auto how) {
            return quern::for_each_n(how, other.begin(), n, [](int& e) { e += 3; });
        });
        EXPECT_TRUE(last == other.end());
        EXPECT_TRUE(std::equal(other.begin(), other.end(), expected.begin(), expected.end()));
    });
}

TEST_P(elementwise, for_loop_calls_the_function_for_every_index) {
    inside([&] {
        for (const int n : {0, 1, 2, 3, 17, 1000, quern_test::scaled(100'003, 20'003)}) {
            for (const int stride : {1, 2, 3, 7, 200'000, -1, -3}) {
                quern_test::for_every_policy([&](const auto& run) {
                    const int first = stride > 0 ? -5 : n;
                    const int last = stride > 0 ? n : -5;
                    numbers expected(static_cast<std::size_t>(n + 6), 0);
                    for (long i = first; stride > 0 ? i < last : i > last; i += stride) {
                        ++expected[static_cast<std::size_t>(i + 5)];
                    }
                    numbers marks(expected.size(), 0);
                    run([&](auto how) {
                        return quern::for_loop(how, first, last, stride, [&marks](int i) {
                            ++marks[static_cast<std::size_t>(i + 5)];
                        });
                    });
                    EXPECT_EQ(marks, expected) << n << " by " << stride;
                });
            }
        }
        int sum = 0;
        quern::for_loop(quern::seq, 0, 10, [&](int i) { sum += i; });
        EXPECT_EQ(sum, 45);
        EXPECT_THROW(quern::for_loop(quern::par, 0, 10, 0, [](int) {}), std::invalid_argument);
    });
}

TEST_P(elementwise, transform_writes_the_results) {
    compare([](const auto& run, const numbers& data) {
        const auto f = [](int e) { return e * 2L + 1; };
        const auto g = [](int e, int d) { return long{e} * d; };
        std::vector<long> expected(data.size());
        std::vector<long> out(data.size());
        std::transform(data.begin(), data.end(), expected.begin(), f);
        auto end = run([&](auto how) {
            return quern::transform(how, data.begin(), data.end(), out.begin(), f);
        });
        EXPECT_EQ(out, expected);
        EXPECT_TRUE(end == out.end());
        std::fill(out.begin(), out.end(), 0);
        run([&](auto how) { return quern::transform(how, data, out.begin(), f); });
        EXPECT_EQ(out, expected);
        const std::list<int> list(data.begin(), data.end());
        std::fill(out.begin(), out.end(), 0);
        run([&](auto how) { return quern::transform(how, list, out.begin(), f); });
        EXPECT_EQ(out, expected);
        std::transform(data.begin(), data.end(), data.rbegin(), expected.begin(), g);
        end = run([&](auto how) {
            return quern::transform(how, data.begin(), data.end(), data.rbegin(), out.begin(), g);
        });
        EXPECT_EQ(out, expected);
        EXPECT_TRUE(end == out.end());
        std::fill(out.begin(), out.end(), 0);
        run([&](auto how) {
            return quern::transform(how, list.begin(), list.end(), data.rbegin(), out.begin(), g);
        });
        EXPECT_EQ(out, expected);
        numbers same = data;
        run([&](auto how) {
            return quern::transform(how, same.begin(), same.end(), same.begin(), std::negate<>{});
        });
        EXPECT_TRUE(std::equal(same.begin(), same.end(), data.begin(), data.end(),
                               [](int a, int b) { return a == -b; }));
    });
}

TEST_P(elementwise, copy_and_move_write_the_elements) {
    compare([](const auto& run, const numbers& data) {
        numbers out(data.size(), -1);
        EXPECT_TRUE(out.end() == run([&](auto how) {
                        return quern::copy(how, data.begin(), data.end(), out.begin());
                    }));
        EXPECT_EQ(out, data);
        std::fill(out.begin(), out.end(), -1);
        EXPECT_TRUE(out.end() == run([&](auto how) {
                        return quern::copy_n(how, data.begin(), data.size(), out.begin());
                    }));
        EXPECT_EQ(out, data);
        const std::list<int> list(data.begin(), data.end());
        std::fill(out.begin(), out.end(), -1);
        run([&](auto how) { return quern::copy_n(how, list.begin(), data.size(), out.begin()); });
        EXPECT_EQ(out, data);
        std::fill(out.begin(), out.end(), -1);
        run([&](auto how) { return quern::copy(how, list, out.begin()); });
        EXPECT_EQ(out, data);
        std::vector<std::unique_ptr<int>> from;
        for (const int each : data) {
            from.push_back(std::make_unique<int>(each));
        }
        std::vector<std::unique_ptr<int>> to(data.size());
        EXPECT_TRUE(to.end() == run([&](auto how) { return quern::move(how, from, to.begin()); }));
        for (std::size_t i = 0; i < data.size(); ++i) {
            ASSERT_EQ(*to[i], data[i]);
        }
    });
}

TEST_P(elementwise, fill_and_generate_assign_every_element) {
    compare([](const auto& run, const numbers& data) {
        const auto n = static_cast<int>(data.size());
        const std::vector<std::string> expected(data.size(), "x");
        std::vector<std::string> x(data.size());
        run([&](auto how) { return quern::fill(how, x, std::string("x")); });
        EXPECT_EQ(x, expected);
        x.assign(data.size(), "");
        EXPECT_TRUE(x.end() == run([&](auto how) {
                        return quern::fill_n(how, x.begin(), n, std::string("x"));
                    }));
        EXPECT_EQ(x, expected);
        x.assign(data.size(), "");
        run([&](auto how) { return quern::generate(how, x, [] { return "x"; }); });
        EXPECT_EQ(x, expected);
        x.assign(data.size(), "");
        EXPECT_TRUE(x.end() == run([&](auto how) {
                        return quern::generate_n(how, x.begin(), n, [] { return "x"; });
                    }));
        EXPECT_EQ(x, expected);
        std::forward_list<int> list(data.begin(), data.end());
        run([&](auto how) { return quern::fill(how, list, 7); });
        EXPECT_TRUE(std::all_of(list.begin(), list.end(), [](int e) { return e == 7; }));
        std::vector<bool> bits(data.size(), false);  // its elements share words
        run([&](auto how) { return quern::fill(how, bits.begin(), bits.end(), true); });
        EXPECT_EQ(bits, std::vector<bool>(data.size(), true));
    });
}

TEST_P(elementwise, replace_assigns_the_elements_of_a_kind) {
    compare(
        [](const auto& run, const numbers& data) {
            const auto is_odd = [](int e) { return e % 2 != 0; };
            numbers expected = data;
            std::replace(expected.begin(), expected.end(), 3, -3);
            numbers x = data;
            run([&](auto how) { return quern::replace(how, x, 3, -3); });
            EXPECT_EQ(x, expected);
            numbers out(data.size());
            EXPECT_TRUE(out.end() == run([&](auto how) {
                            return quern::replace_copy(how, data.begin(), data.end(), out.begin(),
                                                       3, -3);
                        }));
            EXPECT_EQ(out, expected);
            expected = data;
            std::replace_if(expected.begin(), expected.end(), is_odd, -3);
            x = data;
            run([&](auto how) { return quern::replace_if(how, x, is_odd, -3); });
            EXPECT_EQ(x, expected);
            EXPECT_TRUE(out.end() == run([&](auto how) {
                            return quern::replace_copy_if(how, data.begin(), data.end(),
                                                          out.begin(), is_odd, -3);
                        }));
            EXPECT_EQ(out, expected);
        },
        10);
}

TEST_P(elementwise, reverse_and_swap_ranges_move_every_element) {
    compare([](const auto& run, const numbers& data) {
        const numbers expected(data.rbegin(), data.rend());
        numbers x = data;
        run([&](auto how) { return quern::reverse(how, x); });
        EXPECT_EQ(x, expected);
        numbers out(data.size());
        EXPECT_TRUE(out.end() == run([&](auto how) {
                        return quern::reverse_copy(how, data.begin(), data.end(), out.begin());
                    }));
        EXPECT_EQ(out, expected);
        std::list<int> list(data.begin(), data.end());
        run([&](auto how) { return quern::reverse(how, list); });
        EXPECT_TRUE(std::equal(list.begin(), list.end(), expected.begin(), expected.end()));
        numbers other = data;
        EXPECT_TRUE(other.end() == run([&](auto how) {
                        return quern::swap_ranges(how, x.begin(), x.end(), other.begin());
                    }));
        EXPECT_EQ(x, data);
        EXPECT_EQ(other, expected);
    });
}

TEST_P(elementwise, rotate_makes_the_middle_the_first) {
    compare([](const auto& run, const numbers& data) {
        for (const std::size_t by : {std::size_t{0}, data.size() / 3, data.size() / 2,
                                     data.size() - data.size() / 10, data.size()}) {
            const auto distance = static_cast<long>(by);
            numbers expected = data;
            const auto place =
                std::rotate(expected.begin(), expected.begin() + distance, expected.end());
            numbers x = data;
            const auto found = run([&](auto how) {
                return quern::rotate(how, x.begin(), x.begin() + distance, x.end());
            });
            EXPECT_EQ(x, expected);
            EXPECT_EQ(found - x.begin(), place - expected.begin());
            numbers out(data.size());
            EXPECT_TRUE(out.end() == run([&](auto how) {
                            return quern::rotate_copy(how, data.begin(), data.begin() + distance,
                                                      data.end(), out.begin());
                        }));
            EXPECT_EQ(out, expected);
        }
    });
}

TEST_P(elementwise, throws_the_exception_of_a_call) {
    inside([] {
        for (const std::size_t n : {1UL, 17UL, 100'003UL}) {
            quern_test::for_every_policy([&](const auto& run) {
                numbers x(n, 1);
                x[n / 2] = 13;
                const auto f = [](int e) {
                    return e == 13 ? throw std::runtime_error("thirteen") : e;
                };
                EXPECT_THROW(run([&](auto how) { return quern::for_each(how, x, f); }),
                             std::runtime_error);
                EXPECT_THROW(run([&](auto how) { return quern::transform(how, x, x.begin(), f); }),
                             std::runtime_error);
            });
        }
    });
}

TEST_P(elementwise, takes_functions_that_cannot_be_copied) {
    inside([] {
        quern_test::for_every_policy([&](const auto& run) {
            numbers x(1000, 1);
            run([&](auto how) {
                return quern::for_each(how, x.begin(), x.end(),
                                       [by = std::make_unique<int>(5)](int& e) { e += *by; });
            });
            EXPECT_EQ(x, numbers(1000, 6));
        });
    });
}

TEST(elementwise_from_outside, runs_on_the_default_runtime) {
    for (const std::size_t n : quern_test::sizes()) {
        quern_test::for_every_policy([&](const auto& run) {
            numbers x(n, 1);
            run([&](auto how) { return quern::for_each(how, x, [](int& e) { ++e; }); });
            run([&](auto how) {
                return quern::transform(how, x, x.begin(), [](int e) { return e * 2; });
            });
            EXPECT_EQ(x, numbers(n, 4));
        });
    }
}

}  // namespace
