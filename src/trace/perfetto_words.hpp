// SPDX-License-Identifier: BSL-1.0
// What the numbers of names, categories and places stand for. Each lane says it in a table of its
// own. Private to the layer.
#pragma once

#include "perfetto_numbers.hpp"
#include "protobuf.hpp"

#include <quern/trace/recording.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace quern::trace::detail::perfetto {

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
        .part(interned_field::k_annotation_names, named(k_waits_for, "waits for"));
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
