// SPDX-License-Identifier: BSL-1.0
// Reads the trace of a rank once, for what the other ranks' traces are joined by.
#include "merge/rank_trace.hpp"

#include "export/perfetto_job.hpp"
#include "merge/packets.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

namespace quern::trace::detail {

namespace {

using namespace perfetto;

/// An event, as far as it matters here. Names that are not written out have numbers.
struct seen_event {
    std::uint64_t type = 0;
    std::uint64_t category = 0;
    std::string_view category_words{};
    std::string_view name{};
    std::string_view annotations[8]{};
    std::size_t annotated = 0;
};

seen_event event_in(std::string_view bytes) {
    seen_event e;
    field f;
    for (fields all(bytes); all.next(f);) {
        switch (f.number) {
            case event_field::k_type:
                e.type = f.value;
                break;
            case event_field::k_categories:
                e.category = f.value;
                break;
            case event_field::k_category_words:
                e.category_words = f.bytes;
                break;
            case event_field::k_name:
                e.name = f.bytes;
                break;
            case event_field::k_annotations:
                if (e.annotated < std::size(e.annotations)) {
                    e.annotations[e.annotated++] = f.bytes;
                }
                break;
            default:
                break;
        }
    }
    return e;
}

/// An argument of an event.
struct argument {
    std::uint64_t name_number = 0;
    std::string_view name{};
    std::uint64_t value = 0;
    std::string_view text{};
};

argument argument_in(std::string_view bytes) {
    argument a;
    field f;
    for (fields all(bytes); all.next(f);) {
        switch (f.number) {
            case annotation_field::k_name_number:
                a.name_number = f.value;
                break;
            case annotation_field::k_name:
                a.name = f.bytes;
                break;
            case annotation_field::k_unsigned:
            case annotation_field::k_signed:
                a.value = f.value;
                break;
            case annotation_field::k_text:
                a.text = f.bytes;
                break;
            default:
                break;
        }
    }
    return a;
}

class scanner {
public:
    scanner(rank_trace& into, const packet_reader& from) : m_into(into), m_from(from) {}

    void take(std::string_view packet) {
        const packet_parts parts = parts_of(packet);
        if (parts.is_damaged) {
            m_from.refuse("is damaged: packet " + std::to_string(m_from.number()) +
                          " is no message of Perfetto's format");
        }
        if (!parts.track.empty()) {
            take_track(parts.track);
        }
        if (!parts.event.empty()) {
            take_event(parts.event, parts.at_ns, parts.has_dropped);
        }
    }

private:
    void take_track(std::string_view track) {
        field f;
        for (fields all(track); all.next(f);) {
            if (f.number != track_field::k_process) {
                continue;
            }
            field part;
            for (fields process(f.bytes); process.next(part);) {
                if (part.number == process_field::k_pid) {
                    m_into.pid = part.value;
                } else if (part.number == process_field::k_name) {
                    m_into.program = part.bytes;
                }
            }
        }
    }

    void take_event(std::string_view bytes, std::uint64_t at, bool has_dropped) {
        const seen_event e = event_in(bytes);
        if (e.type != k_instant) {
            return;
        }
        if (e.category == k_message) {
            take_message(e, at);
        } else if (e.category_words == k_job_category) {
            e.name == k_clock_name ? take_clock(e) : take_place(e);
        } else if (has_dropped) {
            std::uint64_t dropped = 0;  // the name begins with the number
            std::from_chars(e.name.data(), e.name.data() + e.name.size(), dropped);
            m_into.dropped += dropped;
        }
    }

    void take_message(const seen_event& e, std::uint64_t at) {
        message_end m{
            .packet = m_from.number() - 1, .at_ns = at, .is_sent = e.name.starts_with("send")};
        const std::size_t peer = e.name.rfind(' ') + 1;  // "send to 3"
        std::from_chars(e.name.data() + peer, e.name.data() + e.name.size(), m.peer);
        for (std::size_t i = 0; i < e.annotated; ++i) {
            const argument a = argument_in(e.annotations[i]);
            switch (a.name_number) {
                case k_tag:
                    m.tag = static_cast<int>(a.value);
                    break;
                case k_bytes:
                    m.bytes = a.value;
                    break;
                case k_context:
                    m.context = a.value;
                    break;
                case k_order:
                    m.order = a.value;
                    break;
                default:
                    break;
            }
        }
        m_into.messages.push_back(m);
    }

    /// The arguments of an event of the job by their names.
    static std::map<std::string_view, argument> arguments_of(const seen_event& e) {
        std::map<std::string_view, argument> all;
        for (std::size_t i = 0; i < e.annotated; ++i) {
            const argument a = argument_in(e.annotations[i]);
            all[a.name] = a;
        }
        return all;
    }

    void take_place(const seen_event& e) {
        auto all = arguments_of(e);
        if (m_into.place.is_known()) {
            m_from.refuse(
                "has several ranks, so it has been merged already; name the traces from "
                "which it was made");
        }
        m_into.place.job = all[job_argument::k_job].text;
        m_into.place.rank = static_cast<int>(all[job_argument::k_rank].value);
        m_into.place.ranks = static_cast<int>(all[job_argument::k_ranks].value);
        m_into.runtime = all[job_argument::k_runtime].value;
        m_into.begun_ns = all[job_argument::k_begun].value;
        m_into.ended_ns = all[job_argument::k_ended].value;
        m_into.duration_ns = all[job_argument::k_duration].value;
    }

    void take_clock(const seen_event& e) {
        auto all = arguments_of(e);
        m_into.place.clocks.push_back(
            {.at_ns = all[job_argument::k_at].value,
             .offset_ns = static_cast<std::int64_t>(all[job_argument::k_offset].value),
             .round_trip_ns = all[job_argument::k_round_trip].value});
    }

    rank_trace& m_into;
    const packet_reader& m_from;
};

}  // namespace

std::int64_t rank_trace::common_ns(std::uint64_t at_ns) const noexcept {
    const double rate = duration_ns != 0 ? static_cast<double>(ended_ns - begun_ns) /
                                               static_cast<double>(duration_ns)
                                         : 1.0;
    const auto here = static_cast<std::int64_t>(begun_ns) +
                      static_cast<std::int64_t>(static_cast<double>(at_ns) * rate);
    return here + ahead_ns(here);
}

/// Readings that may mean the same difference are no sign that it changes: then the best of them
/// counts.
std::int64_t rank_trace::ahead_ns(std::int64_t here) const noexcept {
    if (place.clocks.empty()) {
        return 0;
    }
    const clock_reading& first = place.clocks.front();
    const clock_reading& last = place.clocks.back();
    const auto apart = static_cast<std::uint64_t>(std::abs(last.offset_ns - first.offset_ns));
    if (apart <= (first.round_trip_ns + last.round_trip_ns) / 2 || last.at_ns <= first.at_ns) {
        return std::min_element(place.clocks.begin(), place.clocks.end(),
                                [](const clock_reading& a, const clock_reading& b) {
                                    return a.round_trip_ns < b.round_trip_ns;
                                })
            ->offset_ns;
    }
    const double share = static_cast<double>(here - static_cast<std::int64_t>(first.at_ns)) /
                         static_cast<double>(last.at_ns - first.at_ns);
    return first.offset_ns +
           static_cast<std::int64_t>(std::clamp(share, 0.0, 1.0) *
                                     static_cast<double>(last.offset_ns - first.offset_ns));
}

rank_trace read_rank_trace(const std::string& path,
                           const std::function<void(std::uint64_t)>& read) {
    rank_trace made;
    packet_reader from(path);
    scanner scan(made, from);
    std::string_view packet;
    while (from.next(packet)) {
        scan.take(packet);
        read(from.bytes_read());
    }
    if (!made.place.is_known()) {
        from.refuse(
            "does not say of which rank it is: it is of a program without MPI, or one that did not "
            "initialise MPI before its runtime ended");
    }
    made.path = path;
    made.file_bytes = from.bytes_read();
    return made;
}

}  // namespace quern::trace::detail
