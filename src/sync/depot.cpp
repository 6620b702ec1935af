// SPDX-License-Identifier: BSL-1.0
// Putting parcels in and taking them out.
#include <quern/sync/depot.hpp>

#include <mutex>

namespace quern::detail {

bool depot::put(parcel& p) noexcept {
    taker* heir = nullptr;
    {
        const std::scoped_lock guard(m_lock);
        if (m_closed) {
            return false;
        }
        if (m_takers.looks_empty()) {
            m_parcels.push(p);
            return true;
        }
        heir = &m_takers.pop();
        heir->got = &p;
    }
    heir->wake();
    return true;
}

parcel* depot::pop() noexcept { return m_parcels.looks_empty() ? nullptr : &m_parcels.pop(); }

parcel* depot::try_take() noexcept {
    const std::scoped_lock guard(m_lock);
    return pop();
}

parcel* depot::take() noexcept {
    if (parcel* const p = try_take()) {
        return p;
    }
    taker self;
    wait_in(self, {}, [this, &self] {
        const std::scoped_lock guard(m_lock);
        self.got = pop();
        if (self.got != nullptr || m_closed) {
            return false;
        }
        m_takers.push(self);
        return true;
    });
    return self.got;
}

void depot::close() noexcept {
    taker* without = nullptr;
    {
        const std::scoped_lock guard(m_lock);
        m_closed = true;
        without = m_takers.take_all();
    }
    wake_all(without);
}

bool depot::is_closed() const noexcept {
    const std::scoped_lock guard(m_lock);
    return m_closed;
}

}  // namespace quern::detail
