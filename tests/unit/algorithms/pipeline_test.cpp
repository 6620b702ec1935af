// SPDX-License-Identifier: BSL-1.0
// pipeline: every item passes every stage once, in the promised order and number at a time, with
// any type of value; an exception of the source or of a stage reaches the caller, and the other
// items in flight pass. Vectors of results are plain where a stage takes one item at a time, so
// that two at once are a data race.
#include <quern/algorithms/pipeline.hpp>
#include <quern/task/exceptions.hpp>
#include <quern/task/promise.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using quern::in_order;
using quern::in_parallel;
using quern::one_at_a_time;
using quern::pipeline;
using quern_test::let_others_run;
using quern_test::scaled;

constexpr int k_items = scaled(2'000, 300);

/// 0, 1, 2 ... n - 1. Plain: the source is called by one task at a time.
class counting {
public:
    explicit counting(int n) noexcept : m_end(n) {}
    std::optional<int> operator()() {
        if (m_next == m_end) {
            return std::nullopt;
        }
        return m_next++;
    }
    int begun() const noexcept { return m_next; }

private:
    int m_next = 0;
    int m_end;
};

std::vector<int> first_numbers(int n) {
    std::vector<int> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

/// Suspends some items for a while, so that they overtake one another.
int delayed(int i) {
    for (int turns = (i * 7) % 5; turns > 0; --turns) {
        let_others_run();
    }
    return i;
}

class pipeline_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(pipeline_test);

// Holds: pipeline: The last stage gets every item, in the order of the source, for every number of tokens.
TEST_P(pipeline_test, keeps_the_order_of_the_source) {
    inside([] {
        for (const int tokens : {1, 2, 3, 16, 5'000}) {
            std::vector<int> out;
            counting source(k_items);
            pipeline(tokens, source, in_parallel(delayed),
                     in_order([&out](int i) { out.push_back(i); }));
            EXPECT_EQ(out, first_numbers(k_items)) << tokens;
        }
    });
}

// Holds: pipeline: Several stages of each kind may follow each other in any order.
TEST_P(pipeline_test, takes_items_through_any_sequence_of_stages) {
    inside([] {
        std::vector<int> decoded, counted, out;
        counting source(k_items);
        const auto note_in = [](std::vector<int>& list) {
            return [&list](int i) {
                list.push_back(i);
                return i;
            };
        };
        pipeline(8, source, in_order(note_in(decoded)), in_parallel(delayed),
                 one_at_a_time(note_in(counted)), in_parallel(delayed), in_order(delayed),
                 in_order(note_in(out)));
        EXPECT_EQ(decoded, first_numbers(k_items));
        EXPECT_EQ(out, first_numbers(k_items));
        std::sort(counted.begin(), counted.end());
        EXPECT_EQ(counted, first_numbers(k_items));
    });
}

TEST_P(pipeline_test, passes_nothing_from_an_empty_source) {
    inside([] {
        counting source(0);
        pipeline(4, source, in_parallel([](int) { ADD_FAILURE(); }));
    });
}

// Holds: pipeline: From the call of the source to the end of the last stage, no more items than tokens.
TEST_P(pipeline_test, has_at_most_as_many_items_in_flight_as_tokens) {
    inside([] {
        for (const int tokens : {1, 3, 8}) {
            std::atomic<int> in_flight{0}, most{0};
            counting source(k_items);
            const auto counted = [&]() -> std::optional<int> {
                const std::optional<int> next = source();
                if (next) {
                    const int now = ++in_flight;
                    int before = most;
                    while (before < now && !most.compare_exchange_weak(before, now)) {
                    }
                }
                return next;
            };
            pipeline(tokens, counted, in_parallel(delayed), in_parallel([&](int) { --in_flight; }));
            EXPECT_EQ(in_flight, 0);
            EXPECT_LE(most, tokens);
        }
    });
}

// Holds: pipeline: A stage that waits does not keep the other tokens from being used, not even on one worker.
TEST_P(pipeline_test, uses_all_tokens_while_stages_wait) {
    inside([] {
        constexpr int k_tokens = 20;
        quern::promise<void> all_here;
        const auto gate = all_here.get_future().share();
        std::atomic<int> arrived{0};
        counting source(k_tokens);
        pipeline(k_tokens, source, in_parallel([&](int) {
                     if (++arrived == k_tokens) {
                         all_here.set_value();
                     }
                     gate.wait();
                 }));
        EXPECT_EQ(arrived, k_tokens);
    });
}

/// Can neither be copied nor moved; counts live objects.
struct fixed {
    fixed(int i, std::atomic<int>& of) : number(i), living(of) { ++living; }
    fixed(const fixed&) = delete;
    fixed& operator=(const fixed&) = delete;
    ~fixed() { --living; }
    int number;
    std::atomic<int>& living;
};

TEST_P(pipeline_test, carries_values_that_cannot_be_copied_or_moved) {
    inside([] {
        std::atomic<int> living{0};
        std::vector<int> out;
        counting source(k_items);
        const auto own = [&source]() -> std::optional<std::unique_ptr<int>> {
            const std::optional<int> next = source();
            return next ? std::optional(std::make_unique<int>(*next)) : std::nullopt;
        };
        pipeline(8, own, in_parallel([&](std::unique_ptr<int> p) { return fixed(*p, living); }),
                 in_parallel([](const fixed& f) { return std::to_string(delayed(f.number)); }),
                 in_order([&](const std::string& s) {
                     out.push_back(std::stoi(s));
                     return 'x';  // dropped
                 }));
        EXPECT_EQ(out, first_numbers(k_items));
        EXPECT_EQ(living, 0);
    });
}

struct alignas(256) wide {
    int number;
};

TEST_P(pipeline_test, aligns_values_as_their_types_ask) {
    inside([] {
        counting source(100);
        std::atomic<int> wrong{0};
        pipeline(4, source, in_parallel([](int i) { return wide{i}; }),
                 in_order([&wrong](const wide& w) {
                     wrong += reinterpret_cast<std::uintptr_t>(&w) % 256 != 0;
                 }));
        EXPECT_EQ(wrong, 0);
    });
}

// Holds: pipeline: The first exception is thrown, the source is not called any more, and every other item in
// flight passes all of its stages, in order.
TEST_P(pipeline_test, throws_what_a_stage_throws_after_the_items_in_flight_have_passed) {
    inside([] {
        for (const int tokens : {1, 2, 16}) {
            std::vector<int> out;
            counting source(k_items);
            const auto parse = [](int i) {
                if (delayed(i) == 100) {
                    throw std::runtime_error("bad item");
                }
                return i;
            };
            const auto run = [&] {
                pipeline(tokens, source, in_parallel(parse),
                         in_order([&out](int i) { out.push_back(i); }));
            };
            EXPECT_THROW(run(), std::runtime_error);
            EXPECT_LE(source.begun(), 101 + tokens);
            std::vector<int> expected = first_numbers(source.begun());
            expected.erase(expected.begin() + 100);
            EXPECT_EQ(out, expected) << tokens;
        }
    });
}

TEST_P(pipeline_test, throws_what_an_ordered_or_serial_stage_throws) {
    inside([] {
        std::vector<int> out, last;
        counting source(k_items);
        const auto fails_at = [](int bad) {
            return [bad](int i) {
                if (i == bad) {
                    throw std::runtime_error("bad item");
                }
                return i;
            };
        };
        const auto ordered = [&] {
            pipeline(6, source, in_parallel(delayed), in_order(fails_at(50)), in_parallel(delayed),
                     in_order([&out](int i) { out.push_back(i); }));
        };
        EXPECT_THROW(ordered(), std::runtime_error);
        std::vector<int> expected = first_numbers(source.begun());
        expected.erase(expected.begin() + 50);
        EXPECT_EQ(out, expected);
        counting again(k_items);
        const auto serial = [&] {
            pipeline(6, again, in_parallel(delayed), one_at_a_time(fails_at(50)),
                     in_order([&last](int i) { last.push_back(i); }));
        };
        EXPECT_THROW(serial(), std::runtime_error);
        expected = first_numbers(again.begun());
        expected.erase(expected.begin() + 50);
        EXPECT_EQ(last, expected);
    });
}

TEST_P(pipeline_test, throws_what_the_source_throws_after_the_items_in_flight_have_passed) {
    inside([] {
        std::vector<int> out;
        counting source(k_items);
        const auto failing = [&source]() -> std::optional<int> {
            if (source.begun() == 100) {
                throw std::runtime_error("no more");
            }
            return source();
        };
        const auto run = [&] {
            pipeline(8, failing, in_parallel(delayed),
                     in_order([&out](int i) { out.push_back(i); }));
        };
        EXPECT_THROW(run(), std::runtime_error);
        EXPECT_EQ(out, first_numbers(100));
    });
}

// Holds: pipeline: Later exceptions go to the handler: each of the failing items is observed once.
TEST_P(pipeline_test, reports_later_exceptions_to_the_handler) {
    static std::atomic<int> reported;
    reported = 0;
    const auto before = quern::set_exception_handler(
        [](std::exception_ptr, quern::exception_origin where) noexcept {
            reported += where == quern::exception_origin::later_exception ? 1 : 0;
        });
    inside([] {
        std::atomic<int> thrown{0};
        counting source(k_items);
        const auto fail = [&thrown](int i) {
            delayed(i);
            ++thrown;
            throw std::runtime_error("bad item");
        };
        const auto run = [&] { pipeline(8, source, in_parallel(fail)); };
        EXPECT_THROW(run(), std::runtime_error);
        EXPECT_EQ(reported, thrown - 1);
    });
    quern::set_exception_handler(before);
}

// Holds: pipeline: Values of failed and of passed items are destroyed, and those whose move throws count as failed.
TEST_P(pipeline_test, destroys_every_value_when_a_stage_throws) {
    inside([] {
        std::atomic<int> living{0};
        counting source(k_items);
        const auto run = [&] {
            pipeline(8, source, in_parallel([&](int i) { return fixed(delayed(i), living); }),
                     in_parallel([](const fixed& f) {
                         if (f.number % 100 == 99) {
                             throw std::runtime_error("bad item");
                         }
                         return std::make_shared<int>(f.number);
                     }),
                     in_order([](const std::shared_ptr<int>& p) { EXPECT_EQ(p.use_count(), 1); }));
        };
        EXPECT_THROW(run(), std::runtime_error);
        EXPECT_EQ(living, 0);
    });
}

TEST_P(pipeline_test, ends_when_a_stop_is_requested) {
    inside([] {
        std::stop_source enough;
        std::vector<int> out;
        int next = 0;
        const auto endless = [&next] { return std::optional(next++); };
        const auto run = [&] {
            pipeline(enough.get_token(), 4, endless, in_parallel([](int i) {
                         EXPECT_TRUE(quern::this_task::stop_token().stop_possible());
                         return delayed(i);
                     }),
                     in_order([&](int i) {
                         out.push_back(i);
                         if (i == 100) {
                             enough.request_stop();
                         }
                     }));
        };
        EXPECT_THROW(run(), quern::task_cancelled);
        EXPECT_EQ(out, first_numbers(next));
    });
}

TEST_P(pipeline_test, may_run_inside_a_stage_of_another_one) {
    inside([] {
        long sum = 0;
        counting source(20);
        pipeline(4, source, in_parallel([](int i) {
                     long inner = 0;
                     counting numbers(i);
                     pipeline(3, numbers, in_parallel(delayed),
                              one_at_a_time([&inner](int k) { inner += k; }));
                     return inner;
                 }),
                 in_order([&sum](long part) { sum += part; }));
        EXPECT_EQ(sum, 1140);
    });
}

TEST_P(pipeline_test, refuses_a_number_of_tokens_below_one) {
    counting source(1);
    EXPECT_THROW(pipeline(0, source, in_parallel([](int) {})), std::invalid_argument);
    EXPECT_THROW(pipeline(-1, source, in_parallel([](int) {})), std::invalid_argument);
    EXPECT_EQ(source.begun(), 0);
}

// Holds: pipeline: May be called by a thread that is no worker.
TEST(pipeline_outside_test, runs_on_the_default_runtime) {
    std::vector<int> out;
    counting source(k_items);
    pipeline(8, source, in_parallel(delayed), in_order([&out](int i) { out.push_back(i); }));
    EXPECT_EQ(out, first_numbers(k_items));
}

}  // namespace
