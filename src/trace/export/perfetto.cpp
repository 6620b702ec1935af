// SPDX-License-Identifier: BSL-1.0
// TrackEvent packets. Each worker is a packet sequence of its own, with its own interned names,
// which are written at their first use.
#include <quern/trace/perfetto.hpp>

#include "analyse/wait_words.hpp"
#include "export/flows.hpp"
#include "export/perfetto_job.hpp"
#include "export/perfetto_numbers.hpp"
#include "export/protobuf.hpp"
#include "export/slice_events.hpp"

#include <unistd.h>

#include <ostream>
#include <vector>

namespace quern::trace {

namespace {

using namespace detail::perfetto;  // the field numbers
using detail::message;

class writer {
public:
    writer(const recording& run, std::ostream& to) : m_run(run), m_to(to), m_flows(run) {}

    void write() {
        write_process();
        for (std::size_t i = 0; i < m_run.lanes.size(); ++i) {
            write_lane(i);
        }
        write_outside();
        write_counters();
        write_decisions();
    }

private:
    void put(const message& packet) {
        m_frame.clear();
        m_frame.part(trace_field::k_packet, packet);
        m_to.write(m_frame.bytes().data(), static_cast<std::streamsize>(m_frame.bytes().size()));
    }

    void put_track(const message& track) {
        put(message()
                .number(packet_field::k_sequence, k_common_sequence)
                .part(packet_field::k_track_descriptor, track));
    }

    void put_common(std::uint64_t at, const message& event) {
        put(message()
                .number(packet_field::k_timestamp, at)
                .number(packet_field::k_sequence, k_common_sequence)
                .part(packet_field::k_track_event, event));
    }

    void write_process() {
        put_track(
            message()
                .number(track_field::k_uuid, k_process_track)
                .part(track_field::k_process, message()
                                                  .number(process_field::k_pid, m_pid)
                                                  .text(process_field::k_name, m_run.program)));
        if (m_run.job.is_known()) {
            put(packet_of_place(m_run));
            for (const clock_reading& each : m_run.job.clocks) {
                put(packet_of_clock(each));
            }
        }
    }

    void write_lane(std::size_t number) {
        const lane& l = m_run.lanes[number];
        m_lane = number;
        m_track = k_first_lane + number;
        m_sequence = k_first_sequence + number;
        m_said.assign(m_run.sites.size(), false);
        m_open.clear();
        describe_lane(l);
        auto parked = l.parked.begin();
        for (std::size_t i = 0; i < l.slices.size(); ++i) {
            for (; parked != l.parked.end() && parked->begin_ns < l.slices[i].begin_ns; ++parked) {
                write_parked(*parked);
            }
            write_slice(l.slices[i], i);
        }
        close_all(l.slices.empty() ? 0 : l.slices.back().end_ns);
        for (; parked != l.parked.end(); ++parked) {
            write_parked(*parked);
        }
        for (const theft& each : l.thefts) {
            put_event(each.at_ns,
                      event(k_instant, k_worker)
                          .number(event_field::k_name_number, k_steal)
                          .part(event_field::k_annotations, annotated(k_victim, each.victim)));
        }
        for (const passed_message& each : l.messages) {
            write_message(each);
        }
        write_dropped(l.dropped);
    }

    void write_message(const passed_message& m) {
        const std::string name =
            (m.is_sent ? "send to " : "receive from ") + std::to_string(m.peer);
        put_event(m.at_ns, event(k_instant, k_message)
                               .text(event_field::k_name, name)
                               .part(event_field::k_annotations, annotated(k_task_number, m.task))
                               .part(event_field::k_annotations,
                                     annotated(k_tag, static_cast<std::uint64_t>(m.tag)))
                               .part(event_field::k_annotations, annotated(k_bytes, m.bytes))
                               .part(event_field::k_annotations, annotated(k_context, m.context))
                               .part(event_field::k_annotations, annotated(k_order, m.order)));
    }

    /// Messages of threads that are not workers, on a track of their own.
    void write_outside() {
        if (m_run.outside.empty()) {
            return;
        }
        m_track = k_outside_track;
        m_sequence = k_outside_sequence;
        put_track(message()
                      .number(track_field::k_uuid, m_track)
                      .number(track_field::k_parent, k_process_track)
                      .text(track_field::k_name, "messages of other threads"));
        put_words_of_lane();
        for (const passed_message& each : m_run.outside) {
            write_message(each);
        }
        write_dropped(m_run.outside_dropped);
    }

    void put_words_of_lane() {
        put(message()
                .number(packet_field::k_sequence, m_sequence)
                .number(packet_field::k_sequence_flags, k_cleared)
                .part(packet_field::k_interned_data, words_of_lane(m_run)));
    }

    void describe_lane(const lane& l) {
        constexpr std::uint64_t k_no_thread = 1'000'000;  // mostly above the kernel's thread ids
        const std::uint64_t tid =
            l.thread != 0 ? static_cast<std::uint64_t>(l.thread) : k_no_thread + m_lane;
        put_track(
            message()
                .number(track_field::k_uuid, m_track)
                .number(track_field::k_parent, k_process_track)
                .part(track_field::k_thread,
                      message()
                          .number(thread_field::k_pid, m_pid)
                          .number(thread_field::k_tid, tid)
                          .text(thread_field::k_name, l.pool + "/" + std::to_string(l.rank))));
        put_words_of_lane();
    }

    message event(event_type type, category of) const {
        return message()
            .number(event_field::k_type, type)
            .number(event_field::k_categories, of)
            .number(event_field::k_track, m_track);
    }

    static message annotated(annotation what, std::uint64_t value) {
        return message()
            .number(annotation_field::k_name_number, what)
            .number(annotation_field::k_unsigned, value);
    }

    void put_event(std::uint64_t at, const message& what, const message* words = nullptr) {
        message packet;
        packet.number(packet_field::k_timestamp, at)
            .number(packet_field::k_sequence, m_sequence)
            .number(packet_field::k_sequence_flags, k_needs)
            .part(packet_field::k_track_event, what);
        if (words != nullptr) {
            packet.part(packet_field::k_interned_data, *words);
        }
        put(packet);
    }

    void put_end(std::uint64_t at, const detail::slice_sums& counted = {}, std::uint32_t wait = 0) {
        message end;
        end.number(event_field::k_type, k_end).number(event_field::k_track, m_track);
        counted.write(m_run, end);
        if (wait != 0) {
            end.part(
                event_field::k_annotations,
                message()
                    .number(annotation_field::k_name_number, k_waits_for)
                    .text(annotation_field::k_text, detail::wait_words(m_run.waits[wait - 1])));
        }
        put_event(at, end);
    }

    void put_last_end(std::uint64_t at) {
        put_end(at, m_open.back().counted, m_open.back().wait);
        m_open.pop_back();
    }

    /// The slice of a covered piece's task stays open below the inlined ones until the task's last
    /// piece.
    void write_slice(const slice& s, std::size_t index) {
        if (m_open.empty() || m_open.back().task != s.task) {
            if (!s.inlined) {
                close_all(s.begin_ns);
            }
            begin_slice(s, index);
        }
        m_open.back().counted.add(m_run, m_run.lanes[m_lane], index);
        m_open.back().wait = s.wait;
        if (!s.covered) {
            put_last_end(s.end_ns);
        }
        if (s.suspended) {
            close_all(s.end_ns);
        }
    }

    void begin_slice(const slice& s, std::size_t index) {
        message what = event(k_begin, s.inlined ? k_inlined : k_task);
        what.number(event_field::k_name_number, k_first_site + s.site)
            .part(event_field::k_annotations, annotated(k_task_number, s.task));
        if (s.stolen) {
            what.part(event_field::k_annotations, annotated(k_stolen, 1));
        }
        if (!m_run.sites[s.site].location.empty()) {
            what.number(event_field::k_place, k_first_site + s.site);
        }
        if (m_flows.has_pieces(s.task)) {
            what.fixed(event_field::k_flows, 2 * s.task);
        }
        if (m_flows.is_target(m_lane, index)) {
            what.fixed(event_field::k_last_flows, 2 * s.task + 1);
        }
        m_flows.for_each_made(m_lane, index, [&](std::uint64_t made) {
            what.fixed(event_field::k_flows, 2 * made + 1);
        });
        m_flows.for_each_edge_from(m_lane, index, [&](std::uint64_t number) {
            what.fixed(event_field::k_flows, k_first_edge_flow + number);
        });
        m_flows.for_each_edge_to(m_lane, index, [&](std::uint64_t number) {
            what.fixed(event_field::k_last_flows, k_first_edge_flow + number);
        });
        const message words = names_of(s.site);
        put_event(s.begin_ns, what, words.bytes().empty() ? nullptr : &words);
        m_open.push_back({s.task, {}, 0});
    }

    /// The interned names of a site, at their first use.
    message names_of(std::uint32_t number) {
        if (m_said[number]) {
            return {};
        }
        m_said[number] = true;
        return words_of_site(m_run.sites[number], k_first_site + number);
    }

    void close_all(std::uint64_t at) {
        while (!m_open.empty()) {
            put_last_end(at);
        }
    }

    void write_parked(const interval& i) {
        close_all(i.begin_ns);
        put_event(i.begin_ns,
                  event(k_begin, k_worker).number(event_field::k_name_number, k_parked));
        put_end(i.end_ns);
    }

    void write_dropped(std::uint64_t events) {
        if (events == 0) {
            return;
        }
        put(message()
                .number(packet_field::k_timestamp, m_run.duration_ns)
                .number(packet_field::k_sequence, m_sequence)
                .number(packet_field::k_sequence_flags, k_needs)
                .number(packet_field::k_previous_dropped, 1)
                .part(packet_field::k_track_event,
                      event(k_instant, k_worker)
                          .text(event_field::k_name,
                                std::to_string(events) + " events dropped: raise trace-events")));
    }

    void write_counters() {
        std::uint64_t track = k_first_counter;
        for (const series& each : m_run.counters) {
            if (!each.why.empty()) {
                continue;
            }
            put_track(message()
                          .number(track_field::k_uuid, track)
                          .number(track_field::k_parent, k_process_track)
                          .text(track_field::k_name, each.name)
                          .part(track_field::k_counter,
                                message().text(counter_field::k_unit_name, each.unit)));
            for (const auto& [at, value] : each.points) {
                put_common(at, message()
                                   .number(event_field::k_type, k_count)
                                   .number(event_field::k_track, track)
                                   .real(event_field::k_value, value));
            }
            ++track;
        }
    }

    void write_decisions() {
        if (m_run.decisions.empty()) {
            return;
        }
        put_track(message()
                      .number(track_field::k_uuid, k_decisions_track)
                      .number(track_field::k_parent, k_process_track)
                      .text(track_field::k_name, "decisions and marks"));
        for (const decision& each : m_run.decisions) {
            put_common(each.at_ns, message()
                                       .number(event_field::k_type, k_instant)
                                       .number(event_field::k_track, k_decisions_track)
                                       .text(event_field::k_name, each.who + ": " + each.what));
        }
    }

    const recording& m_run;
    std::ostream& m_to;
    const detail::flows m_flows;
    const std::uint64_t m_pid = static_cast<std::uint64_t>(::getpid());
    std::size_t m_lane = 0;
    std::uint64_t m_track = 0;  ///< that is written
    std::uint64_t m_sequence = 0;
    std::vector<bool> m_said;  ///< sites whose names this sequence has
    struct open_slice {
        std::uint64_t task;
        detail::slice_sums counted;
        std::uint32_t wait = 0;
    };
    std::vector<open_slice> m_open;
    message m_frame;
};

}  // namespace

void write_perfetto(const recording& run, std::ostream& to) { writer(run, to).write(); }

}  // namespace quern::trace
