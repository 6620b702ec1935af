// SPDX-License-Identifier: BSL-1.0
// Reads sources at places, and computes values against a baseline.
#include "core/readings.hpp"

#include <algorithm>

namespace quern::counters::detail {

namespace {

constexpr const char* k_ended = "the runtime has ended";
constexpr const char* k_nothing = "nothing has been counted yet";
constexpr const char* k_begins = "counted from now on; ask again";

}  // namespace

readings::position readings::add(const found_counter& one) {
    const auto is_its = [&one](const column& c) { return c.from == one.from; };
    auto holder = std::find_if(m_columns.begin(), m_columns.end(), is_its);
    if (holder == m_columns.end()) {
        holder = m_columns.insert(holder, column{one.from, {}, {}, {}});
    }
    auto row = std::find(holder->where.begin(), holder->where.end(), one.where);
    if (row == holder->where.end()) {
        row = holder->where.insert(row, one.where);
    }
    return {static_cast<std::size_t>(holder - m_columns.begin()),
            static_cast<std::size_t>(row - holder->where.begin()), one.index};
}

std::vector<place> readings::places_of(const column& one, std::size_t first) const {
    std::vector<place> places;
    for (std::size_t i = first; i < one.where.size(); ++i) {
        place& each = places.emplace_back();
        each.whole = m_of->which();
        if (one.where[i].pool >= 0) {
            each.pool = m_of->pools()[static_cast<std::size_t>(one.where[i].pool)].ref;
        }
        if (one.where[i].worker >= 0) {
            each.worker = static_cast<unsigned>(one.where[i].worker);
        }
    }
    return places;
}

/// Absent if the runtime has ended, or belongs to the parent of a fork.
readings::rows readings::read_places(const column& one, std::size_t first) const {
    if (m_of->inherited() || !m_of->open.enter()) {
        raw_reading none;
        none.state = source_state::absent;
        none.why = k_ended;
        return {one.where.size() - first, {one.from->counters().size(), none}};
    }
    rows result = one.from->read_all(places_of(one, first));
    m_of->open.leave();
    return result;
}

void readings::begin_added() {
    for (column& each : m_columns) {
        const std::size_t first = each.base.size();
        if (first == each.where.size()) {
            continue;
        }
        if (m_from == baseline::start) {
            each.base.resize(each.where.size(),
                             std::vector<raw_reading>(each.from->counters().size()));
            continue;
        }
        rows added = read_places(each, first);
        std::move(added.begin(), added.end(), std::back_inserter(each.base));
    }
}

bool readings::calls_program() const noexcept {
    return std::any_of(m_columns.begin(), m_columns.end(),
                       [](const column& each) { return each.from->is_of_program(); });
}

void readings::read() {
    for (column& each : m_columns) {
        each.now = read_places(each, 0);
    }
}

void readings::rebase() {
    for (column& each : m_columns) {
        each.base = each.now;
    }
}

counter_value readings::value(const position& at) {
    column& from = m_columns[at.column];
    const raw_reading& now = from.now[at.row][at.index];
    raw_reading& base = from.base[at.row][at.index];
    const counter_info& info = from.from->counters()[at.index];
    counter_value result;
    result.state = now.state;
    result.why = now.why;
    if (now.state != source_state::ok) {
        return result;
    }
    if (m_from == baseline::start && now.begins) {
        result.state = source_state::not_yet;
        result.why = k_begins;
        return result;
    }
    if (base.state != source_state::ok) {
        base = now;  // counts from the first valid reading
    }
    // Between two readings in a row, a worker may move its last few hundred nanoseconds to another
    // phase. Times must not decrease because of that.
    const double above = std::max(now.above - base.above, 0.0);
    const double below = now.below - base.below;
    if (info.kind == counter_kind::level) {
        result.value = now.above;
    } else if (info.kind == counter_kind::sum) {
        result.value = above;
    } else if (below > 0) {
        result.value = above / below * info.scale;
    } else {
        result.state = source_state::not_yet;
        result.why = k_nothing;
    }
    return result;
}

}  // namespace quern::counters::detail
