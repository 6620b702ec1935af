// SPDX-License-Identifier: BSL-1.0
// The source and the stages of pipelines, as far as they do not depend on types.
#include <quern/algorithms/detail/pipeline_gates.hpp>
#include <quern/algorithms/pipeline.hpp>
#include <quern/task/exceptions.hpp>

#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace quern::detail {

std::size_t checked_tokens(long long tokens) {
    if (tokens < 1) {
        throw std::invalid_argument("quern::pipeline: the number of items in flight is " +
                                    std::to_string(tokens) + ", accepted are 1 and more");
    }
    return static_cast<std::size_t>(tokens);
}

/// Under the lock.
bool pipeline_source::must_start() noexcept {
    if (m_busy || m_ended || m_starter_queued || m_free == nullptr) {
        return false;
    }
    m_starter_queued = true;
    return true;
}

void pipeline_source::starter_begins() noexcept {
    const std::scoped_lock guard(m_lock);
    m_starter_queued = false;
}

void pipeline_source::no_starter() noexcept { starter_begins(); }

pipeline_item* pipeline_source::claim(pipeline_item* held) noexcept {
    const std::scoped_lock guard(m_lock);
    if (m_busy || m_ended) {
        if (held != nullptr) {
            push(*held);
        }
        return nullptr;
    }
    if (held == nullptr && m_free != nullptr) {
        held = std::exchange(m_free, m_free->next);
    }
    m_busy = held != nullptr;
    return held;
}

bool pipeline_source::item_begins(pipeline_item& item) noexcept {
    const std::scoped_lock guard(m_lock);
    m_busy = false;
    item.number = m_items++;
    item.failed = false;
    return must_start();
}

void pipeline_source::ends(pipeline_item& unused) noexcept {
    const std::scoped_lock guard(m_lock);
    m_busy = false;
    m_ended = true;
    push(unused);
}

bool pipeline_source::give_back(pipeline_item* finished) noexcept {
    const std::scoped_lock guard(m_lock);
    if (finished != nullptr) {
        push(*finished);
    }
    return must_start();
}

void pipeline_source::fail(std::exception_ptr error) noexcept {
    {
        const std::scoped_lock guard(m_lock);
        m_ended = true;
        if (m_error == nullptr) {
            std::swap(m_error, error);
        }
    }
    if (error != nullptr) {
        report_exception(std::move(error), exception_origin::later_exception);
    }
}

void pipeline_source::rethrow_error() {
    if (m_error != nullptr) {
        std::rethrow_exception(std::exchange(m_error, nullptr));
    }
}

ordered_gate::ordered_gate(std::size_t tokens)
    : m_count(tokens), m_slots(std::make_unique<slot[]>(tokens)) {
    m_slots[0].store(&m_open, std::memory_order_relaxed);  // the first item has no predecessor
}

bool serial_gate::enter(pipeline_item& item) noexcept {
    const std::scoped_lock guard(m_lock);
    if (!m_busy) {
        m_busy = true;
        return true;
    }
    item.next = nullptr;
    (m_first != nullptr ? m_last->next : m_first) = &item;
    m_last = &item;
    return false;
}

pipeline_item* serial_gate::leave(const pipeline_item&) noexcept {
    const std::scoped_lock guard(m_lock);
    pipeline_item* const next = m_first;
    if (next != nullptr) {
        m_first = next->next;
    } else {
        m_busy = false;
    }
    return next;
}

}  // namespace quern::detail
