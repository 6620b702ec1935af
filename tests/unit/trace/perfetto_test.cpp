// SPDX-License-Identifier: BSL-1.0
// The wire format byte by byte, and that the output nests. check_trace.py compares the field
// numbers with Perfetto's.
#include <quern/trace/perfetto.hpp>

#include "export/perfetto_numbers.hpp"
#include "export/protobuf.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>

namespace {

using quern::trace::detail::append_varint;
using quern::trace::detail::message;

std::string varint(std::uint64_t value) {
    std::string bytes;
    append_varint(bytes, value);
    return bytes;
}

TEST(protobuf_test, varints_take_seven_bits_a_byte) {
    EXPECT_EQ(varint(0), std::string(1, '\0'));
    EXPECT_EQ(varint(1), "\x01");
    EXPECT_EQ(varint(127), "\x7f");
    EXPECT_EQ(varint(128), "\x80\x01");
    EXPECT_EQ(varint(300), "\xac\x02");
    EXPECT_EQ(varint(std::numeric_limits<std::uint64_t>::max()),
              "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(protobuf_test, fields_begin_with_number_and_kind) {
    EXPECT_EQ(message().number(1, 150).bytes(), "\x08\x96\x01");
    EXPECT_EQ(message().text(2, "testing").bytes(), "\x12\x07testing");
    EXPECT_EQ(message().part(3, message().number(1, 150)).bytes(), "\x1a\x03\x08\x96\x01");
    EXPECT_EQ(message().fixed(1, 0x0102030405060708U).bytes(),
              "\x09\x08\x07\x06\x05\x04\x03\x02\x01");
    EXPECT_EQ(message().real(1, 1.0).bytes(), std::string("\x09\0\0\0\0\0\0\xf0\x3f", 9));
    EXPECT_EQ(message().number(47, 1).bytes(), "\xf8\x02\x01");
}

/// How often the bytes of a field occur in a trace.
std::size_t count(const std::string& in, const std::string& what) {
    std::size_t found = 0;
    for (auto at = in.find(what); at != std::string::npos; at = in.find(what, at + 1)) {
        ++found;
    }
    return found;
}

std::string written(const quern::trace::recording& run) {
    std::ostringstream to;
    quern::trace::write_perfetto(run, to);
    return to.str();
}

TEST(perfetto_test, an_empty_recording_is_a_trace_too) {
    const quern::trace::recording nothing;
    EXPECT_FALSE(written(nothing).empty());
}

TEST(perfetto_test, every_slice_that_begins_ends) {
    quern::trace::recording run;
    run.sites = {{.name = "outer"}, {.name = "inner"}};
    quern::trace::lane lane;
    lane.pool = "default";
    lane.slices = {{.begin_ns = 0, .end_ns = 10, .task = 1, .covered = true, .first = true},
                   {.begin_ns = 10,
                    .end_ns = 20,
                    .task = 2,
                    .parent = 1,
                    .site = 1,
                    .inlined = true,
                    .first = true},
                   {.begin_ns = 20, .end_ns = 30, .task = 1, .covered = true, .continued = true},
                   {.begin_ns = 30,
                    .end_ns = 40,
                    .task = 3,
                    .parent = 1,
                    .site = 1,
                    .suspended = true,
                    .inlined = true,
                    .first = true},
                   {.begin_ns = 40, .end_ns = 50, .task = 4, .covered = true, .first = true}};
    run.lanes = {lane};
    const std::string bytes = written(run);
    const std::string begins = message().number(9, 1).bytes();
    const std::string ends = message().number(9, 2).bytes();
    EXPECT_EQ(count(bytes, "outer"), 1U);  // written once
    EXPECT_EQ(count(bytes, begins + std::string("\x18")), 4U);
    EXPECT_EQ(count(bytes, ends + std::string("\x58")), 4U);
}

TEST(perfetto_test, says_what_was_dropped) {
    quern::trace::recording run;
    quern::trace::lane lane;
    lane.dropped = 12345;
    run.lanes = {lane};
    EXPECT_EQ(count(written(run), "12345 events dropped"), 1U);
    EXPECT_EQ(count(written(run), message().number(42, 1).bytes()), 1U);
}

TEST(perfetto_test, shows_messages_as_instants_with_tag_and_bytes) {
    quern::trace::recording run;
    quern::trace::lane lane;
    lane.messages = {{.at_ns = 5, .task = 9, .is_sent = true, .peer = 3, .tag = 77, .bytes = 800},
                     {.at_ns = 6, .task = 9, .peer = 12, .tag = 78, .bytes = 16}};
    run.lanes = {lane};
    const std::string bytes = written(run);
    namespace numbers = quern::trace::detail::perfetto;
    const auto argument = [](std::uint64_t name, std::uint64_t value) {
        return message().part(4, message().number(1, name).number(3, value)).bytes();
    };
    EXPECT_EQ(count(bytes, message().text(23, "send to 3").bytes()), 1U);
    EXPECT_EQ(count(bytes, message().text(23, "receive from 12").bytes()), 1U);
    EXPECT_EQ(count(bytes, argument(numbers::k_tag, 77)), 1U);
    EXPECT_EQ(count(bytes, argument(numbers::k_bytes, 800)), 1U);
}

TEST(perfetto_test, what_could_not_be_read_has_no_track) {
    quern::trace::recording run;
    run.counters = {{"drawn", "W", {{1, 2.0}}}, {"refused", "J", {}, "denied"}};
    EXPECT_EQ(count(written(run), "drawn"), 1U);
    EXPECT_EQ(count(written(run), "refused"), 0U);
}

TEST(perfetto_test, a_slice_ends_with_what_all_its_pieces_have_counted) {
    quern::trace::recording run;
    run.events = {{.name = "page-faults"}, {.name = "cycles", .why = "not here"}};
    run.sites = {{.name = "outer"}, {.name = "inner"}};
    quern::trace::lane lane;
    lane.pool = "default";
    lane.slices = {
        {.begin_ns = 0, .end_ns = 10, .task = 1, .covered = true, .first = true},
        {.begin_ns = 10, .end_ns = 20, .task = 2, .site = 1, .inlined = true, .first = true},
        {.begin_ns = 20, .end_ns = 30, .task = 1, .continued = true}};
    lane.events = {1000, 0, quern::trace::k_unknown_count, 0, 234, 0};
    run.lanes = {lane};
    const std::string text = written(run);
    constexpr std::uint64_t k_page_faults = quern::trace::detail::perfetto::k_first_event;
    const auto argument = [](std::uint64_t name, std::uint64_t value) {
        return message().part(4, message().number(1, name).number(3, value)).bytes();
    };
    EXPECT_EQ(count(text, argument(k_page_faults, 1'234)), 1U);
    EXPECT_EQ(count(text, argument(k_page_faults + 1, 0)), 0U);
    EXPECT_EQ(count(text, "page-faults"), 1U);
}

/// Two tasks on two workers, the first of which waits once.
quern::trace::recording dependent_pair() {
    quern::trace::recording run;
    run.sites = {{.name = "first"}, {.name = "second"}};
    run.lanes.resize(2);
    run.lanes[0].slices = {
        {.begin_ns = 0, .end_ns = 10, .task = 1, .suspended = true, .first = true},
        {.begin_ns = 20, .end_ns = 30, .task = 1}};
    run.lanes[1].slices = {{.begin_ns = 40, .end_ns = 50, .task = 2, .site = 1, .first = true}};
    run.graph.nodes = {{.task = 1}, {.task = 2}, {.task = 0}};
    run.graph.edges = {{0, 1}, {0, 2}, {1, 2}};  // the last task has not begun
    return run;
}

TEST(perfetto_test, a_dependence_is_an_arrow_from_the_last_piece_to_the_first_one) {
    const std::string bytes = written(dependent_pair());
    constexpr std::uint64_t k_flow = quern::trace::detail::perfetto::k_first_edge_flow;
    constexpr int k_flows = quern::trace::detail::perfetto::event_field::k_flows;
    constexpr int k_last_flows = quern::trace::detail::perfetto::event_field::k_last_flows;
    const std::string from = message().fixed(k_flows, k_flow).bytes();
    const std::string to = message().fixed(k_last_flows, k_flow).bytes();
    EXPECT_EQ(count(bytes, from), 1U);
    EXPECT_EQ(count(bytes, to), 1U);
    EXPECT_LT(bytes.find(from), bytes.find(to));
    const std::string pieces = message().fixed(k_flows, 2).bytes();
    EXPECT_GT(bytes.find(from), bytes.rfind(pieces));  // of the second piece
    EXPECT_EQ(count(bytes, message().fixed(k_flows, k_flow + 1).bytes()), 0U);
}

TEST(perfetto_test, a_task_has_at_most_100_arrows_to_tasks_that_depend_on_it) {
    quern::trace::recording run = dependent_pair();
    run.graph.nodes.resize(1);
    run.graph.edges.clear();
    for (std::uint32_t i = 1; i <= 150; ++i) {
        run.lanes[1].slices.push_back(
            {.begin_ns = 50 + i, .end_ns = 51 + i, .task = 10 + i, .first = true});
        run.graph.nodes.push_back({.task = 10 + i});
        run.graph.edges.emplace_back(0, i);
    }
    const std::string bytes = written(run);
    constexpr std::uint64_t k_flow = quern::trace::detail::perfetto::k_first_edge_flow;
    constexpr int k_last_flows = quern::trace::detail::perfetto::event_field::k_last_flows;
    EXPECT_EQ(count(bytes, message().fixed(k_last_flows, k_flow + 99).bytes()), 1U);
    EXPECT_EQ(count(bytes, message().fixed(k_last_flows, k_flow + 100).bytes()), 0U);
}

}  // namespace
