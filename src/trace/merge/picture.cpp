// SPDX-License-Identifier: BSL-1.0
// Reads a merged trace packet by packet and adds up the time of each kind of task.
#include "merge/picture.hpp"

#include "export/perfetto_job.hpp"
#include "merge/merged_words.hpp"
#include "merge/packets.hpp"

#include <algorithm>

namespace quern::trace::detail {

namespace {

using namespace perfetto;

bool is_message_flow(std::uint64_t flow) noexcept { return flow >> 61U == 1; }

class picture_reader {
public:
    picture_reader(std::uint64_t from_ns, std::uint64_t to_ns)
        : m_width(static_cast<double>(to_ns - from_ns) / double{k_picture_columns}) {
        m_made.from_ns = from_ns;
        m_made.to_ns = to_ns;
    }

    void take(std::string_view packet) {
        const packet_parts parts = parts_of(packet);
        take_words(parts.words, parts.sequence);
        if (!parts.track.empty()) {
            take_track(parts.track);
        }
        if (!parts.event.empty()) {
            take_event(parts.event, parts.at_ns, parts.sequence);
        }
    }

    picture give() {
        std::erase_if(m_made.lanes, [](const auto& each) { return each.second.name.empty(); });
        std::erase_if(m_arrows, [&](const picture_arrow& each) {
            return each.from_lane == 0 || each.to_lane == 0 || each.from_ns < m_made.from_ns ||
                   each.from_ns > m_made.to_ns;
        });
        std::sort(m_arrows.begin(), m_arrows.end(),
                  [](const auto& a, const auto& b) { return a.from_ns < b.from_ns; });
        m_made.arrows = std::move(m_arrows);
        return std::move(m_made);
    }

private:
    struct open_slice {
        std::uint64_t begin_ns;
        std::uint32_t kind;
        bool is_task;
    };

    static std::string text_in(std::string_view message, std::uint32_t number) {
        field f;
        for (fields all(message); all.next(f);) {
            if (f.number == number) {
                return std::string(f.bytes);
            }
        }
        return {};
    }

    static std::uint64_t number_in(std::string_view message, std::uint32_t number) {
        field f;
        for (fields all(message); all.next(f);) {
            if (f.number == number) {
                return f.value;
            }
        }
        return 0;
    }

    /// Names of kinds of tasks, which each sequence numbers in its own way.
    void take_words(std::string_view words, std::uint64_t sequence) {
        field f;
        for (fields all(words); all.next(f);) {
            if (f.number == interned_field::k_event_names) {
                const std::uint64_t number = number_in(f.bytes, interned_field::k_number);
                if (number >= k_first_site) {
                    m_kind[{sequence, number}] = kind_of(text_in(f.bytes, interned_field::k_name));
                }
            }
        }
    }

    std::uint32_t kind_of(const std::string& name) {
        const auto [at, is_new] =
            m_kinds.emplace(name, static_cast<std::uint32_t>(m_made.kinds.size()));
        if (is_new) {
            m_made.kinds.push_back(name);
            m_made.time_of_kind.push_back(0.0);
        }
        return at->second;
    }

    void take_track(std::string_view track) {
        const std::uint64_t number = number_in(track, track_field::k_uuid);
        const std::uint64_t parent = number_in(track, track_field::k_parent);
        field f;
        for (fields all(track); all.next(f);) {
            if (f.number == track_field::k_process) {
                m_made.processes[number] = text_in(f.bytes, process_field::k_name);
            } else if (f.number == track_field::k_thread) {
                add_lane(number, parent, text_in(f.bytes, thread_field::k_name));
            } else if (f.number == track_field::k_name && f.bytes.starts_with("messages of")) {
                add_lane(number, parent, "other threads");
            }
        }
    }

    /// Workers of the runtimes of a process that have one name share a lane: mostly one runtime
    /// follows the other.
    void add_lane(std::uint64_t track, std::uint64_t process, std::string name) {
        name.resize(std::min(name.size(), name.find(k_of_runtime)));
        const std::uint64_t lane = m_lanes.try_emplace({process, name}, track).first->second;
        m_lane_of[track] = lane;
        m_made.lanes[lane].process = process;
        m_made.lanes[lane].name = std::move(name);
    }

    /// 0: the track is none of a worker.
    std::uint64_t lane_of(std::uint64_t track) const {
        const auto known = m_lane_of.find(track);
        return known != m_lane_of.end() ? known->second : 0;
    }

    void take_event(std::string_view event, std::uint64_t at, std::uint64_t sequence) {
        std::uint64_t type = 0;
        std::uint64_t category = 0;
        std::uint64_t name = 0;
        std::uint64_t track = 0;
        field f;
        for (fields all(event); all.next(f);) {
            switch (f.number) {
                case event_field::k_type:
                    type = f.value;
                    break;
                case event_field::k_categories:
                    category = f.value;
                    break;
                case event_field::k_name_number:
                    name = f.value;
                    break;
                case event_field::k_track:
                    track = f.value;
                    break;
                case event_field::k_flows:
                case event_field::k_last_flows:
                    if (is_message_flow(f.value)) {
                        take_arrow(f.value - k_first_message_flow, f.number == event_field::k_flows,
                                   lane_of(track), at);
                    }
                    break;
                default:
                    break;
            }
        }
        if (type == k_begin) {
            const auto kind = m_kind.find({sequence, name});
            const bool is_task = kind != m_kind.end() && category != k_worker;
            m_open[track].push_back({at, is_task ? kind->second : 0, is_task});
        } else if (type == k_end && !m_open[track].empty()) {
            const open_slice ended = m_open[track].back();
            m_open[track].pop_back();
            if (ended.is_task && m_open[track].empty()) {  // not within another one
                add(m_made.lanes[lane_of(track)], ended, at);
            }
        }
    }

    void take_arrow(std::uint64_t number, bool is_begin, std::uint64_t lane, std::uint64_t at) {
        if (number >= m_arrows.size()) {
            m_arrows.resize(number + 1);
        }
        picture_arrow& arrow = m_arrows[number];
        (is_begin ? arrow.from_lane : arrow.to_lane) = lane;
        (is_begin ? arrow.from_ns : arrow.to_ns) = at;
    }

    void add(picture_lane& to, const open_slice& slice, std::uint64_t end_ns) {
        const std::uint64_t begin = std::max(slice.begin_ns, m_made.from_ns);
        const std::uint64_t end = std::min(end_ns, m_made.to_ns);
        if (begin >= end || m_width <= 0) {
            return;
        }
        m_made.time_of_kind[slice.kind] += static_cast<double>(end - begin);
        to.busy.resize(k_picture_columns);
        double from = static_cast<double>(begin - m_made.from_ns) / m_width;
        const double until = static_cast<double>(end - m_made.from_ns) / m_width;
        while (from < until) {
            const auto column = std::min(static_cast<std::size_t>(from), k_picture_columns - 1);
            const double next = column + 1 == k_picture_columns
                                    ? until
                                    : std::min(until, static_cast<double>(column + 1));
            auto& all = to.busy[column];
            auto known = std::find_if(all.begin(), all.end(),
                                      [&](const auto& each) { return each.first == slice.kind; });
            if (known == all.end()) {
                known = all.insert(all.end(), {slice.kind, 0.0});
            }
            known->second += next - from;  // a share of the stretch
            from = next;
        }
    }

    const double m_width;  ///< of a stretch, in ns
    picture m_made;
    std::map<std::pair<std::uint64_t, std::string>, std::uint64_t> m_lanes;
    std::map<std::uint64_t, std::uint64_t> m_lane_of;  ///< tracks
    std::map<std::string, std::uint32_t> m_kinds;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> m_kind;
    std::map<std::uint64_t, std::vector<open_slice>> m_open;
    std::vector<picture_arrow> m_arrows;
};

}  // namespace

picture read_picture(const std::string& merged, std::uint64_t from_ns, std::uint64_t to_ns) {
    picture_reader made(from_ns, to_ns);
    packet_reader from(merged);
    std::string_view packet;
    while (from.next(packet)) {
        made.take(packet);
    }
    return made.give();
}

}  // namespace quern::trace::detail
