// SPDX-License-Identifier: BSL-1.0
// Memory is the only limit on the depth of calls that call, at localities and of objects, and on
// the length of chains of continuations and of objects that own one another. The root calls; its
// chains are a million deep, those between two localities, where each call that waits is a
// suspended task, a hundred thousand.
#include "on_job.hpp"
#include "stress/process.hpp"

#include <quern/localities/object.hpp>

#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace {

using namespace quern_test;
using quern::localities::here;
using quern::localities::make_at;
using quern::localities::object;
using quern::localities::root;
using quern::localities::run_at;

constexpr long k_throwing = scaled(20'000L, 500L);

std::size_t g_resident_at_bottom = 0;  // of the root

/// The last call, at any locality.
long bottom() {
    run_at(root, [] { g_resident_at_bottom = resident_bytes(); }).get();
    return 0;
}

class localities_deep : public on_job {
protected:
    /// A million on one worker, fewer on two, as memory that has been used is kept. The thread
    /// sanitizer's own record of calls has 65536 entries.
    static long a_million() {
        constexpr long k_sanitized_depth = quern::detail::k_tsan ? 1'000 : 20'000;
        return scaled(GetParam() == 1 ? 1'000'000L : 100'000L, k_sanitized_depth);
    }
    /// Between localities: a level takes microseconds, or more where there are fewer cores than
    /// workers.
    static long a_hundred_thousand() { return scaled(a_million() / 10, 2'000L); }

    /// Runs f(depth) as a task of the root; it returns the depth. At the bottom, the process has
    /// less than `most` bytes for each level more than before.
    template <class F>
    static void descend(long depth, std::size_t most, F f) {
        if (here() != root) {
            return;
        }
        const std::size_t before = resident_bytes();
        g_resident_at_bottom = before;
        EXPECT_EQ(quern::async([=] { return f(depth); }).get(), depth);
        const std::size_t at_bottom = g_resident_at_bottom;
        const std::size_t level =
            at_bottom > before ? (at_bottom - before) / static_cast<std::size_t>(depth) : 0;
        std::printf("[ stress   ] %ld levels, each of them %zu bytes\n", depth, level);
        if (!k_sanitized) {
            EXPECT_LT(level, most);
        }
    }
};
QUERN_ON_1_2_WORKERS(localities_deep);

long calls_here(long left) {
    return left == 0 ? bottom() : run_at(here(), &calls_here, left - 1).get() + 1;
}

// Holds: run_at: Calls that call may be nested to any depth, here and between localities.
TEST_P(localities_deep, calls_at_the_own_locality_are_nested) {
    descend(a_million(), 4096, &calls_here);
}

struct tally {
    long value = 0;

    long below(const object<tally>& self, long left) const {
        return left == 0 ? bottom() : self.call(&tally::below, self, left - 1).get() + 1;
    }
    long add(long n) { return value += n; }
};

// Holds: object: Calls that call may be nested to any depth, here and between localities.
TEST_P(localities_deep, calls_of_an_object_are_nested) {
    descend(a_million(), 4096, [](long depth) {
        const auto one = make_at<tally>(here());
        return one.call(&tally::below, one, depth).get();
    });
}

/// Owns the next one.
struct link {
    object<link> next;

    long below() { return next ? next.call(&link::below).get() + 1 : bottom(); }
};

// Holds: object: Calls that call...
// Holds: object: A chain of objects that own one another may be ended, however long.
TEST_P(localities_deep, calls_of_objects_that_own_one_another_are_nested) {
    descend(a_million() / 5, 8192, [](long depth) {
        object<link> first = make_at<link>(here());
        for (long i = 0; i < depth; ++i) {
            first = make_at<link>(here(), std::move(first));
        }
        return first.call(&link::below).get();
    });
}

long calls_between(long left) {
    return left == 0 ? bottom() : run_at(next_locality(), &calls_between, left - 1).get() + 1;
}

// Holds: run_at: Calls that call may...
TEST_P(localities_deep, calls_between_localities_are_nested) {
    descend(a_hundred_thousand(), 16'384, &calls_between);
}

// Holds: object: Calls that call...
TEST_P(localities_deep, calls_of_objects_of_two_localities_are_nested) {
    struct step {
        static long below(const tally& /*of*/, const object<tally>& self,
                          const object<tally>& other, long left) {
            return left == 0 ? bottom() : other.call(&step::below, other, self, left - 1).get() + 1;
        }
    };
    descend(a_hundred_thousand(), 16'384, [](long depth) {
        const auto one = make_at<tally>(here());
        const auto other = make_at<tally>(next_locality());
        return one.call(&step::below, one, other, depth).get();
    });
}

long plus_one(long n) { return n + 1; }

/// Of continuations that each call, one after the other, once the first future is ready.
template <class Call>
long chain(long length, Call call) {
    quern::promise<long> first;
    quern::future<long> last = first.get_future();
    for (long i = 0; i < length; ++i) {
        last = last.then([call](quern::future<long> before) { return call(before.get()); });
    }
    first.set_value(0);
    return last.get();
}

// Holds: run_at: A chain of calls by then() may have any length.
TEST_P(localities_deep, continuations_call_at_the_own_locality) {
    descend(a_million(), 2048, [](long length) {
        return chain(length, [](long n) { return run_at(here(), &plus_one, n); });
    });
}

// Holds: run_at: A chain of...
TEST_P(localities_deep, continuations_call_at_two_localities) {
    descend(a_hundred_thousand(), 2048, [](long length) {
        return chain(length, [](long n) {
            return run_at(n % 2 == 0 ? here() : next_locality(), &plus_one, n);
        });
    });
}

// Holds: object: A chain of calls by then() may have any length.
TEST_P(localities_deep, continuations_call_an_object) {
    descend(a_million(), 2048, [](long length) {
        const auto one = make_at<tally>(here());
        return chain(length, [one](long) { return one.call(&tally::add, 1); });
    });
}

// Holds: object: A chain of calls...
TEST_P(localities_deep, continuations_call_objects_of_two_localities) {
    descend(a_hundred_thousand(), 2048, [](long length) {
        const auto one = make_at<tally>(here());
        const auto other = make_at<tally>(next_locality());
        return chain(length, [=](long n) {
            return (n % 2 == 0 ? one : other)
                .call([](tally& of, long m) { return of.add(0) + m + 1; }, n);
        });
    });
}

/// Each future is that of the next call.
quern::future<long> count_down(int where, long left) {
    if (left == 0) {
        return quern::make_ready_future(0L);
    }
    return run_at(where, &plus_one, 0L).then([where, left](quern::future<long> one) {
        const long n = one.get();
        return count_down(where, left - 1).then([n](quern::future<long> rest) {
            return rest.get() + n;
        });
    });
}

// Holds: run_at: A chain of...
TEST_P(localities_deep, continuations_give_the_future_of_the_next_call) {
    descend(a_million() / 2, 2048, [](long depth) { return count_down(here(), depth).get(); });
    descend(a_hundred_thousand(), 2048,
            [](long depth) { return count_down(next_locality(), depth).get(); });
}

long fail_below(int next, long left) {
    if (left == 0) {
        throw std::runtime_error("at the bottom");
    }
    return run_at(next, &fail_below, here(), left - 1).get() + 1;
}

// Holds: run_at: An error passes calls of any depth.
TEST_P(localities_deep, errors_pass_all_calls) {
    if (here() != root) {
        return;
    }
    for (const int next : {here(), next_locality()}) {
        const auto error = quern::async([next] {
                               return error_of(run_at(here(), &fail_below, next, k_throwing));
                           }).get();
        EXPECT_EQ(error.type, "std::runtime_error");
        EXPECT_EQ(error.message, "at the bottom");
    }
}

}  // namespace
