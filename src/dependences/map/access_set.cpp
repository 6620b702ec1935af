// SPDX-License-Identifier: BSL-1.0
// Memory of the sets of accesses in a fragment.
#include <quern/dependences/detail/access_set.hpp>
#include <quern/dependences/detail/graph_recording.hpp>

#include <algorithm>
#include <utility>

namespace quern::detail {

access_set::access_set(const access_set& other) : access_set() {
    writer_rank none = k_no_writer;
    for (access_record* const each : other) {
        add(*each, none);
    }
}

access_set::~access_set() {
    clear();
    if (m_capacity != k_inside) {
        delete[] m_outside;
    }
}

void access_set::swap(access_set& other) noexcept {
    static_assert(sizeof(m_inside) >= sizeof(m_outside));
    std::swap(m_size, other.m_size);
    std::swap(m_capacity, other.m_capacity);
    std::swap(m_inside, other.m_inside);  // the bytes of either
}

bool access_set::operator==(const access_set& other) const noexcept {
    return std::equal(begin(), end(), other.begin(), other.end());
}

void access_set::add(access_record& one, writer_rank& last_writer) {
    if (m_size == m_capacity) {
        remove_released(last_writer);
        if (m_size > m_capacity / 2) {
            grow();
        }
    }
    data()[m_size++] = &one;
    one.owner.add_map_reference();
}

void access_set::grow() {
    const std::uint32_t room = 4 * m_capacity;
    auto** const larger = new access_record*[room];
    std::copy(begin(), end(), larger);
    if (m_capacity != k_inside) {
        delete[] m_outside;
    }
    m_outside = larger;
    m_capacity = room;
}

/// A task that comes later need not wait for them. A recording wants to see them.
void access_set::remove_released(writer_rank& last_writer) noexcept {
    const graph_recording* const recording = current_graph_recording();
    if (m_size == 0 || (recording != nullptr && recording->wants_edges())) {
        return;
    }
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < m_size; ++i) {
        access_record* const each = data()[i];
        if (each->successors.is_released()) {
            if (each->last_writer != k_no_writer) [[unlikely]] {
                last_writer = each->last_writer;
            }
            each->owner.drop_map_reference();
        } else {
            data()[kept++] = each;
        }
    }
    m_size = kept;
}

void access_set::clear() noexcept {
    for (std::uint32_t i = 0; i < m_size; ++i) {
        data()[i]->owner.drop_map_reference();
    }
    m_size = 0;
}

}  // namespace quern::detail
