// SPDX-License-Identifier: BSL-1.0
#include "open_requests.hpp"

#include <mutex>

namespace quern::mpi::detail {

std::atomic<std::size_t> open_requests::s_count{0};

open_requests& open_requests::of_process() noexcept {
    static open_requests& the_one =
        *new open_requests;  // NOLINT(bugprone-unhandled-exception-at-new)
    return the_one;
}

/// Sends that end at once may share one request of the library: one entry for them is enough.
void open_requests::add(MPI_Request made, const call_note& what) noexcept {
    if (made == MPI_REQUEST_NULL) {
        return;
    }
    const shared_note note = known_comms::of_process().shared(what);
    const std::scoped_lock lock(m_lock);
    m_all.insert_or_assign(number_of(made), entry{made, note, ++m_last_serial});
    s_count.store(m_all.size(), std::memory_order_relaxed);
}

std::uint64_t open_requests::serial_of(MPI_Request request) noexcept {
    const std::scoped_lock lock(m_lock);
    const auto found = m_all.find(number_of(request));
    return found == m_all.end() ? 0 : found->second.serial;
}

void open_requests::remove(MPI_Request ended, std::uint64_t serial) noexcept {
    const std::scoped_lock lock(m_lock);
    const auto found = m_all.find(number_of(ended));
    if (found != m_all.end() && found->second.serial == serial) {
        m_all.erase(found);
        s_count.store(m_all.size(), std::memory_order_relaxed);
    }
}

std::optional<shared_note> open_requests::find(MPI_Request request) noexcept {
    const std::scoped_lock lock(m_lock);
    const auto found = m_all.find(number_of(request));
    return found == m_all.end() ? std::nullopt : std::optional(found->second.note);
}

std::vector<std::pair<MPI_Request, shared_note>> open_requests::all() {
    std::vector<std::pair<MPI_Request, shared_note>> found;
    const std::scoped_lock lock(m_lock);
    for (const auto& [number, each] : m_all) {
        found.emplace_back(each.request, each.note);
    }
    return found;
}

void ended_requests::remember(int count) noexcept {
    for (int i = 0; i < count; ++i) {
        m_before.emplace_back(m_now[i], open_requests::of_process().serial_of(m_now[i]));
    }
}

void ended_requests::forget() noexcept {
    for (std::size_t i = 0; i < m_before.size(); ++i) {
        const auto& [request, serial] = m_before[i];
        if (serial != 0 && m_now[i] == MPI_REQUEST_NULL) {
            open_requests::of_process().remove(request, serial);
        }
    }
}

}  // namespace quern::mpi::detail
