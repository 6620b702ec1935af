// SPDX-License-Identifier: BSL-1.0
// Writes events and counts tasks, on the worker; about 20 ns each.
#include "record/track.hpp"

#include <quern/trace/recording.hpp>

#include <algorithm>
#include <new>

namespace quern::trace::detail {

namespace {

/// Shorter pieces between two inlined tasks are left out: a task that only runs others would need
/// two events per inlined task.
constexpr double k_shortest_gap_ns = 1'000;

unsigned flags_of(const piece& p) noexcept {
    const quern::detail::traced_task& t = p.task.trace;
    return (t.pieces == 1 ? piece_flags::k_first : 0) |
           (p.how == piece_end::suspended ? piece_flags::k_suspended : 0) |
           (p.how == piece_end::covered ? piece_flags::k_covered : 0) |
           (t.is_inlined ? piece_flags::k_inlined : 0) | (t.is_stolen ? piece_flags::k_stolen : 0) |
           (p.is_continued ? piece_flags::k_continued : 0);
}

}  // namespace

void track::piece_begins(bool adjoins) noexcept {
    if (m_meter != nullptr) {
        m_meter->begin(adjoins);
    }
}

/// The counts of the piece, or null. An unsampled long task has none; sampled tasks represent it.
const event_sums* track::measured(const piece& ended) noexcept {
    return m_meter != nullptr && ended.task.trace.weight != 0 ? m_meter->end() : nullptr;
}

void track::piece_ends(const piece& ended) noexcept {
    const event_sums* const events = measured(ended);
    if (ended.task.trace.did_nothing) {
        return;
    }
    const std::uint16_t site = m_sites.find(ended.task);
    count(ended, site);
    m_sites.at(site).add(m_sleeps.piece(ended.rank, ended.begin, ended.end));
    if (events != nullptr) {
        m_sites.at(site).events.add(*events, ended.task.trace.weight);
        m_read.add(*events);
    }
    const tick_count begin = std::max(ended.begin, m_start);
    const tick_count length = ended.end - std::min(begin, ended.end);
    const bool is_gap = ended.is_continued && ended.how == piece_end::covered &&
                        length < quern::detail::ticks_of_ns(k_shortest_gap_ns);
    if (m_most == 0 || is_gap) {
        return;
    }
    if (event* const e = room()) {
        const quern::detail::traced_task& t = ended.task.trace;
        const std::uint64_t waited =
            ended.ready_at != 0 && ended.begin >= ended.ready_at
                ? std::min((ended.begin - ended.ready_at) / event::k_unit, event::k_unknown)
                : event::k_unknown;
        e->begin_site = {since_start(begin), site};
        e->length_kind = {length, flags_of(ended) << 8U | unsigned(event_kind::piece)};
        e->task_wait = {ended.task.id, waited >> 16U};
        e->cause_wait = {t.pieces == 1 ? t.parent : ended.cause, waited & 0xffffU};
        keep(events);
    }
}

/// Stores the counts of the last written event.
void track::keep(const event_sums* counted) noexcept {
    const std::size_t counts = counts_each();
    for (std::size_t i = 0; i < counts; ++i) {
        m_counts.back()[(m_size - 1) % k_chunk * counts + i] =
            counted != nullptr && counted->counted != 0
                ? static_cast<std::uint64_t>(counted->scaled(i))
                : k_unknown_count;
    }
}

void track::count(const piece& ended, std::uint16_t site) noexcept {
    site_count& s = m_sites.at(site);
    const quern::detail::traced_task& t = ended.task.trace;
    const std::uint64_t weight = t.stands_for();
    s.phases += ended.is_continued ? 0 : weight;
    s.suspensions += ended.how == piece_end::suspended ? weight : 0;
    if (ended.how == piece_end::ended) {
        s.time.add(static_cast<double>(tick_count{t.spent}) * quern::detail::ns_per_tick(), weight);
        const bool is_beside = ended.task.outer == &quern::detail::g_creator_aside;
        s.inlined += t.is_inlined || is_beside ? weight : 0;
        s.stolen += t.is_stolen ? weight : 0;
        ++m_seen;
    }
}

/// The event has the index of the wait in place of a site.
bool track::waited(const task_wait& wait) noexcept {
    const task_wait here{std::max(wait.begin, m_start), std::max(wait.end, m_start), wait.why,
                         wait.task};
    const std::uint16_t site = m_sites.find(wait.task);
    m_sites.at(site).waited += here.end - here.begin;
    const auto [index, wants_place] = m_waits.add(here, site);
    m_last_wait = index;
    if (event* const e = m_most != 0 ? room() : nullptr) {
        *e = {.begin_site = {since_start(here.begin), index},
              .length_kind = {here.end - here.begin, unsigned(event_kind::wait)},
              .task_wait = {wait.task.id, 0}};
    }
    return wants_place;
}

void track::placed(const task_wait&, const quern::detail::call_chain& calls) noexcept {
    if (m_last_wait != wait_table::k_others) {
        m_waits.place(m_last_wait, calls);
    }
}

void track::parked(std::uint32_t, tick_count begin, tick_count end) noexcept {
    m_sleeps.parked(end - begin);
    if (event* const e = m_most != 0 ? room() : nullptr) {
        *e = {.begin_site = {since_start(begin), 0},
              .length_kind = {end - std::max(begin, m_start), unsigned(event_kind::parked)}};
    }
}

void track::stole(std::uint32_t, std::uint32_t victim, tick_count at) noexcept {
    if (event* const e = m_most != 0 ? room() : nullptr) {
        *e = {.begin_site = {since_start(at), 0},
              .length_kind = {0, unsigned(event_kind::theft)},
              .task_wait = {victim, 0}};
    }
}

void track::passed(const message_info& what, std::uint64_t task, tick_count at) noexcept {
    if (m_most - m_size == 1) {  // room for half of it
        ++m_dropped;
        return;
    }
    if (event* const e = m_most != 0 ? room() : nullptr) {
        const unsigned kind = unsigned(event_kind::message) | (what.is_sent ? 1U : 0U) << 8U;
        *e = {.begin_site = {since_start(at), 0},
              .length_kind = {what.bytes, kind},
              .task_wait = {task, 0},
              .cause_wait = event::pack_ends(what.peer, what.tag)};
        if (event* const more = room()) {
            *more = {.begin_site = {what.order, 0},
                     .length_kind = {what.context, unsigned(event_kind::message_more)}};
        }
    }
}

event* track::room() noexcept {
    if (m_size == m_most) {
        ++m_dropped;
        return nullptr;
    }
    if (m_size % k_chunk == 0) {
        try {
            if (const std::size_t counts = counts_each(); counts != 0) {
                m_counts.resize(m_chunks.size());  // one chunk may already exist
                m_counts.push_back(
                    std::make_unique_for_overwrite<std::uint64_t[]>(k_chunk * counts));
            }
            m_chunks.push_back(std::make_unique_for_overwrite<event[]>(k_chunk));
        } catch (const std::bad_alloc&) {
            ++m_dropped;
            return nullptr;
        }
    }
    event* const e = &m_chunks.back()[m_size % k_chunk];
    ++m_size;
    return e;
}

void track::forget_events() noexcept {
    m_chunks.clear();
    m_counts.clear();
    m_size = 0;
}

}  // namespace quern::trace::detail
