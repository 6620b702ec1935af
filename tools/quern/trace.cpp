// SPDX-License-Identifier: BSL-1.0
// `quern trace merge`: joins the traces of the ranks of a job, with arrows for their messages.
#include "command.hpp"

#include <quern/base/detail/nearest_match.hpp>
#include <quern/base/detail/output_place.hpp>
#include <quern/base/detail/text.hpp>
#include <quern/trace/merge.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace quern::tool {

namespace {

using quern::detail::bytes_words;
using quern::detail::count_words;
using quern::detail::duration_words;

constexpr const char* k_examples = R"(Examples:
  quern run -n 4 --trace 'run.%r.pftrace' -- ./ring
  quern trace merge run.*.pftrace -o job.pftrace
                              then open job.pftrace in https://ui.perfetto.dev
  quern trace merge --partial run.0.pftrace run.3.pftrace -o some.pftrace
                              where the other ranks have left none
  quern trace merge run.*.pftrace -o job.pftrace --html job.html
                              and a page with a picture)";
constexpr std::array<std::string_view, 1> k_verbs{"merge"};

struct trace_options {
    std::string verb;
    std::vector<std::string> paths;
    std::string output;
    std::string page;
    bool partial = false;
};

void check_words(const trace_options& options) {
    constexpr const char* k_instance =
        "for instance: quern trace merge run.*.pftrace -o job.pftrace";
    if (options.verb.empty()) {
        throw usage_error(fmt::format("quern trace: no request is named; accepted: {}; {}",
                                      fmt::join(k_verbs, ", "), k_instance));
    }
    if (std::find(k_verbs.begin(), k_verbs.end(), options.verb) == k_verbs.end()) {
        throw usage_error(fmt::format("quern trace: unknown request '{}'; {}", options.verb,
                                      quern::detail::accepted_values(options.verb, k_verbs)));
    }
    if (options.paths.empty()) {
        throw usage_error(fmt::format("quern trace merge: no trace is named; {}", k_instance));
    }
    if (options.output.empty()) {
        throw usage_error(fmt::format("quern trace merge: --output is missing; {}", k_instance));
    }
    for (const std::string& each : options.paths) {
        std::error_code failed;
        if (std::filesystem::equivalent(each, options.output, failed)) {
            throw usage_error(fmt::format(
                "quern trace merge: --output is '{}', which is one of the traces", each));
        }
    }
}

/// On a terminal, while it lasts.
class progress_line {
public:
    void show(double share) {
        if (m_is_shown) {
            fmt::print(stderr, "\rquern trace merge: {:3.0f} %", 100 * share);
            std::fflush(stderr);
        }
    }
    progress_line() = default;
    progress_line(const progress_line&) = delete;
    progress_line& operator=(const progress_line&) = delete;
    ~progress_line() {
        if (m_is_shown) {
            fmt::print(stderr, "\r\033[K");
        }
    }

private:
    const bool m_is_shown = ::isatty(STDERR_FILENO) != 0;
};

std::string clock_words(const trace::merged_rank& rank, int ranks) {
    if (rank.rank == 0) {
        return ranks > 1 ? "the clock" : "";
    }
    if (rank.clocks.empty()) {
        return "clock not compared";
    }
    const bool is_same = rank.clocks.front().round_trip_ns == 0;
    std::string words = is_same ? "the same clock, measured" : "clock";
    for (std::size_t i = is_same ? 1 : 0; i < rank.clocks.size(); ++i) {
        const trace::clock_reading& each = rank.clocks[i];
        words += fmt::format("{} {} {} ± {}", i == (is_same ? 1U : 0U) ? "" : ", at the end",
                             duration_words(static_cast<double>(std::abs(each.offset_ns))),
                             each.offset_ns < 0 ? "ahead" : "behind",
                             duration_words(static_cast<double>(each.round_trip_ns) / 2));
    }
    return words;
}

void print_ranks(const trace::merged_traces& all) {
    for (const trace::merged_rank& each : all.by_rank) {
        fmt::print("  rank {:<4} {:>10} sent {:>10} received   {}{}\n", each.rank,
                   count_words(each.sent), count_words(each.received), clock_words(each, all.ranks),
                   each.traces > 1 ? fmt::format("; {} runtimes", each.traces) : "");
    }
}

void print_unmatched(const trace::merged_traces& all) {
    constexpr std::size_t k_most_lines = 20;
    for (std::size_t i = 0; i < std::min(all.unmatched.size(), k_most_lines); ++i) {
        const trace::unmatched_messages& row = all.unmatched[i];
        fmt::print("  unmatched: {} from rank {} to {}, tag {}, {}: {}\n",
                   count_words(row.messages, "message"), row.from, row.to, row.tag,
                   bytes_words(static_cast<double>(row.bytes)),
                   row.is_sent ? "sent, without a receipt" : "received, without a sending");
    }
    if (all.unmatched.size() > k_most_lines) {
        fmt::print("  and {} further rows\n", all.unmatched.size() - k_most_lines);
    }
}

void print_doubts(const trace::merged_traces& all) {
    for (const trace::merged_rank& each : all.by_rank) {
        if (each.dropped != 0) {
            fmt::print(
                "  rank {} had no room for {}: repeat the run with a larger "
                "--quern:trace-events\n",
                each.rank, count_words(each.dropped, "event"));
        }
    }
    if (all.moved != 0) {
        fmt::print("  {} by the clocks up to {} before the sending: drawn after it\n",
                   all.moved == 1 ? "1 receipt was" : count_words(all.moved) + " receipts were",
                   duration_words(static_cast<double>(all.moved_most_ns)));
    }
}

void write_page(const trace_options& options, const trace::merged_traces& all) {
    quern::detail::replacement anew(options.page);
    errno = 0;
    std::ofstream file(anew.path(), std::ios::binary | std::ios::trunc);
    if (file) {
        trace::write_job_page(options.output, all, file);
        file.close();
    }
    if (!file || !anew.put()) {
        throw std::runtime_error(fmt::format("'{}' cannot be written: {}", options.page,
                                             std::strerror(errno != 0 ? errno : EIO)));
    }
}

int merge(const trace_options& options) {
    trace::merge_options how{.allows_missing = options.partial};
    trace::merged_traces all;
    {
        progress_line line;
        how.progress = [&line](double share) { line.show(share); };
        all = trace::merge_traces(options.paths, options.output, how);
    }
    fmt::print("{} of {} of {}, {}\n", count_words(all.by_rank.size()),
               count_words(static_cast<std::uint64_t>(all.ranks), "rank"),
               all.by_rank.front().program, duration_words(static_cast<double>(all.duration_ns)));
    print_ranks(all);
    fmt::print("{} sent, {} received, {}\n", count_words(all.sent, "message"),
               count_words(all.received), count_words(all.arrows, "arrow"));
    print_unmatched(all);
    print_doubts(all);
    if (!options.page.empty()) {
        write_page(options, all);
        fmt::print("{}: open it in a browser\n", options.page);
    }
    fmt::print("{}, {}: open it in https://ui.perfetto.dev\n", options.output,
               bytes_words(static_cast<double>(all.bytes)));
    return k_success;
}

}  // namespace

void add_trace(cli::command& quern, action& chosen) {
    const auto options = std::make_shared<trace_options>();
    cli::command sub = quern.subcommand(
        "trace", "Join the traces of the ranks of a job: quern trace merge run.*.pftrace -o FILE");
    sub.keep_unknown();
    sub.footer(k_examples);
    sub.add("request", options->verb, "merge").type("");
    sub.add("traces", options->paths,
            "Traces that the ranks wrote for the setting trace, in any order")
        .type("");
    sub.add("-o,--output", options->output, "Write the common trace there").type("FILE");
    sub.add("--html", options->page, "Write a page with a picture of ranks and messages too")
        .type("FILE");
    sub.add_flag("--partial", options->partial, "Traces of some ranks may be missing");
    sub.when_parsed([options, &chosen] {
        chosen = [options] {
            check_words(*options);
            return merge(*options);
        };
    });
}

}  // namespace quern::tool
