// SPDX-License-Identifier: BSL-1.0
// The protocol of global objects: every order in which the messages of small programs can come, and
// random orders of larger ones. At the end every call has run once, in its caller's order, the
// object has ended once, and nothing is known of it anywhere.
#include "object_programs.hpp"

#include <quern/localities/detail/object_protocol.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <cstdio>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace quern::localities::detail;
using namespace quern_test;

using record = object_record<int>;
using message = record::message;
using action = record::action;
using kinds = object_message_kind;

/// A message, or, without a kind of its own, a reference.
struct on_the_way {
    int to = 0;
    bool is_reference = false;
    message what{};  ///< of a reference: `from` and `place`
    friend auto operator<=>(const on_the_way&, const on_the_way&) = default;
};
struct running_call {
    int at = 0;
    message what{};
    friend auto operator<=>(const running_call&, const running_call&) = default;
};

class job {
public:
    explicit job(const program& all, bool may_refuse = false)
        : m_records(all.size()),
          m_next(all.size(), 0),
          m_held(all.size(), 0),
          m_kept(all.size(), 0),
          m_objects(all.size(), false),
          m_may_refuse(may_refuse) {
        m_records[0].emplace_back(0, 0);
        m_records[0][0].make(m_numbers++);
        m_objects[0] = true;
        m_held[0] = 1;
    }

    std::size_t choices(const program& of) const {
        std::size_t all = m_way.size() + m_running.size() + refusals();
        for (std::size_t at = 0; at < of.size(); ++at) {
            all += (can_step(of, at) ? 1 : 0) + (m_kept[at] != 0 ? 1 : 0);
        }
        return all;
    }
    /// One of the choices.
    void choose(const program& of, std::size_t which) {
        if (which < m_way.size()) {
            deliver(which, false);
            return;
        }
        which -= m_way.size();
        if (which < m_running.size()) {
            end_call(which);
            return;
        }
        which -= m_running.size();
        if (which < refusals()) {
            for (std::size_t i = 0; i < m_way.size(); ++i) {
                if (is_arrival(m_way[i])) {
                    m_may_refuse = false;
                    deliver(i, true);
                    return;
                }
            }
        }
        which -= refusals();
        for (std::size_t at = 0; at < of.size(); ++at) {
            if (can_step(of, at) && which-- == 0) {
                take_step(of[at][m_next[at]++], static_cast<int>(at));
                return;
            }
            if (m_kept[at] != 0 && which-- == 0) {
                --m_kept[at];
                record::actions out;
                record_at(static_cast<int>(at)).drop(out);
                carry_out(std::move(out), static_cast<int>(at));
                return;
            }
        }
    }

    void expect_end(const program& of) const {
        for (std::size_t at = 0; at < of.size(); ++at) {
            ASSERT_EQ(m_next[at], of[at].size()) << "locality " << at << " has not ended";
            ASSERT_TRUE(m_records[at].empty()) << "locality " << at << " knows something";
            ASSERT_FALSE(m_objects[at]);
        }
        ASSERT_EQ(m_calls, m_run);
        ASSERT_EQ(m_moves, m_moved);
        ASSERT_EQ(m_ends, 1);
    }
    const std::string& failure() const { return m_failure; }
    /// Of a program whose calls all share: they may call one another, so none waits for the end of
    /// one that runs.
    void expect_all_run() const {
        if (m_way.empty()) {
            ASSERT_EQ(m_run, m_calls) << "a call waits, and nothing is under way";
        }
    }

    friend auto operator<=>(const job&, const job&) = default;

private:
    static bool is_arrival(const on_the_way& one) {
        return !one.is_reference && one.what.kind == kinds::arrive;
    }
    std::size_t refusals() const {
        return m_may_refuse && std::any_of(m_way.begin(), m_way.end(), is_arrival) ? 1 : 0;
    }
    bool can_step(const program& of, std::size_t at) const {
        return m_held[at] != 0 && m_next[at] < of[at].size();
    }

    record& record_at(int at) {
        auto& all = m_records[static_cast<std::size_t>(at)];
        if (all.empty()) {
            all.emplace_back(at, 0);
        }
        return all[0];
    }
    void forget_unused(int at) {
        auto& all = m_records[static_cast<std::size_t>(at)];
        if (!all.empty() && all[0].is_unused()) {
            all.clear();
        }
    }
    void require(bool holds, const char* what) {
        if (!holds && m_failure.empty()) {
            m_failure = what;
        }
    }

    void put(on_the_way&& one) {
        m_way.insert(std::upper_bound(m_way.begin(), m_way.end(), one), std::move(one));
    }
    void put(running_call&& one) {
        m_running.insert(std::upper_bound(m_running.begin(), m_running.end(), one), std::move(one));
    }

    void take_step(const step& one, int at) {
        record::actions out;
        record& here = record_at(at);
        switch (one.what) {
            case step::kind::call:
            case step::kind::keeping_call:
            case step::kind::shared_call:
                ++m_calls;
                ++m_posted[at];
                post(here,
                     {.kind = kinds::call,
                      .is_shared = one.what == step::kind::shared_call,
                      .caller = {.locality = at},
                      .payload =
                          m_posted[at] + (one.what == step::kind::keeping_call ? k_keeps : 0)},
                     out);
                break;
            case step::kind::move:
                ++m_moves;
                here.post({.kind = kinds::move, .to = one.to}, out);
                break;
            case step::kind::give:
                here.lend();
                put({one.to, true, {.from = at, .place = here.place()}});
                break;
            case step::kind::drop:
                --m_held[static_cast<std::size_t>(at)];
                here.drop(out);
                break;
        }
        carry_out(std::move(out), at);
    }

    void deliver(std::size_t which, bool refuse) {
        on_the_way one = std::move(m_way[which]);
        m_way.erase(m_way.begin() + static_cast<std::ptrdiff_t>(which));
        record::actions out;
        record& there = record_at(one.to);
        const auto at = static_cast<std::size_t>(one.to);
        if (one.is_reference) {
            ++m_held[at];
            m_numbers += there.receive(one.what.from, one.what.place, m_numbers, out) ? 1 : 0;
        } else if (refuse) {
            there.refuse(one.what, 1, out);
        } else if (one.what.kind == kinds::call && there.take_if_it_runs(one.what, out)) {
            run(std::move(one.what), one.to);
        } else {
            if (is_arrival(one)) {
                require(!m_objects[at], "an object comes to where it is");
                m_objects[at] = true;
            }
            there.take(std::move(one.what), out);
        }
        carry_out(std::move(out), one.to);
    }

    void post(record& here, message&& one, record::actions& out) {
        if (here.post_if_it_runs(one.is_shared)) {
            const auto at = static_cast<int>(one.caller.locality);
            run(std::move(one), at);
        } else {
            here.post(std::move(one), out);
        }
    }

    /// What lend_running() and receive() do in a call.
    void keep(int at) {
        record::actions out;
        record& here = record_at(at);
        here.lend();
        m_numbers += here.receive(at, here.place(), m_numbers, out) ? 1 : 0;
        ++m_kept[static_cast<std::size_t>(at)];
        carry_out(std::move(out), at);
    }

    void end_call(std::size_t which) {
        if (m_running[which].what.payload > k_keeps) {
            keep(m_running[which].at);
        }
        const running_call one = std::move(m_running[which]);
        m_running.erase(m_running.begin() + static_cast<std::ptrdiff_t>(which));
        record::actions out;
        require(m_objects[static_cast<std::size_t>(one.at)], "a call ends where no object is");
        record& there = record_at(one.at);
        if (!there.has_run_as_last(one.what.is_shared)) {
            there.has_run(one.what.is_shared, out);
        }
        carry_out(std::move(out), one.at);
    }

    void carry_out(record::actions&& all, int at) {
        const auto here = static_cast<std::size_t>(at);
        for (action& each : all) {
            switch (each.what) {
                case action::kind::send:
                    put({each.to, false, std::move(each.message)});
                    break;
                case action::kind::run:
                    run(std::move(each.message), at);
                    break;
                case action::kind::pack:
                    require(m_objects[here], "an object leaves from where it is not");
                    require(m_running.empty(), "an object leaves while a call runs");
                    put({each.to, false, std::move(each.message)});
                    break;
                case action::kind::discard:
                    require(m_objects[here], "an object ends where it is not");
                    m_objects[here] = false;
                    m_ends += std::count(m_objects.begin(), m_objects.end(), true) == 0 ? 1 : 0;
                    break;
                case action::kind::is_moved:
                case action::kind::is_not_moved:
                    ++m_moved;
                    break;
            }
        }
        forget_unused(at);
    }

    void run(message&& one, int at) {
        require(m_objects[static_cast<std::size_t>(at)], "a call runs where no object is");
        for (const running_call& other : m_running) {
            require(one.is_shared && other.what.is_shared, "a call runs beside one that is alone");
        }
        int& last = m_last[one.caller.locality];
        require(one.payload % k_keeps == ++last,
                "calls of one locality run in another order, or twice");
        ++m_run;
        put({at, std::move(one)});
    }

    std::vector<std::vector<record>> m_records;  ///< none or one each
    std::vector<std::size_t> m_next;
    std::vector<int> m_held;
    std::vector<int> m_kept;  ///< references that the object has taken to itself there
    std::vector<bool> m_objects;
    bool m_may_refuse;
    std::vector<on_the_way> m_way{};
    std::vector<running_call> m_running{};
    std::uint64_t m_numbers = 1;
    std::map<int, int> m_posted{};         ///< calls, by locality
    std::map<std::int64_t, int> m_last{};  ///< that has run
    int m_calls = 0;
    int m_run = 0;
    int m_moves = 0;
    int m_moved = 0;
    int m_ends = 0;
    std::string m_failure{};
};

/// All states that can be reached. `each` looks at each of them.
template <class F>
void explore(const program& of, bool may_refuse, F each) {
    std::set<job> known;
    std::vector<const job*> left;
    const auto add = [&](job&& one) {
        const auto [at, is_new] = known.insert(std::move(one));
        if (is_new) {
            left.push_back(&*at);
        }
    };
    add(job(of, may_refuse));
    std::size_t steps = 0;
    std::size_t ends = 0;
    while (!left.empty()) {
        const job& from = *left.back();
        left.pop_back();
        const std::size_t choices = from.choices(of);
        for (std::size_t i = 0; i < choices; ++i) {
            job next = from;
            next.choose(of, i);
            ASSERT_EQ(next.failure(), "");
            each(next);
            if (testing::Test::HasFatalFailure()) {
                return;
            }
            ++steps;
            add(std::move(next));
        }
        if (choices == 0) {
            ++ends;
            from.expect_end(of);
            if (testing::Test::HasFatalFailure()) {
                return;
            }
        }
    }
    std::printf("%zu states, %zu steps, %zu ends\n", known.size(), steps, ends);
}

void explore(const program& of, bool may_refuse = false) {
    explore(of, may_refuse, [](const job& /*state*/) {});
}

TEST(object_protocol_test, one_caller_and_a_move) {
    explore({{k_call, move_to(1), k_call, k_drop}, {}});
}

TEST(object_protocol_test, a_reference_goes_on_while_its_sender_drops_it) {
    explore({{give(1), k_drop}, {k_call, give(2), k_drop}, {k_call, k_drop}});
}

TEST(object_protocol_test, two_callers_and_a_move_to_a_third_locality) {
    explore({{give(1), k_call, move_to(2), k_drop}, {k_call, k_shared, k_drop}, {}});
}

TEST(object_protocol_test, two_moves_against_calls) {
    explore({{give(1), move_to(1), k_call, k_drop}, {k_call, move_to(2), k_drop}, {}});
}

TEST(object_protocol_test, a_move_there_and_back) {
    explore({{give(1), move_to(1), move_to(0), k_drop}, {k_call, k_call, k_drop}});
}

TEST(object_protocol_test, shared_calls_beside_others) {
    explore({{give(1), k_shared, k_shared, k_call, k_drop}, {k_shared, k_call, k_drop}});
}

TEST(object_protocol_test, shared_calls_that_call_one_another) {
    for (const program& all : {
             program{{give(1), k_drop}, {k_shared, k_shared, k_drop}},
             program{{give(1), k_shared, k_drop, k_shared, k_drop}, {k_shared, give(0), k_drop}},
             program{{give(1), give(1), k_drop, k_shared, k_drop},
                     {k_shared, give(0), k_drop, k_shared, k_drop}},
             program{{give(1), k_drop, k_shared, k_drop},
                     {k_shared, give(2), k_drop},
                     {k_shared, give(0), k_drop}},
         }) {
        explore(all, false, [](const job& state) { state.expect_all_run(); });
    }
    std::mt19937 dice(20261130);
    for (int i = 0; i < 20'000; ++i) {
        program all = random_program(dice);
        for (std::vector<step>& at : all) {
            std::erase_if(at, [](const step& one) { return one.what == step::kind::move; });
            for (step& one : at) {
                const bool is_call =
                    one.what == step::kind::call || one.what == step::kind::keeping_call;
                one = is_call ? k_shared : one;
            }
        }
        job one(all);
        while (const std::size_t choices = one.choices(all)) {
            one.choose(all, static_cast<std::size_t>(dice() % choices));
            ASSERT_NO_FATAL_FAILURE(one.expect_all_run()) << "program " << i;
        }
        ASSERT_NO_FATAL_FAILURE(one.expect_end(all)) << "program " << i;
    }
}

TEST(object_protocol_test, a_refused_move) {
    explore({{give(1), move_to(2), k_call, k_drop}, {k_call, move_to(1), k_drop}, {}}, true);
}

TEST(object_protocol_test, references_that_come_back) {
    explore({{give(1), give(1), k_drop, k_call, k_drop}, {give(0), k_drop, k_call, k_drop}});
}

TEST(object_protocol_test, an_object_that_keeps_itself) {
    explore({{give(1), k_drop}, {k_keeping, k_drop}});
    explore({{k_keeping, k_call, k_drop}});
    explore({{give(1), k_keeping, k_drop}, {k_keeping, k_shared, k_drop}});
    explore({{give(1), k_drop}, {k_keeping, k_keeping, k_call, k_drop}});
}

TEST(object_protocol_test, an_object_that_keeps_itself_and_moves) {
    explore({{give(1), move_to(2), k_keeping, k_drop}, {k_keeping, k_drop}, {}});
    explore({{give(1), k_drop}, {k_keeping, move_to(1), k_keeping, k_drop}});
}

TEST(object_protocol_test, random_programs) {
    std::mt19937 dice(20261128);
    const auto below = [&dice](std::size_t n) { return static_cast<std::size_t>(dice() % n); };
    for (int i = 0; i < 20'000; ++i) {
        const program all = random_program(dice);
        job one(all, below(2) != 0);
        int steps = 0;
        while (const std::size_t choices = one.choices(all)) {
            one.choose(all, below(choices));
            ASSERT_EQ(one.failure(), "") << "program " << i;
            ASSERT_LT(++steps, 10'000) << "program " << i << " does not end";
        }
        ASSERT_NO_FATAL_FAILURE(one.expect_end(all)) << "program " << i;
    }
}

}  // namespace
