// SPDX-License-Identifier: BSL-1.0
// The field numbers of Perfetto's messages, from its protos/perfetto/trace (trace_packet.proto,
// track_event/*.proto, interned_data/interned_data.proto), and our own numbers.
#pragma once

#include "export/protobuf.hpp"

#include <quern/trace/recording.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace quern::trace::detail::perfetto {

namespace trace_field {
inline constexpr std::uint32_t k_packet = 1;
}
namespace packet_field {
inline constexpr std::uint32_t k_timestamp = 8, k_sequence = 10, k_track_event = 11,
                               k_interned_data = 12, k_sequence_flags = 13, k_previous_dropped = 42,
                               k_track_descriptor = 60;
}
namespace track_field {
inline constexpr std::uint32_t k_uuid = 1, k_name = 2, k_process = 3, k_thread = 4, k_parent = 5,
                               k_counter = 8;
}
namespace process_field {
inline constexpr std::uint32_t k_pid = 1, k_name = 6;
}
namespace thread_field {
inline constexpr std::uint32_t k_pid = 1, k_tid = 2, k_name = 5;
}
namespace counter_field {
inline constexpr std::uint32_t k_unit_name = 6;
}
namespace event_field {
inline constexpr std::uint32_t k_categories = 3, k_annotations = 4, k_type = 9, k_name_number = 10,
                               k_track = 11, k_name = 23, k_place = 34, k_value = 44, k_flows = 47,
                               k_last_flows = 48, k_category_words = 22;
}
namespace annotation_field {
inline constexpr std::uint32_t k_name_number = 1, k_unsigned = 3, k_signed = 4, k_text = 6,
                               k_name = 10;
}
namespace interned_field {
inline constexpr std::uint32_t k_categories = 1, k_event_names = 2, k_annotation_names = 3,
                               k_places = 4, k_number = 1, k_name = 2, k_line = 4;
}

enum event_type : std::uint8_t { k_begin = 1, k_end = 2, k_instant = 3, k_count = 4 };
enum category : std::uint8_t { k_task = 1, k_inlined, k_worker, k_message };
enum fixed_name : std::uint8_t { k_parked = 1, k_steal, k_first_site };
enum annotation : std::uint8_t {
    k_task_number = 1,
    k_stolen,
    k_victim,
    k_waits_for,
    k_tag,
    k_bytes,
    k_context,
    k_order,
    k_first_event
};

inline constexpr std::uint64_t k_cleared = 1;  // sequence_flags: earlier interned names are invalid
inline constexpr std::uint64_t k_needs = 2;  // sequence_flags: earlier interned names are required

// Numbers of tracks and sequences.
/// Flows of dependences; those of tasks are twice their numbers.
inline constexpr std::uint64_t k_first_edge_flow = std::uint64_t{1} << 62;

inline constexpr std::uint64_t k_process_track = 1, k_decisions_track = 2, k_outside_track = 3,
                               k_first_lane = 16, k_first_counter = 1U << 20U;
inline constexpr std::uint64_t k_common_sequence = 1, k_outside_sequence = 2, k_first_sequence = 3;

inline message named(std::uint64_t as, std::string_view text) {
    return message().number(interned_field::k_number, as).text(interned_field::k_name, text);
}

/// The words that every lane needs.
inline message words_of_lane(const recording& run) {
    message words;
    words.part(interned_field::k_categories, named(k_task, "task"))
        .part(interned_field::k_categories, named(k_inlined, "inlined"))
        .part(interned_field::k_categories, named(k_worker, "worker"))
        .part(interned_field::k_event_names, named(k_parked, "parked"))
        .part(interned_field::k_event_names, named(k_steal, "steal"))
        .part(interned_field::k_annotation_names, named(k_task_number, "task"))
        .part(interned_field::k_annotation_names, named(k_stolen, "stolen"))
        .part(interned_field::k_annotation_names, named(k_victim, "victim"))
        .part(interned_field::k_annotation_names, named(k_waits_for, "waits for"))
        .part(interned_field::k_annotation_names, named(k_tag, "tag"))
        .part(interned_field::k_annotation_names, named(k_bytes, "bytes"))
        .part(interned_field::k_annotation_names, named(k_context, "context"))
        .part(interned_field::k_annotation_names, named(k_order, "order"))
        .part(interned_field::k_categories, named(k_message, "message"));
    for (std::size_t i = 0; i < run.events.size(); ++i) {
        words.part(interned_field::k_annotation_names,
                   named(k_first_event + i, run.events[i].name));
    }
    return words;
}

/// Name and place of a site.
inline message words_of_site(const site& of, std::uint64_t as) {
    message words;
    words.part(interned_field::k_event_names, named(as, of.name));
    if (!of.location.empty()) {
        const std::size_t colon = of.location.rfind(':');
        std::uint64_t line = 0;  // where there is none
        std::from_chars(of.location.data() + colon + 1, of.location.data() + of.location.size(),
                        line);
        words.part(interned_field::k_places,
                   named(as, of.location.substr(0, colon)).number(interned_field::k_line, line));
    }
    return words;
}

}  // namespace quern::trace::detail::perfetto
