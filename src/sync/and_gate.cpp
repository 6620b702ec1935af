// SPDX-License-Identifier: BSL-1.0
// The and-gate: counts inputs. The trigger is set without the spin lock. If the next generation
// completes first, the two finishing threads swap roles.
#include <quern/sync/and_gate.hpp>

#include <mutex>
#include <stdexcept>
#include <string>

#include "words.hpp"

namespace quern {

and_gate::and_gate(std::size_t inputs) : m_is_set(inputs, false), m_left(inputs) {
    if (inputs == 0) {
        throw std::invalid_argument(
            "quern::and_gate: the number of inputs is 0, accepted are 1 "
            "and more");
    }
}

/// False: the input was set already.
bool and_gate::first_time(std::size_t which, bool& is_last) noexcept {
    const std::scoped_lock guard(m_lock);
    if (m_is_set[which]) {
        return false;
    }
    m_is_set[which] = true;
    is_last = --m_left == 0;
    if (is_last) {
        m_left = m_is_set.size();
        m_is_set.assign(m_left, false);
    }
    return true;
}

bool and_gate::set(std::size_t which) {
    if (which >= m_is_set.size()) {
        throw std::out_of_range("quern::and_gate: there is no input " + std::to_string(which) +
                                ", accepted are 0 to " + std::to_string(m_is_set.size() - 1));
    }
    bool is_last = false;
    if (!first_time(which, is_last)) {
        throw std::invalid_argument("quern::and_gate: input " + std::to_string(which) +
                                    " has been set in this generation already");
    }
    if (is_last) {
        m_trigger.set();
    }
    return is_last;
}

constexpr detail::wait_kind and_gate::k_wait{"and_gate", sizeof(and_gate), look};

void and_gate::look(const void* copy, detail::wait_findings& into) noexcept {
    const auto& gate = *static_cast<const and_gate*>(copy);
    const std::size_t inputs = gate.m_is_set.size();  // a difference of addresses
    detail::say(into, "%zu of %zu inputs are set", inputs - gate.m_left, inputs);
}

}  // namespace quern
