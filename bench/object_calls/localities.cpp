// SPDX-License-Identifier: BSL-1.0
// A function adds a number to a sum, called in one way after another; each call waits for the
// result of the one before.
//   - Here: by a pointer, as a task, by run_at() of the own locality, as a call of an object that
//   is
//     here: alone, beside others (shared), without an answer (post); and in place (pinned).
//   - away_...: at the other rank: by messages of tasks, by run_at(), as a call of an object there.
//   - copy: a reference is copied and dropped; resolve: the object is found by its reference.
// The value is the time of a call, in nanoseconds. Size: calls; those to the other rank are a
// twentieth of it.
#include "../harness/mpi.hpp"
#include "../harness/quern.hpp"
#include "../harness/session.hpp"

#include <quern/localities/object.hpp>

#include <algorithm>

namespace bench::object_calls {

namespace {

namespace at = quern::localities;

/// What is called.
class tally {
public:
    long add(long number) { return m_sum += number; }
    long added(long number, long sum) const { return m_offset + sum + number; }
    long sum() const { return m_sum; }

private:
    long m_sum = 0;
    long m_offset = 0;
};

long g_sum = 0;
[[gnu::noinline]] long add(long number) { return g_sum += number; }

long calls_away(long size) { return std::max(1L, size / 20); }

/// call(i) returns the sum of all numbers up to i.
template <class Call>
measurement timed_calls(long calls, Call call) {
    long sum = 0;
    const double begun = now();
    for (long i = 1; i <= calls; ++i) {
        sum = call(i);
    }
    const double ns = 1e9 * (now() - begun) / static_cast<double>(calls);
    expect_equal("the sum of all numbers", sum, calls * (calls + 1) / 2);
    return {ns, static_cast<int>(calls), {}};
}

measurement by_pointer(long calls) {
    long (*volatile function)(long) = &add;
    g_sum = 0;
    return timed_calls(calls, [&](long i) { return function(i); });
}

measurement by_async(long calls) {
    g_sum = 0;
    return timed_calls(calls, [](long i) { return quern::async(&add, i).get(); });
}

measurement by_run_at(int where, long calls) {
    at::run_at(where, [] { g_sum = 0; }).get();
    return timed_calls(calls, [where](long i) { return at::run_at(where, &add, i).get(); });
}

measurement by_object(int where, long calls) {
    const auto one = at::make_at<tally>(where);
    return timed_calls(calls, [&](long i) { return one.call(&tally::add, i).get(); });
}

measurement by_shared_call(long calls) {
    const auto one = at::make_at<tally>(at::here());
    long sum = 0;
    return timed_calls(calls, [&](long i) { return sum = one.call(&tally::added, i, sum).get(); });
}

/// All calls line up before the last one, which has an answer.
measurement by_post(long calls) {
    const auto one = at::make_at<tally>(at::here());
    return timed_calls(calls, [&](long i) {
        if (i != calls) {
            one.post(&tally::add, i);
            return 0L;
        }
        return one.call(&tally::add, i).get();
    });
}

measurement in_place(long calls) {
    const auto one = at::make_at<tally>(at::here());
    return timed_calls(calls, [&](long i) { return one.pin()->add(i); });
}

measurement by_copies(long calls) {
    const auto one = at::make_at<tally>(at::here());
    long sum = 0;
    return timed_calls(calls, [&](long i) {
        const at::object<tally> copy = one;
        return sum += copy ? i : 0;
    });
}

measurement by_resolving(long calls) {
    const auto one = at::make_at<tally>(at::here());
    long sum = 0;
    return timed_calls(calls, [&](long i) { return sum += one.here_or_null()->sum() + i; });
}

measurement by_messages(long calls) {
    long number = 0;
    const auto receive = [&](int from) {
        MPI_Recv(&number, 1, MPI_LONG, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    };
    const auto send = [&](int to) { MPI_Send(&number, 1, MPI_LONG, to, 0, MPI_COMM_WORLD); };
    g_sum = 0;
    return timed_calls(calls, [&](long i) {
        if (ranks::rank() == 0) {
            number = i;
            send(1);
            receive(1);
        } else {
            receive(0);
            number = add(number);
            send(0);
        }
        return number;
    });
}

/// In a session, rank 0 calls; `share` says how many of the calls it makes.
template <class Calls>
contender in_session(
    const char* variant, Calls calls, long (*share)(long) = [](long n) { return n; }) {
    return {"object_calls", variant, [=](const arguments& a) {
                return ranks::together(ranks::in_session(a, [=, size = share(a.size)] {
                    return ranks::rank() == 0 ? calls(size) : measurement{};
                }));
            }};
}

const contender pointer = in_session("pointer", by_pointer);
const contender async = in_session("async", by_async);
const contender here = in_session("run_at_here", [](long n) { return by_run_at(0, n); });
const contender object = in_session("object", [](long n) { return by_object(0, n); });
const contender shared = in_session("object_shared", by_shared_call);
const contender post = in_session("object_post", by_post);
const contender pinned = in_session("object_pinned", in_place);
const contender copy = in_session("copy", by_copies);
const contender resolve = in_session("resolve", by_resolving);

const contender away_messages{"object_calls", "away_messages", [](const arguments& a) {
                                  return ranks::together(quern_job(a, [calls = calls_away(a.size)] {
                                      return by_messages(calls);
                                  }));
                              }};
const contender away_run_at = in_session(
    "away_run_at", [](long n) { return by_run_at(1, n); }, calls_away);
const contender away_object = in_session(
    "away_object", [](long n) { return by_object(1, n); }, calls_away);

}  // namespace

}  // namespace bench::object_calls
