// SPDX-License-Identifier: BSL-1.0
// Traces of ranks, made here, joined: every message has its arrow, times are on one clock, and
// what cannot be joined is refused by name.
#include <quern/trace/merge.hpp>
#include <quern/trace/perfetto.hpp>
#include <quern/trace/recording.hpp>

#include "export/perfetto_job.hpp"
#include "merge/packets.hpp"
#include "merge/picture.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace numbers = quern::trace::detail::perfetto;
using quern::trace::merge_options;
using quern::trace::merged_traces;
using quern::trace::passed_message;
using quern::trace::recording;
using quern::trace::detail::field;
using quern::trace::detail::fields;
using quern::trace::detail::packet_reader;

constexpr std::uint64_t k_second = 1'000'000'000;

/// Where a merged trace has the two ends of an arrow.
struct seen_arrow {
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
    std::string begin;  ///< "send to 1"
    std::string end;
};

class merge_test : public testing::Test {
protected:
    merge_test() { std::filesystem::create_directory(m_folder); }
    ~merge_test() override { std::filesystem::remove_all(m_folder); }

    std::string path(const std::string& name) const { return (m_folder / name).string(); }

    /// A run of one second on one worker, which has messages but no tasks.
    static recording run_of(int rank, int ranks, std::vector<passed_message> messages) {
        recording run;
        run.program = "heat";
        run.duration_ns = k_second;
        run.begun_ns = 100 * k_second;
        run.ended_ns = 101 * k_second;
        run.job = {.job = "one", .rank = rank, .ranks = ranks};
        run.sites.push_back({.name = "exchange", .location = "heat.cpp:7"});
        quern::trace::lane one;
        one.pool = "default";
        one.messages = std::move(messages);
        run.lanes.push_back(std::move(one));
        return run;
    }

    std::string written(const recording& run, const std::string& name) const {
        std::ofstream to(path(name), std::ios::binary);
        quern::trace::write_perfetto(run, to);
        return path(name);
    }

    merged_traces merged(const std::vector<std::string>& paths,
                         const merge_options& options = {}) const {
        return quern::trace::merge_traces(paths, path("job"), options);
    }

    /// The reason for which merging fails.
    std::string fault_of(const std::vector<std::string>& paths) const {
        try {
            merged(paths);
        } catch (const std::runtime_error& error) {
            EXPECT_FALSE(std::filesystem::exists(path("job")));
            return error.what();
        }
        return "it does not fail";
    }

    std::map<std::uint64_t, seen_arrow> arrows() const {
        std::map<std::uint64_t, seen_arrow> all;
        packet_reader from(path("job"));
        std::string_view packet;
        while (from.next(packet)) {
            std::uint64_t at = 0;
            field f;
            for (fields parts(packet); parts.next(f);) {
                if (f.number == numbers::packet_field::k_timestamp) {
                    at = f.value;
                } else if (f.number == numbers::packet_field::k_track_event) {
                    take(f.bytes, at, all);
                }
            }
        }
        return all;
    }

private:
    static void take(std::string_view event, std::uint64_t at,
                     std::map<std::uint64_t, seen_arrow>& all) {
        std::string name;
        field f;
        for (fields parts(event); parts.next(f);) {
            if (f.number == numbers::event_field::k_name) {
                name = f.bytes;
            } else if (f.number == numbers::event_field::k_flows && f.value >> 61U == 1) {
                all[f.value].begin = name;
                all[f.value].begin_ns = at;
            } else if (f.number == numbers::event_field::k_last_flows && f.value >> 61U == 1) {
                all[f.value].end = name;
                all[f.value].end_ns = at;
            }
        }
    }

    const std::filesystem::path m_folder =
        std::filesystem::temp_directory_path() / ("quern-merge-" + std::to_string(::getpid()));
};

passed_message sent(std::uint64_t at, int to, int tag, std::uint64_t order = 0,
                    std::uint64_t context = 1) {
    return {.at_ns = at,
            .task = 1,
            .is_sent = true,
            .peer = to,
            .tag = tag,
            .bytes = 8,
            .context = context,
            .order = order};
}

passed_message received(std::uint64_t at, int from, int tag, std::uint64_t order = 0,
                        std::uint64_t context = 1) {
    passed_message made = sent(at, from, tag, order, context);
    made.is_sent = false;
    return made;
}

TEST_F(merge_test, a_message_is_an_arrow_from_its_sending_to_its_receipt) {
    const auto all = merged({written(run_of(1, 2, {received(700, 0, 5)}), "b"),
                             written(run_of(0, 2, {sent(300, 1, 5)}), "a")});
    EXPECT_EQ(all.job, "one");
    EXPECT_EQ(all.ranks, 2);
    EXPECT_EQ(all.sent, 1U);
    EXPECT_EQ(all.received, 1U);
    EXPECT_EQ(all.arrows, 1U);
    EXPECT_EQ(all.moved, 0U);
    EXPECT_TRUE(all.unmatched.empty());
    ASSERT_EQ(all.by_rank.size(), 2U);
    EXPECT_EQ(all.by_rank[0].sent, 1U);
    EXPECT_EQ(all.by_rank[1].received, 1U);
    EXPECT_EQ(all.bytes, std::filesystem::file_size(path("job")));
    ASSERT_EQ(arrows().size(), 1U);
    const seen_arrow one = arrows().begin()->second;
    EXPECT_EQ(one.begin, "send to 1");
    EXPECT_EQ(one.end, "receive from 0");
    EXPECT_EQ(one.begin_ns, 300U);
    EXPECT_EQ(one.end_ns, 700U);
}

/// The receive that was posted first gets the message that was sent first, also where it ends last.
TEST_F(merge_test, equal_messages_match_in_the_order_of_posting) {
    merged({written(run_of(0, 2, {sent(100, 1, 5, 1), sent(200, 1, 5, 2)}), "a"),
            written(run_of(1, 2, {received(500, 0, 5, 12), received(900, 0, 5, 11)}), "b")});
    std::map<std::uint64_t, std::uint64_t> ends;
    for (const auto& [number, each] : arrows()) {
        ends[each.begin_ns] = each.end_ns;
    }
    EXPECT_EQ(ends, (std::map<std::uint64_t, std::uint64_t>{{100, 900}, {200, 500}}));
}

TEST_F(merge_test, communicators_and_tags_are_kept_apart) {
    const auto all = merged(
        {written(run_of(0, 2, {sent(1, 1, 5, 1, 77), sent(2, 1, 5, 2, 78), sent(3, 1, 6, 3)}), "a"),
         written(
             run_of(1, 2,
                    {received(10, 0, 6, 1), received(20, 0, 5, 2, 78), received(30, 0, 5, 3, 77)}),
             "b")});
    EXPECT_EQ(all.arrows, 3U);
    std::map<std::uint64_t, std::uint64_t> ends;
    for (const auto& [number, each] : arrows()) {
        ends[each.begin_ns] = each.end_ns;
    }
    EXPECT_EQ(ends, (std::map<std::uint64_t, std::uint64_t>{{1, 30}, {2, 20}, {3, 10}}));
}

TEST_F(merge_test, messages_without_the_other_end_are_counted_and_named) {
    const auto all =
        merged({written(run_of(0, 2, {sent(1, 1, 5), sent(2, 1, 5), sent(3, 1, 9)}), "a"),
                written(run_of(1, 2, {received(10, 0, 5), received(20, 0, 8)}), "b")});
    EXPECT_EQ(all.sent, 3U);
    EXPECT_EQ(all.received, 2U);
    EXPECT_EQ(all.arrows, 1U);
    ASSERT_EQ(all.unmatched.size(), 3U);
    std::map<int, bool> tags;
    for (const auto& each : all.unmatched) {
        EXPECT_EQ(each.from, 0);
        EXPECT_EQ(each.to, 1);
        EXPECT_EQ(each.messages, 1U);
        tags[each.tag] = each.is_sent;
    }
    EXPECT_EQ(tags, (std::map<int, bool>{{5, true}, {8, false}, {9, true}}));
}

/// The clock of rank 1 is 2 s behind at first and 4 s behind at the end, and its time stamps are
/// twice as fast as its clock.
TEST_F(merge_test, times_are_those_of_the_clock_of_rank_0) {
    recording second = run_of(1, 2, {received(k_second, 0, 5)});
    second.duration_ns = 2 * k_second;
    second.job.clocks = {{.at_ns = 100 * k_second, .offset_ns = 2 * k_second},
                         {.at_ns = 101 * k_second, .offset_ns = 4 * k_second}};
    const auto all = merged({written(run_of(0, 2, {sent(7, 1, 5)}), "a"), written(second, "b")});
    ASSERT_EQ(arrows().size(), 1U);
    EXPECT_EQ(arrows().begin()->second.end_ns, 3 * k_second + k_second / 2);
    EXPECT_EQ(all.duration_ns, 5 * k_second);
    ASSERT_EQ(all.by_rank[1].clocks.size(), 2U);
    EXPECT_EQ(all.by_rank[1].clocks[1].offset_ns, 4 * static_cast<std::int64_t>(k_second));
}

/// They differ by less than they may be wrong: the one with the shorter round trip counts.
TEST_F(merge_test, of_readings_that_may_be_equal_the_better_one_counts) {
    recording second = run_of(1, 2, {received(900, 0, 5)});
    second.job.clocks = {{.at_ns = 100 * k_second, .offset_ns = 40, .round_trip_ns = 100},
                         {.at_ns = 101 * k_second, .offset_ns = 5040, .round_trip_ns = 10'000}};
    merged({written(run_of(0, 2, {sent(7, 1, 5)}), "a"), written(second, "b")});
    ASSERT_EQ(arrows().size(), 1U);
    EXPECT_EQ(arrows().begin()->second.end_ns, 940U);
}

TEST_F(merge_test, no_receipt_is_drawn_before_its_sending) {
    recording second = run_of(1, 2, {received(900, 0, 5)});
    second.job.clocks = {{.at_ns = 100 * k_second, .offset_ns = -500}};
    const auto all = merged({written(run_of(0, 2, {sent(800, 1, 5)}), "a"), written(second, "b")});
    EXPECT_EQ(all.moved, 1U);
    EXPECT_EQ(all.moved_most_ns, 400U);
    ASSERT_EQ(arrows().size(), 1U);
    EXPECT_EQ(arrows().begin()->second.end_ns, arrows().begin()->second.begin_ns + 1);
}

TEST_F(merge_test, runtimes_of_one_process_are_one_rank) {
    recording later = run_of(0, 2, {received(50, 1, 6)});
    later.number = 2;
    later.begun_ns = 102 * k_second;
    later.ended_ns = 103 * k_second;
    recording other = run_of(1, 2, {received(400, 0, 5), sent(500, 0, 6)});
    const auto all = merged({written(later, "run.0.2"), written(other, "run.1"),
                             written(run_of(0, 2, {sent(300, 1, 5)}), "run.0")});
    EXPECT_EQ(all.by_rank.size(), 2U);
    EXPECT_EQ(all.by_rank[0].traces, 2U);
    EXPECT_EQ(all.arrows, 2U);
    EXPECT_EQ(all.duration_ns, 3 * k_second);
}

TEST_F(merge_test, messages_of_threads_outside_have_arrows_too) {
    recording first = run_of(0, 2, {});
    first.outside = {sent(300, 1, 5)};
    const auto all =
        merged({written(first, "a"), written(run_of(1, 2, {received(700, 0, 5)}), "b")});
    EXPECT_EQ(all.arrows, 1U);
}

TEST_F(merge_test, says_what_was_dropped) {
    recording second = run_of(1, 2, {});
    second.lanes[0].dropped = 17;
    const auto all = merged({written(run_of(0, 2, {}), "a"), written(second, "b")});
    EXPECT_EQ(all.by_rank[0].dropped, 0U);
    EXPECT_EQ(all.by_rank[1].dropped, 17U);
}

TEST_F(merge_test, tells_its_progress) {
    std::vector<double> told;
    merge_options options;
    options.progress = [&](double share) { told.push_back(share); };
    std::vector<passed_message> many(10'000, sent(5, 0, 1));
    merged({written(run_of(0, 1, many), "a")}, options);
    ASSERT_GT(told.size(), 50U);
    EXPECT_LT(told.size(), 150U);
    EXPECT_GT(told.front(), 0.0);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_GT(told.back(), 0.95);
    EXPECT_LE(told.back(), 1.0);
}

TEST_F(merge_test, refuses_what_is_not_there_or_no_trace) {
    EXPECT_EQ(fault_of({path("none")}),
              "'" + path("none") + "' cannot be read: No such file or directory");
    EXPECT_NE(fault_of({path("")}).find("is a folder"), std::string::npos);
    std::ofstream(path("text")) << "Hello";
    EXPECT_NE(fault_of({path("text")}).find("text' is no trace of Perfetto's format"),
              std::string::npos);
    std::ofstream(path("nothing")).close();
    EXPECT_NE(fault_of({path("nothing")}).find("nothing' is empty"), std::string::npos);
    EXPECT_THROW(merged({}), std::invalid_argument);
}

TEST_F(merge_test, refuses_what_is_truncated_wherever_that_is_within_a_packet) {
    const std::string whole = written(run_of(0, 1, {sent(1, 0, 5)}), "a");
    std::ifstream file(whole, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    for (const std::size_t less : {1U, 2U, 7U}) {
        std::ofstream(path("cut"), std::ios::binary) << bytes.substr(0, bytes.size() - less);
        EXPECT_NE(fault_of({path("cut")}).find("cut' is truncated: it ends within packet"),
                  std::string::npos);
    }
    std::string damaged = bytes;
    damaged[bytes.size() - 5] = '\xff';  // within an argument of a message
    std::ofstream(path("cut"), std::ios::binary) << damaged << "garbage";
    EXPECT_NE(fault_of({path("cut")}).find("is damaged"), std::string::npos);
}

TEST_F(merge_test, refuses_a_trace_without_a_rank) {
    recording alone = run_of(0, 1, {});
    alone.job = {};
    EXPECT_NE(fault_of({written(alone, "a")}).find("a' does not say of which rank it is"),
              std::string::npos);
}

TEST_F(merge_test, refuses_a_rank_twice) {
    const std::string first = written(run_of(0, 2, {}), "a");
    const std::string again = written(run_of(0, 2, {}), "b");
    EXPECT_EQ(fault_of({first, again}), "'" + first + "' and '" + again +
                                            "' are both of rank 0 of 2, runtime 1; leave one out");
}

TEST_F(merge_test, refuses_ranks_of_two_jobs) {
    recording other = run_of(1, 2, {});
    other.job.job = "two";
    EXPECT_NE(fault_of({written(run_of(0, 2, {}), "a"), written(other, "b")})
                  .find("b' are of two jobs (one and two)"),
              std::string::npos);
}

TEST_F(merge_test, refuses_that_a_rank_is_missing_unless_it_may) {
    const std::vector<std::string> some{written(run_of(0, 4, {sent(1, 2, 5)}), "a"),
                                        written(run_of(2, 4, {received(2, 0, 5)}), "b")};
    EXPECT_EQ(fault_of(some),
              "there is no trace of ranks 1 and 3 of 4; name it, or allow for its absence "
              "(--partial)");
    const auto all = merged(some, {.allows_missing = true});
    EXPECT_EQ(all.by_rank.size(), 2U);
    EXPECT_EQ(all.arrows, 1U);
}

TEST_F(merge_test, refuses_what_has_been_merged) {
    merged({written(run_of(0, 2, {}), "a"), written(run_of(1, 2, {}), "b")});
    std::filesystem::rename(path("job"), path("before"));
    EXPECT_NE(fault_of({path("before")}).find("has been merged already"), std::string::npos);
}

TEST_F(merge_test, refuses_a_place_that_cannot_be_written) {
    const std::string one = written(run_of(0, 1, {}), "a");
    const std::string to = path("none/job");
    try {
        quern::trace::merge_traces(std::vector<std::string>{one}, to);
        FAIL() << "it has written";
    } catch (const std::runtime_error& error) {
        EXPECT_EQ(error.what(), "'" + to + "' cannot be written: No such file or directory");
    }
}

TEST_F(merge_test, the_page_shows_workers_and_arrows) {
    recording first = run_of(0, 2, {sent(k_second / 4, 1, 5)});
    first.lanes[0].slices.push_back({.end_ns = k_second / 2, .task = 1, .first = true});
    const auto all =
        merged({written(first, "a"), written(run_of(1, 2, {received(k_second / 2, 0, 5)}), "b")});
    const auto seen = quern::trace::detail::read_picture(path("job"), 0, all.duration_ns);
    ASSERT_EQ(seen.lanes.size(), 2U);
    EXPECT_EQ(seen.processes.begin()->second, "rank 0: heat");
    EXPECT_EQ(seen.kinds, std::vector<std::string>{"exchange"});
    EXPECT_DOUBLE_EQ(seen.time_of_kind[0], 1e9 / 2);
    ASSERT_EQ(seen.arrows.size(), 1U);
    EXPECT_EQ(seen.arrows[0].from_ns, k_second / 4);
    EXPECT_EQ(seen.arrows[0].to_ns, k_second / 2);
    const auto& busy = seen.lanes.begin()->second.busy;
    ASSERT_EQ(busy.size(), quern::trace::detail::k_picture_columns);
    EXPECT_NEAR(busy[10].front().second, 1.0, 1e-9);
    EXPECT_TRUE(busy[900].empty());
    std::ostringstream page;
    quern::trace::write_job_page(path("job"), all, page);
    for (const char* const each : {"2 ranks of heat", "rank 0, default/0", "marker-end", "exchange",
                                   "1 message in 1.00 s", "</html>"}) {
        EXPECT_NE(page.str().find(each), std::string::npos) << each;
    }
}

TEST_F(merge_test, runtimes_of_a_rank_have_one_lane_in_the_picture) {
    recording later = run_of(0, 1, {sent(100, 0, 5), received(200, 0, 5)});
    later.number = 2;
    later.lanes[0].slices.push_back({.end_ns = k_second, .task = 1, .first = true});
    merged({written(later, "b"), written(run_of(0, 1, {}), "a")});
    const auto seen = quern::trace::detail::read_picture(path("job"), 0, k_second);
    ASSERT_EQ(seen.lanes.size(), 1U);
    EXPECT_EQ(seen.lanes.begin()->second.name, "default/0");
    EXPECT_EQ(seen.lanes.begin()->second.busy.size(), quern::trace::detail::k_picture_columns);
    ASSERT_EQ(seen.arrows.size(), 1U);
    EXPECT_EQ(seen.arrows[0].from_lane, seen.lanes.begin()->first);
    EXPECT_EQ(seen.arrows[0].to_lane, seen.lanes.begin()->first);
}

/// A reading that comes after the trace was written is added to it.
TEST_F(merge_test, late_readings_of_the_clock_are_appended) {
    quern::trace::describe_job({.job = "late", .rank = 0, .ranks = 1});
    recording run = run_of(0, 1, {});
    run.job = quern::trace::job_of_process();
    quern::trace::detail::trace_was_written(written(run, "a"));
    quern::trace::add_clock_reading({.at_ns = 5, .offset_ns = -6, .round_trip_ns = 7});
    const auto all = merged({path("a")});
    ASSERT_EQ(all.by_rank[0].clocks.size(), 1U);
    EXPECT_EQ(all.by_rank[0].clocks[0].at_ns, 5U);
    EXPECT_EQ(all.by_rank[0].clocks[0].offset_ns, -6);
    EXPECT_EQ(all.by_rank[0].clocks[0].round_trip_ns, 7U);
    quern::trace::describe_job({});
}

}  // namespace
