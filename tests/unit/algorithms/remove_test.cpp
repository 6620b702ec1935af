// SPDX-License-Identifier: BSL-1.0
// copy_if, remove, unique and their copies keep what those of the standard keep, in the same order.
#include <quern/algorithms/copy.hpp>
#include <quern/algorithms/remove.hpp>

#include "unit/algorithms/policies.hpp"

#include <algorithm>
#include <atomic>
#include <list>
#include <memory>
#include <stdexcept>

namespace {

using numbers = std::vector<int>;

class removing : public quern_test::on_policies {};
QUERN_ON_1_2_8_WORKERS(removing);

/// What is left of a range after an algorithm that returns its new end.
template <class Container, class Remove>
Container left_of(Container x, Remove remove) {
    x.erase(remove(x), x.end());
    return x;
}

TEST_P(removing, copy_if_copies_the_elements_of_a_kind) {
    for (const int limit : {-1, 10, 500'000, 999'990, 1'000'000}) {
        compare([limit](const auto& run, const numbers& data) {
            const auto is_small = [limit](int e) { return e < limit; };
            numbers expected(data.size(), -7);
            const auto end = std::copy_if(data.begin(), data.end(), expected.begin(), is_small);
            numbers out(data.size(), -7);
            const auto found =
                run([&](auto how) { return quern::copy_if(how, data, out.begin(), is_small); });
            EXPECT_EQ(found - out.begin(), end - expected.begin());
            EXPECT_EQ(out, expected);
            const std::list<int> list(data.begin(), data.end());
            std::fill(out.begin(), out.end(), -7);
            run([&](auto how) { return quern::copy_if(how, list, out.begin(), is_small); });
            EXPECT_EQ(out, expected);
            std::fill(out.begin(), out.end(), -7);
            std::fill(expected.begin(), expected.end(), -7);
            std::remove_copy_if(data.begin(), data.end(), expected.begin(), is_small);
            run([&](auto how) {
                return quern::remove_copy_if(how, data.begin(), data.end(), out.begin(), is_small);
            });
            EXPECT_EQ(out, expected);
        });
    }
}

TEST_P(removing, copy_if_calls_the_predicate_once_per_element) {
    inside([] {
        quern_test::for_every_policy([&](const auto& run) {
            const numbers x(100'003, 1);
            numbers out(x.size());
            std::atomic<int> calls{0};
            run([&](auto how) {
                return quern::copy_if(how, x, out.begin(), [&calls](int) {
                    calls.fetch_add(1, std::memory_order_relaxed);
                    return true;
                });
            });
            EXPECT_EQ(calls.load(), 100'003);
            EXPECT_EQ(out, x);
        });
    });
}

TEST_P(removing, remove_keeps_the_others_in_order) {
    for (const int range : {1, 3, 1000}) {
        compare(
            [](const auto& run, const numbers& data) {
                const auto is_odd = [](int e) { return e % 2 != 0; };
                const auto check = [&](const auto& all) {
                    EXPECT_EQ(
                        left_of(all, [](auto& x) { return std::remove(x.begin(), x.end(), 0); }),
                        left_of(all, [&](auto& x) {
                            return run([&](auto how) {
                                return quern::remove(how, x.begin(), x.end(), 0);
                            });
                        }));
                    EXPECT_EQ(left_of(all,
                                      [&](auto& x) {
                                          return std::remove_if(x.begin(), x.end(), is_odd);
                                      }),
                              left_of(all, [&](auto& x) {
                                  return run([&](auto how) {
                                      return quern::remove_if(how, x.begin(), x.end(), is_odd);
                                  });
                              }));
                };
                check(data);
                check(std::list<int>(data.begin(), data.end()));
                numbers expected(data.size(), -7);
                std::remove_copy(data.begin(), data.end(), expected.begin(), 0);
                numbers out(data.size(), -7);
                run([&](auto how) {
                    return quern::remove_copy(how, data.begin(), data.end(), out.begin(), 0);
                });
                EXPECT_EQ(out, expected);
            },
            range);
    }
}

TEST_P(removing, unique_keeps_the_first_of_equal_ones) {
    for (const int range : {1, 2, 1000}) {
        compare(
            [](const auto& run, const numbers& data) {
                numbers sorted = data;  // with long runs of equal elements
                std::sort(sorted.begin(), sorted.end());
                const auto check = [&](const auto& all) {
                    EXPECT_EQ(left_of(all, [](auto& x) { return std::unique(x.begin(), x.end()); }),
                              left_of(all, [&](auto& x) {
                                  return run([&](auto how) {
                                      return quern::unique(how, x.begin(), x.end());
                                  });
                              }));
                    numbers expected(data.size(), -7);
                    std::unique_copy(all.begin(), all.end(), expected.begin());
                    numbers out(data.size(), -7);
                    run([&](auto how) {
                        return quern::unique_copy(how, all.begin(), all.end(), out.begin());
                    });
                    EXPECT_EQ(out, expected);
                };
                check(data);
                check(sorted);
                check(std::list<int>(sorted.begin(), sorted.end()));
            },
            range);
    }
}

TEST_P(removing, moves_elements_that_cannot_be_copied) {
    compare([](const auto& run, const numbers& data) {
        std::vector<std::unique_ptr<int>> x;
        numbers expected;
        for (const int each : data) {
            x.push_back(std::make_unique<int>(each));
            if (each % 3 != 0) {
                expected.push_back(each);
            }
        }
        x.erase(run([&](auto how) {
                    return quern::remove_if(how, x.begin(), x.end(),
                                            [](const auto& e) { return *e % 3 == 0; });
                }),
                x.end());
        numbers found;
        for (const auto& each : x) {
            found.push_back(*each);
        }
        EXPECT_EQ(found, expected);
    });
}

TEST_P(removing, throws_the_exception_of_a_predicate) {
    inside([] {
        quern_test::for_every_policy([&](const auto& run) {
            numbers x = quern_test::numbers(100'003, 100'003);
            numbers out(x.size());
            x[70'000] = -1;
            const auto fails = [](int e) {
                return e < 0 ? throw std::runtime_error("negative") : e % 2 == 0;
            };
            EXPECT_THROW(run([&](auto how) { return quern::copy_if(how, x, out.begin(), fails); }),
                         std::runtime_error);
            EXPECT_THROW(
                run([&](auto how) { return quern::remove_if(how, x.begin(), x.end(), fails); }),
                std::runtime_error);
        });
    });
}

TEST(removing_from_outside, runs_on_the_default_runtime) {
    const auto is_odd = [](int e) { return e % 2 != 0; };
    for (const std::size_t n : quern_test::sizes()) {
        const numbers x = quern_test::numbers(n);
        numbers expected(n);
        std::copy_if(x.begin(), x.end(), expected.begin(), is_odd);
        quern_test::for_every_policy([&](const auto& run) {
            numbers out(n);
            run([&](auto how) { return quern::copy_if(how, x, out.begin(), is_odd); });
            EXPECT_EQ(out, expected);
        });
    }
}

}  // namespace
