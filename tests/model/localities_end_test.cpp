// SPDX-License-Identifier: BSL-1.0
// The end of a job of localities (src/localities/README.md, "The end"): it is decided only after
// every parcel has run, and what they did is visible then.
#include "protocol.hpp"

#include <quern/localities/detail/end_of_job.hpp>

#include <array>
#include <cstdint>

namespace {

using model::atomic;
using model::check;
using model::run;
using model::var;

using work_counts = quern::localities::detail::work_counts<model::protocol_atomics>;
using quern::localities::detail::end_rule;

constexpr int k_most_parcels = 3;

/// Two localities. A parcel that has been posted is under way until its receiver sees it.
struct job {
    std::array<work_counts, 2> counts;
    std::array<atomic<int>, k_most_parcels> posted{};
    std::array<var<int>, k_most_parcels> effects{};

    void post(int parcel, std::size_t from) {
        counts[from].has_begun(1);
        posted[static_cast<std::size_t>(parcel)].store(1, std::memory_order_release);
    }

    /// At its receiver, as soon as it comes: runs it, and posts what it posts.
    template <class Function>
    void receive(int parcel, std::size_t at, Function function) {
        while (posted[static_cast<std::size_t>(parcel)].load(std::memory_order_acquire) == 0) {
            model::atomics::pause();
        }
        effects[static_cast<std::size_t>(parcel)] = 1;
        function();
        counts[at].has_ended(1);
    }

    /// Sums of a round. The localities are read one after the other, in either order.
    template <class Rule>
    void wait_for_end(Rule rule, bool reversed, int parcels) {
        for (;;) {
            std::uint64_t begun = 0;
            std::uint64_t ended = 0;
            for (std::size_t i = 0; i < counts.size(); ++i) {
                const work_counts& one = counts[reversed ? counts.size() - 1 - i : i];
                begun += one.begun();
                ended += one.ended();
            }
            if (rule.has_ended(begun, ended)) {
                break;
            }
            model::atomics::pause();
        }
        for (int i = 0; i < parcels; ++i) {
            check(effects[static_cast<std::size_t>(i)] == 1, "every parcel has run");
        }
    }
};

/// There and back, as a call and its answer: parcel 0 to locality 1, parcel 1 to locality 0.
template <class Rule>
void call_and_answer(run& r, bool reversed) {
    auto& j = r.make<job>();
    j.post(0, 0);
    r.thread([&j] { j.receive(0, 1, [&j] { j.post(1, 1); }); });
    r.thread([&j] { j.receive(1, 0, [] {}); });
    r.thread([&j, reversed] { j.wait_for_end(Rule(), reversed, 2); });
}

TEST(model_localities_end, a_call_and_its_answer) {
    model::expect_passes_everywhere("end of a job, a call and its answer", {},
                                    [](run& r) { call_and_answer<end_rule>(r, false); });
}

TEST(model_localities_end, localities_read_in_the_other_order) {
    model::expect_passes_everywhere("end of a job, read the other way", {},
                                    [](run& r) { call_and_answer<end_rule>(r, true); });
}

TEST(model_localities_end, a_parcel_that_goes_on_to_a_third_place) {
    model::expect_passes_everywhere("end of a job, three parcels", {}, [](run& r) {
        auto& j = r.make<job>();
        j.post(0, 0);
        r.thread([&j] {
            j.receive(0, 1, [&j] { j.post(1, 1); });
            j.receive(2, 1, [] {});
        });
        r.thread([&j] { j.receive(1, 0, [&j] { j.post(2, 0); }); });
        r.thread([&j] { j.wait_for_end(end_rule(), false, 3); });
    });
}

/// Broken on purpose: the sums of one round.
struct one_round {
    static bool has_ended(std::uint64_t begun, std::uint64_t ended) { return begun == ended; }
};

TEST(model_localities_end, one_round_is_not_enough) {
    model::expect_found_broken("end of a job by one round", {},
                               [](run& r) { call_and_answer<one_round>(r, false); });
}

}  // namespace
