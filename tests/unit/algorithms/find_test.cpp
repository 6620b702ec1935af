// SPDX-License-Identifier: BSL-1.0
// find, search, compare, count, all_of, is_sorted and relatives return what the algorithms of the
// standard return: the first place, not any place.
#include <quern/algorithms/compare.hpp>
#include <quern/algorithms/count.hpp>
#include <quern/algorithms/find.hpp>
#include <quern/algorithms/is_sorted.hpp>
#include <quern/algorithms/minmax.hpp>
#include <quern/algorithms/search.hpp>

#include "unit/algorithms/policies.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <forward_list>
#include <list>
#include <numeric>
#include <stdexcept>

namespace {

using numbers = std::vector<int>;

class finding : public quern_test::on_policies {};
QUERN_ON_1_2_8_WORKERS(finding);

/// Values that are absent, frequent, and those at the ends and in the middle.
numbers wanted_of(const numbers& data) {
    numbers wanted{-1, 0, 1};
    if (!data.empty()) {
        wanted.insert(wanted.end(), {data.front(), data[data.size() / 2], data.back()});
    }
    return wanted;
}

TEST_P(finding, find_returns_the_first_place) {
    for (const int range : {3, 1'000'000}) {
        compare(
            [](const auto& run, const numbers& data) {
                const std::forward_list<int> list(data.begin(), data.end());
                for (const int value : wanted_of(data)) {
                    const auto is = [value](int e) { return e == value; };
                    const auto is_not = [value](int e) { return e != value; };
                    const auto place = std::find(data.begin(), data.end(), value);
                    EXPECT_TRUE(place ==
                                run([&](auto how) { return quern::find(how, data, value); }));
                    EXPECT_TRUE(place ==
                                run([&](auto how) { return quern::find_if(how, data, is); }));
                    EXPECT_TRUE(place == run([&](auto how) {
                                    return quern::find_if_not(how, data, is_not);
                                }));
                    EXPECT_TRUE(std::find(list.begin(), list.end(), value) ==
                                run([&](auto how) { return quern::find(how, list, value); }));
                }
            },
            range);
    }
}

TEST_P(finding, find_first_of_and_adjacent_find_return_the_first_place) {
    for (const int range : {3, 1000, 1'000'000'000}) {
        compare(
            [](const auto& run, const numbers& data) {
                const std::list<int> set{-1, 500, 7};
                EXPECT_TRUE(std::find_first_of(data.begin(), data.end(), set.begin(), set.end()) ==
                            run([&](auto how) {
                                return quern::find_first_of(how, data.begin(), data.end(),
                                                            set.begin(), set.end());
                            }));
                EXPECT_TRUE(std::adjacent_find(data.begin(), data.end()) ==
                            run([&](auto how) { return quern::adjacent_find(how, data); }));
                const std::list<int> list(data.begin(), data.end());
                EXPECT_TRUE(std::adjacent_find(list.begin(), list.end(), std::greater<>{}) ==
                            run([&](auto how) {
                                return quern::adjacent_find(how, list, std::greater<>{});
                            }));
            },
            range);
    }
}

TEST_P(finding, search_and_find_end_return_the_first_and_the_last_place) {
    compare(
        [](const auto& run, const numbers& data) {
            const auto n = static_cast<long>(data.size());
            std::vector<std::list<int>> sequences{{}, {1}, {0, 1}, {1, 0, 1, 1, 0, 0, 1}, {2}};
            sequences.emplace_back(data.begin() + n / 2,
                                   data.begin() + n / 2 + std::min(n - n / 2, 300L));
            sequences.emplace_back(data.begin(), data.end());
            sequences.emplace_back(data.begin(), data.end());
            sequences.back().push_back(0);
            for (const auto& s : sequences) {
                EXPECT_TRUE(
                    std::search(data.begin(), data.end(), s.begin(), s.end()) == run([&](auto how) {
                        return quern::search(how, data.begin(), data.end(), s.begin(), s.end());
                    }))
                    << data.size() << ' ' << s.size();
                EXPECT_TRUE(std::find_end(data.begin(), data.end(), s.begin(), s.end()) ==
                            run([&](auto how) {
                                return quern::find_end(how, data.begin(), data.end(), s.begin(),
                                                       s.end());
                            }))
                    << data.size() << ' ' << s.size();
            }
            for (const int count : {-1, 0, 1, 2, 5, 9, 200'000}) {
                EXPECT_TRUE(std::search_n(data.begin(), data.end(), count, 1) == run([&](auto how) {
                                return quern::search_n(how, data.begin(), data.end(), count, 1);
                            }))
                    << count;
            }
        },
        2);
}

/// Chunks are often shorter than the sequence.
TEST_P(finding, search_compares_no_more_for_a_long_sequence) {
    inside([] {
        numbers x = quern_test::numbers(100'003, 2);
        x.back() = 2;  // sequences with it are at no other place
        numbers reversed(x.rbegin(), x.rend());
        // Runs of 2999 ones, and at last one of 3000.
        numbers runs(100'003, 1);
        for (std::size_t i = 2'999; i < runs.size() - 3'000; i += 3'000) {
            runs[i] = 0;
        }
        const numbers wanted(x.end() - 3'000, x.end());
        const numbers reversed_wanted(wanted.rbegin(), wanted.rend());
        std::atomic<long> calls{0};
        const auto is_equal = [&calls](int a, int b) {
            calls.fetch_add(1, std::memory_order_relaxed);
            return a == b;
        };
        const auto calls_of = [&calls](const auto& search) {
            calls = 0;
            search();
            return calls.load();
        };
        const long places = 100'003;
        const auto expect = [&](const auto& how) {
            EXPECT_LE(calls_of([&] {
                          EXPECT_EQ(quern::search(how, x.begin(), x.end(), wanted.begin(),
                                                  wanted.end(), is_equal) -
                                        x.begin(),
                                    places - 3'000);
                      }),
                      3 * places + 3'000);
            EXPECT_LE(calls_of([&] {
                          EXPECT_EQ(quern::find_end(how, reversed.begin(), reversed.end(),
                                                    reversed_wanted.begin(), reversed_wanted.end(),
                                                    is_equal) -
                                        reversed.begin(),
                                    0);
                      }),
                      3 * places + 3'000);
            EXPECT_LE(calls_of([&] {
                          EXPECT_TRUE(
                              quern::search_n(how, runs.begin(), runs.end(), 3'000, 1, is_equal) ==
                              std::search_n(runs.begin(), runs.end(), 3'000, 1));
                      }),
                      3 * places);
        };
        expect(quern::par);
        expect(quern::par.with(quern::static_chunk_size(1)));
    });
}

TEST_P(finding, mismatch_and_equal_compare_two_ranges) {
    compare([](const auto& run, const numbers& data) {
        for (const std::size_t at : {std::size_t{0}, data.size() / 3, data.size() - 1}) {
            numbers other = data;
            if (at < data.size()) {
                other[at] = -1;
            }
            const auto compare_with = [&](const auto& x, const auto& y) {
                EXPECT_TRUE(std::mismatch(x.begin(), x.end(), y.begin(), y.end()) ==
                            run([&](auto how) {
                                return quern::mismatch(how, x.begin(), x.end(), y.begin(), y.end());
                            }));
                EXPECT_EQ(std::equal(x.begin(), x.end(), y.begin(), y.end()), run([&](auto how) {
                              return quern::equal(how, x.begin(), x.end(), y.begin(), y.end());
                          }));
                EXPECT_EQ(std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end()),
                          run([&](auto how) {
                              return quern::lexicographical_compare(how, x.begin(), x.end(),
                                                                    y.begin(), y.end());
                          }));
            };
            compare_with(data, other);
            compare_with(other, data);
            compare_with(data, data);
            compare_with(data, std::list<int>(other.begin(), other.end()));
            EXPECT_TRUE(std::mismatch(data.begin(), data.end(), other.begin()) ==
                        run([&](auto how) {
                            return quern::mismatch(how, data.begin(), data.end(), other.begin());
                        }));
            EXPECT_EQ(std::equal(data.begin(), data.end(), other.begin()), run([&](auto how) {
                          return quern::equal(how, data.begin(), data.end(), other.begin());
                      }));
            other.push_back(1);
            compare_with(data, other);
            compare_with(other, data);
        }
    });
}

TEST_P(finding, count_and_all_of_consider_every_element) {
    for (const int range : {1, 2, 1'000'000}) {
        compare(
            [](const auto& run, const numbers& data) {
                const std::list<int> list(data.begin(), data.end());
                const auto is_odd = [](int e) { return e % 2 != 0; };
                const auto check = [&](const auto& x) {
                    EXPECT_EQ(std::count(x.begin(), x.end(), 0),
                              run([&](auto how) { return quern::count(how, x, 0); }));
                    EXPECT_EQ(std::count_if(x.begin(), x.end(), is_odd),
                              run([&](auto how) { return quern::count_if(how, x, is_odd); }));
                    EXPECT_EQ(std::all_of(x.begin(), x.end(), is_odd),
                              run([&](auto how) { return quern::all_of(how, x, is_odd); }));
                    EXPECT_EQ(std::any_of(x.begin(), x.end(), is_odd),
                              run([&](auto how) { return quern::any_of(how, x, is_odd); }));
                    EXPECT_EQ(std::none_of(x.begin(), x.end(), is_odd),
                              run([&](auto how) { return quern::none_of(how, x, is_odd); }));
                };
                check(data);
                check(list);
                for (const int value : wanted_of(data)) {
                    const auto is = [value](int e) { return e == value; };
                    EXPECT_EQ(std::any_of(data.begin(), data.end(), is),
                              run([&](auto how) { return quern::any_of(how, data, is); }));
                }
            },
            range);
    }
}

TEST_P(finding, min_and_max_element_return_the_place_that_the_standard_says) {
    for (const int range : {1, 3, 1'000'000}) {
        compare(
            [](const auto& run, const numbers& data) {
                const std::list<int> list(data.begin(), data.end());
                const auto check = [&](const auto& x) {
                    EXPECT_TRUE(std::min_element(x.begin(), x.end()) ==
                                run([&](auto how) { return quern::min_element(how, x); }));
                    EXPECT_TRUE(std::max_element(x.begin(), x.end()) ==
                                run([&](auto how) { return quern::max_element(how, x); }));
                    EXPECT_TRUE(std::minmax_element(x.begin(), x.end()) ==
                                run([&](auto how) { return quern::minmax_element(how, x); }));
                    EXPECT_TRUE(std::minmax_element(x.begin(), x.end(), std::greater<>{}) ==
                                run([&](auto how) {
                                    return quern::minmax_element(how, x, std::greater<>{});
                                }));
                };
                check(data);
                check(list);
            },
            range);
    }
}

TEST_P(finding, is_sorted_partitioned_and_heap_return_up_to_where) {
    compare([](const auto& run, const numbers& data) {
        const auto check = [&](const numbers& x) {
            EXPECT_TRUE(std::is_sorted_until(x.begin(), x.end()) ==
                        run([&](auto how) { return quern::is_sorted_until(how, x); }));
            EXPECT_EQ(std::is_sorted(x.begin(), x.end()),
                      run([&](auto how) { return quern::is_sorted(how, x); }));
            EXPECT_TRUE(std::is_heap_until(x.begin(), x.end()) == run([&](auto how) {
                            return quern::is_heap_until(how, x.begin(), x.end());
                        }));
            EXPECT_EQ(std::is_heap(x.begin(), x.end(), std::greater<>{}), run([&](auto how) {
                          return quern::is_heap(how, x.begin(), x.end(), std::greater<>{});
                      }));
            for (const int limit : {-1, 500'000, 2'000'000}) {
                const auto is_small = [limit](int e) { return e < limit; };
                EXPECT_EQ(std::is_partitioned(x.begin(), x.end(), is_small),
                          run([&](auto how) { return quern::is_partitioned(how, x, is_small); }));
            }
            const std::forward_list<int> list(x.begin(), x.end());
            EXPECT_TRUE(std::is_sorted_until(list.begin(), list.end()) ==
                        run([&](auto how) { return quern::is_sorted_until(how, list); }));
        };
        check(data);
        numbers x = data;
        std::sort(x.begin(), x.end());
        check(x);
        if (!x.empty()) {
            std::swap(x[x.size() / 3], x.back());
            check(x);
        }
        std::make_heap(x.begin(), x.end());
        check(x);
    });
}

TEST_P(finding, throws_the_exception_of_a_predicate) {
    inside([] {
        quern_test::for_every_policy([&](const auto& run) {
            const numbers x(100'003, 1);
            std::atomic<int> calls{0};
            const auto fails = [&calls](int e) {
                return ++calls == 50'000 ? throw std::runtime_error("calls") : e == 2;
            };
            EXPECT_THROW(run([&](auto how) { return quern::find_if(how, x, fails); }),
                         std::runtime_error);
            calls = 0;
            EXPECT_THROW(run([&](auto how) { return quern::count_if(how, x, fails); }),
                         std::runtime_error);
        });
    });
}

TEST_P(finding, returns_the_first_place_also_if_a_later_one_is_found_last) {
    if (!has_thieves()) {
        GTEST_SKIP() << "one worker finds one place";
    }
    inside([] {
        const std::size_t half = 1000;
        numbers x(2 * half);
        std::iota(x.begin(), x.end(), 0);
        std::atomic<bool> later_begins{false};
        std::atomic<bool> first_is_found{false};
        const auto is = [&](int e) {
            if (e == 0) {
                const bool is_shared = quern_test::eventually([&] { return later_begins.load(); });
                first_is_found = true;
                return is_shared;
            }
            if (e == static_cast<int>(half)) {
                later_begins = true;
                quern_test::eventually([&] { return first_is_found.load(); });
                quern_test::spin_for(std::chrono::milliseconds(20));
                return true;
            }
            return false;
        };
        EXPECT_TRUE(quern::find_if(quern::par.with(quern::static_chunk_size(half)), x, is) ==
                    x.begin());
    });
}

TEST_P(finding, stops_early) {
    inside([] {
        const numbers x(1'000'000, 1);
        std::atomic<int> calls{0};
        const auto is = [&calls](int e) {
            calls.fetch_add(1, std::memory_order_relaxed);
            return e == 1;
        };
        EXPECT_TRUE(quern::find_if(quern::par, x, is) == x.begin());
        EXPECT_TRUE(quern::any_of(quern::par, x, is));
        EXPECT_LT(calls.load(), 1'000'000);
    });
}

TEST(finding_from_outside, runs_on_the_default_runtime) {
    for (const std::size_t n : quern_test::sizes()) {
        const numbers x = quern_test::numbers(n);
        quern_test::for_every_policy([&](const auto& run) {
            EXPECT_TRUE(std::find(x.begin(), x.end(), 77) ==
                        run([&](auto how) { return quern::find(how, x, 77); }));
            EXPECT_TRUE(std::max_element(x.begin(), x.end()) ==
                        run([&](auto how) { return quern::max_element(how, x); }));
        });
    }
}

}  // namespace
