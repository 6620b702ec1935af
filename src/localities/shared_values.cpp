// SPDX-License-Identifier: BSL-1.0
// A task that tells the other localities what is new, until nothing is.
#include "shared_values.hpp"

#include <quern/localities/detail/parcel.hpp>
#include <quern/localities/run_at.hpp>
#include <quern/task/async.hpp>

#include <utility>
#include <vector>

namespace quern::localities::detail {

namespace {

using named_values = std::vector<std::pair<std::string, double>>;

void learn_values(int from, const named_values& values) {
    for (const auto& [name, value] : values) {
        adaptation::detail::learn_value(name, from, value);
    }
}

}  // namespace

void shared_values::tell(const std::string& name) {
    if (m_generation != quern::detail::fork_generation()) {
        return;  // the child of a fork() is no locality
    }
    std::unique_lock lock(m_lock);
    m_changed.insert(name);
    start(lock);
}

void shared_values::begin() {
    std::unique_lock lock(m_lock);
    m_is_open = true;
    start(lock);
}

void shared_values::end() noexcept {
    const std::scoped_lock lock(m_lock);
    m_is_open = false;
}

/// The task is counted as a call before end() can return, so the job ends after it.
void shared_values::start(std::unique_lock<std::mutex>& lock) {
    if (!m_is_open || m_is_sending || m_changed.empty() || m_of.count() == 1) {
        return;
    }
    counted_call counted(m_of);
    m_is_sending = true;
    lock.unlock();
    try {
        quern::post(task_attributes{.name = "global values", .pool = &m_of.pool().get()},
                    [self = shared_from_this(), its = std::move(counted)] { self->send(); });
    } catch (...) {
        lock.lock();
        m_is_sending = false;
        throw;
    }
}

void shared_values::send() {
    for (std::set<std::string> names = take_changed(); !names.empty(); names = take_changed()) {
        named_values values;
        for (const std::string& each : names) {
            values.emplace_back(each, adaptation::detail::own_value(each).value_or(0));
        }
        std::vector<future<void>> sent;
        for (int each = 0; each < m_of.count(); ++each) {
            if (each != m_rank) {
                sent.push_back(localities::run_at(each, &learn_values, m_rank, values));
            }
        }
        for (future<void>& each : sent) {
            each.wait();  // an error: it has died, or has no memory; the others are told
        }
    }
}

std::set<std::string> shared_values::take_changed() {
    const std::scoped_lock lock(m_lock);
    std::set<std::string> names = std::exchange(m_changed, {});
    m_is_sending = !names.empty();
    return names;
}

}  // namespace quern::localities::detail
