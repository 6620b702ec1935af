// SPDX-License-Identifier: BSL-1.0
// What a trace says of the process's place in a job: instants on the track of the process. Written
// by perfetto.cpp and job.cpp, read where traces are joined (merge/). Private to the layer.
#pragma once

#include "export/perfetto_numbers.hpp"
#include "export/protobuf.hpp"

#include <quern/trace/recording.hpp>

#include <string>
#include <string_view>

namespace quern::trace::detail::perfetto {

/// The category of these instants, and the name of one that has a reading of the clock. Of the
/// others each is named "rank 2 of 4".
inline constexpr std::string_view k_job_category = "job", k_clock_name = "clock of rank 0";

/// The names of the arguments.
namespace job_argument {
inline constexpr std::string_view k_job = "job", k_rank = "rank", k_ranks = "ranks",
                                  k_runtime = "runtime", k_begun = "begun_ns", k_ended = "ended_ns",
                                  k_duration = "duration_ns", k_at = "at_ns", k_offset = "ahead_ns",
                                  k_round_trip = "round_trip_ns";
}

inline message job_event(std::string_view name) {
    return message()
        .number(event_field::k_type, k_instant)
        .number(event_field::k_track, k_process_track)
        .text(event_field::k_category_words, k_job_category)
        .text(event_field::k_name, name);
}

inline message job_number(std::string_view name, std::uint64_t value) {
    return message()
        .text(annotation_field::k_name, name)
        .number(annotation_field::k_unsigned, value);
}

/// A packet of the trace at its beginning.
inline message job_packet(const message& event) {
    return message()
        .number(packet_field::k_timestamp, 0)
        .number(packet_field::k_sequence, k_common_sequence)
        .part(packet_field::k_track_event, event);
}

inline message packet_of_place(const recording& run) {
    constexpr std::uint32_t k_argument = event_field::k_annotations;
    const job_place& job = run.job;
    return job_packet(
        job_event("rank " + std::to_string(job.rank) + " of " + std::to_string(job.ranks))
            .part(k_argument, message()
                                  .text(annotation_field::k_name, job_argument::k_job)
                                  .text(annotation_field::k_text, job.job))
            .part(k_argument,
                  job_number(job_argument::k_rank, static_cast<std::uint64_t>(job.rank)))
            .part(k_argument,
                  job_number(job_argument::k_ranks, static_cast<std::uint64_t>(job.ranks)))
            .part(k_argument, job_number(job_argument::k_runtime, run.number))
            .part(k_argument, job_number(job_argument::k_begun, run.begun_ns))
            .part(k_argument, job_number(job_argument::k_ended, run.ended_ns))
            .part(k_argument, job_number(job_argument::k_duration, run.duration_ns)));
}

inline message packet_of_clock(const clock_reading& seen) {
    constexpr std::uint32_t k_argument = event_field::k_annotations;
    return job_packet(
        job_event(k_clock_name)
            .part(k_argument, job_number(job_argument::k_at, seen.at_ns))
            .part(k_argument, message()
                                  .text(annotation_field::k_name, job_argument::k_offset)
                                  .number(annotation_field::k_signed,
                                          static_cast<std::uint64_t>(seen.offset_ns)))
            .part(k_argument, job_number(job_argument::k_round_trip, seen.round_trip_ns)));
}

}  // namespace quern::trace::detail::perfetto
