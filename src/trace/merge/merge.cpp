// SPDX-License-Identifier: BSL-1.0
// Joins traces: reads each for what must be known before, matches the messages, and copies the
// packets with the times, tracks, sequences and flows that they have in the common trace.
#include <quern/trace/merge.hpp>

#include "export/perfetto_job.hpp"
#include "merge/match.hpp"
#include "merge/merged_words.hpp"
#include "merge/packets.hpp"
#include "merge/rank_trace.hpp"

#include <quern/base/detail/output_place.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <utility>

namespace quern::trace {

namespace {

using namespace detail::perfetto;
using detail::arrow_end;
using detail::field;
using detail::fields;
using detail::matched_messages;
using detail::message;
using detail::rank_trace;

/// Tracks of a rank: its number and the runtime's stand above the 32 bits of ours.
constexpr unsigned k_rank_shift = 44;
constexpr unsigned k_runtime_shift = 32;
constexpr std::uint64_t k_most_runtimes = 1U << (k_rank_shift - k_runtime_shift);
/// Flows of tasks are below 2^48, those of dependences have bit 62 too.
constexpr unsigned k_flow_shift = 48;
constexpr int k_most_ranks = 4096;  // in 12 bits of a flow, with bit 60 free

/// Tells how much of all bytes has been read, in steps of a hundredth.
class progress_teller {
public:
    progress_teller(std::span<const std::string> paths, const std::function<void(double)>& tell)
        : m_tell(tell) {
        for (const std::string& each : paths) {
            std::error_code failed;
            const auto size = std::filesystem::file_size(each, failed);
            m_all += failed ? 0 : 2 * static_cast<double>(size);  // each is read twice
        }
    }

    void read(std::uint64_t bytes_of_file) {
        const double now = m_before + static_cast<double>(bytes_of_file);
        if (m_tell && m_all > 0 && now - m_told >= m_all / 100) {
            m_told = now;
            m_tell(std::min(1.0, now / m_all));
        }
    }
    void file_ends(std::uint64_t bytes) { m_before += static_cast<double>(bytes); }

private:
    const std::function<void(double)>& m_tell;
    double m_all = 0;
    double m_before = 0;
    double m_told = 0;
};

std::vector<rank_trace> read_all(std::span<const std::string> paths, progress_teller& progress) {
    std::vector<rank_trace> all;
    for (const std::string& each : paths) {
        all.push_back(
            detail::read_rank_trace(each, [&](std::uint64_t bytes) { progress.read(bytes); }));
        progress.file_ends(all.back().file_bytes);
    }
    std::sort(all.begin(), all.end(), [](const rank_trace& a, const rank_trace& b) {
        return std::tuple(a.place.rank, a.begun_ns) < std::tuple(b.place.rank, b.begun_ns);
    });
    return all;
}

std::string rank_words(const rank_trace& of) {
    return "rank " + std::to_string(of.place.rank) + " of " + std::to_string(of.place.ranks);
}

/// "rank 1", "ranks 1, 2 and 5"
std::string missing_words(const std::set<int>& present, int ranks) {
    constexpr std::size_t k_most_named = 8;
    std::vector<int> missing;
    for (int rank = 0; rank < ranks; ++rank) {
        if (!present.contains(rank)) {
            missing.push_back(rank);
        }
    }
    std::string words = missing.size() == 1 ? "rank" : "ranks";
    for (std::size_t i = 0; i < std::min(missing.size(), k_most_named); ++i) {
        words += (i == 0                    ? " "
                  : i + 1 == missing.size() ? " and "
                                            : ", ") +
                 std::to_string(missing[i]);
    }
    return words + (missing.size() > k_most_named ? ", ..." : "");
}

void check(const std::vector<rank_trace>& all, bool allows_missing) {
    const rank_trace& first = all.front();
    std::set<int> present;
    std::map<std::pair<int, std::uint64_t>, const rank_trace*> known;
    for (const rank_trace& each : all) {
        if (each.place.job != first.place.job) {
            throw std::runtime_error(
                "'" + first.path + "' and '" + each.path + "' are of two jobs (" + first.place.job +
                " and " + each.place.job + "), perhaps of two runs; accepted: the traces of one");
        }
        if (each.place.rank >= each.place.ranks || each.place.ranks > k_most_ranks ||
            each.runtime >= k_most_runtimes) {
            throw std::runtime_error("'" + each.path + "' is of " + rank_words(each) +
                                     ", runtime " + std::to_string(each.runtime) +
                                     "; accepted: at most 4096 ranks and 4095 runtimes each");
        }
        const auto [at, is_new] = known.emplace(std::pair(each.place.rank, each.runtime), &each);
        if (!is_new) {
            throw std::runtime_error("'" + at->second->path + "' and '" + each.path +
                                     "' are both of " + rank_words(each) + ", runtime " +
                                     std::to_string(each.runtime) + "; leave one out");
        }
        present.insert(each.place.rank);
    }
    if (!allows_missing && present.size() < static_cast<std::size_t>(first.place.ranks)) {
        throw std::runtime_error(
            "there is no trace of " + missing_words(present, first.place.ranks) + " of " +
            std::to_string(first.place.ranks) + "; name it, or allow for its absence (--partial)");
    }
}

/// Two ranks on two machines may have one number.
std::map<int, std::uint64_t> pids_of(const std::vector<rank_trace>& all) {
    constexpr std::uint64_t k_other_pids = 10'000'000;  // above the kernel's
    std::map<int, std::uint64_t> pids;
    std::set<std::uint64_t> used;
    for (const rank_trace& each : all) {
        if (!pids.contains(each.place.rank)) {
            const std::uint64_t rank = static_cast<std::uint64_t>(each.place.rank);
            pids[each.place.rank] =
                used.insert(each.pid).second ? each.pid : k_other_pids * (rank + 1) + each.pid;
        }
    }
    return pids;
}

/// Copies the packets of one trace.
class rewriter {
public:
    rewriter(const rank_trace& of, std::int64_t start_ns, std::uint64_t pid,
             std::uint64_t first_sequence, const std::vector<arrow_end>& arrows)
        : m_of(of),
          m_start_ns(start_ns),
          m_pid(pid),
          m_first_sequence(first_sequence),
          m_arrow(arrows.begin()),
          m_last_arrow(arrows.end()) {}

    message rewrite(std::string_view packet, std::uint64_t number) {
        message made;
        const bool is_arrow = m_arrow != m_last_arrow && m_arrow->packet == number;
        field f;
        for (fields all(packet); all.next(f);) {
            switch (f.number) {
                case packet_field::k_timestamp:
                    made.number(f.number,
                                time_of(is_arrow ? m_arrow->at_ns : m_of.common_ns(f.value)));
                    break;
                case packet_field::k_sequence:
                    m_most_sequence = std::max(m_most_sequence, f.value);
                    made.number(f.number, m_first_sequence + f.value);
                    break;
                case packet_field::k_track_event:
                    made.part(f.number, event(f.bytes, is_arrow));
                    break;
                case packet_field::k_track_descriptor:
                    made.part(f.number, track(f.bytes));
                    break;
                default:
                    made.raw(f.whole);
            }
        }
        m_arrow += is_arrow ? 1 : 0;
        return made;
    }

    std::uint64_t sequences() const noexcept { return m_most_sequence + 1; }

private:
    std::uint64_t time_of(std::int64_t common_ns) const noexcept {
        return static_cast<std::uint64_t>(std::max<std::int64_t>(common_ns - m_start_ns, 0));
    }

    /// Runtimes of a process share its track.
    std::uint64_t track_number(std::uint64_t number) const noexcept {
        const std::uint64_t rank = static_cast<std::uint64_t>(m_of.place.rank + 1) << k_rank_shift;
        return number == k_process_track ? rank | number
                                         : rank | m_of.runtime << k_runtime_shift | number;
    }

    /// Of tasks and dependences; their numbers are those of the process.
    std::uint64_t flow_number(std::uint64_t number) const noexcept {
        return number ^ static_cast<std::uint64_t>(m_of.place.rank) << k_flow_shift;
    }

    message event(std::string_view bytes, bool is_arrow) const {
        message made;
        field f;
        for (fields all(bytes); all.next(f);) {
            if (f.number == event_field::k_track) {
                made.number(f.number, track_number(f.value));
            } else if (f.number == event_field::k_flows || f.number == event_field::k_last_flows) {
                made.fixed(f.number, flow_number(f.value));
            } else {
                made.raw(f.whole);
            }
        }
        if (is_arrow) {
            made.fixed(m_arrow->is_sent ? event_field::k_flows : event_field::k_last_flows,
                       k_first_message_flow + m_arrow->arrow);
        }
        return made;
    }

    message track(std::string_view bytes) const {
        message made;
        field f;
        for (fields all(bytes); all.next(f);) {
            if (f.number == track_field::k_uuid || f.number == track_field::k_parent) {
                made.number(f.number, track_number(f.value));
            } else if (f.number == track_field::k_process) {
                made.part(f.number, message()
                                        .number(process_field::k_pid, m_pid)
                                        .text(process_field::k_name,
                                              "rank " + std::to_string(m_of.place.rank) + ": " +
                                                  m_of.program));
            } else if (f.number == track_field::k_thread) {
                made.part(f.number, thread(f.bytes));
            } else {
                made.raw(f.whole);
            }
        }
        return made;
    }

    message thread(std::string_view bytes) const {
        message made;
        field f;
        for (fields all(bytes); all.next(f);) {
            if (f.number == thread_field::k_pid) {
                made.number(f.number, m_pid);
            } else if (f.number == thread_field::k_name && m_of.runtime > 1) {
                made.text(f.number, std::string(f.bytes) + std::string(k_of_runtime) +
                                        std::to_string(m_of.runtime));
            } else {
                made.raw(f.whole);
            }
        }
        return made;
    }

    const rank_trace& m_of;
    const std::int64_t m_start_ns;
    const std::uint64_t m_pid;
    const std::uint64_t m_first_sequence;
    std::uint64_t m_most_sequence = 0;
    std::vector<arrow_end>::const_iterator m_arrow;  ///< the next one
    const std::vector<arrow_end>::const_iterator m_last_arrow;
};

void describe_ranks(const std::vector<rank_trace>& all, merged_traces& result) {
    result.job = all.front().place.job;
    result.ranks = all.front().place.ranks;
    for (const rank_trace& each : all) {
        if (result.by_rank.empty() || result.by_rank.back().rank != each.place.rank) {
            result.by_rank.push_back({.rank = each.place.rank, .program = each.program});
        }
        merged_rank& rank = result.by_rank.back();
        ++rank.traces;
        rank.dropped += each.dropped;
        rank.clocks = each.place.clocks;  // of the last one: it has the most
        for (const detail::message_end& m : each.messages) {
            ++(m.is_sent ? rank.sent : rank.received);
        }
    }
}

[[noreturn]] void refuse_output(const std::string& to) {
    throw std::runtime_error("'" + to +
                             "' cannot be written: " + std::strerror(errno != 0 ? errno : EIO));
}

class trace_writer {
public:
    explicit trace_writer(const std::string& to) : m_to(to), m_anew(to) {
        errno = 0;
        m_file.open(m_anew.path(), std::ios::binary | std::ios::trunc);
        if (!m_file) {
            refuse_output(m_to);
        }
    }

    void put(const message& packet) {
        m_frame.clear();
        m_frame.part(trace_field::k_packet, packet);
        m_file.write(m_frame.bytes().data(), static_cast<std::streamsize>(m_frame.bytes().size()));
        m_bytes += m_frame.bytes().size();
    }

    /// Returns the number of bytes.
    std::uint64_t close() {
        m_file.close();
        if (!m_file || !m_anew.put()) {
            refuse_output(m_to);
        }
        return m_bytes;
    }

private:
    const std::string& m_to;
    quern::detail::replacement m_anew;
    std::ofstream m_file;
    message m_frame;
    std::uint64_t m_bytes = 0;
};

}  // namespace

merged_traces merge_traces(std::span<const std::string> paths, const std::string& to,
                           const merge_options& options) {
    if (paths.empty()) {
        throw std::invalid_argument("quern: merge_traces of no trace");
    }
    progress_teller progress(paths, options.progress);
    std::vector<rank_trace> all = read_all(paths, progress);
    check(all, options.allows_missing);
    merged_traces result;
    describe_ranks(all, result);
    std::int64_t start = all.front().common_ns(0);
    std::int64_t end = start;
    for (const rank_trace& each : all) {
        start = std::min(start, each.common_ns(0));
        end = std::max(end, each.common_ns(each.duration_ns));
    }
    result.duration_ns = static_cast<std::uint64_t>(end - start);
    const matched_messages matched = detail::match_messages(all, result);
    const std::map<int, std::uint64_t> pids = pids_of(all);
    trace_writer writer(to);
    std::uint64_t first_sequence = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        detail::packet_reader from(all[i].path);
        rewriter copy(all[i], start, pids.at(all[i].place.rank), first_sequence, matched.ends[i]);
        std::string_view packet;
        while (from.next(packet)) {
            writer.put(copy.rewrite(packet, from.number() - 1));
            progress.read(from.bytes_read());
        }
        progress.file_ends(from.bytes_read());
        first_sequence += copy.sequences();
    }
    result.bytes = writer.close();
    return result;
}

}  // namespace quern::trace
