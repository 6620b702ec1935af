// SPDX-License-Identifier: BSL-1.0
// model::var<T>, a plain variable whose accesses are checked for data races against the program's
// memory orders. Models use it wherever production code has unsynchronised data. An access is not a
// scheduling point: it belongs to the step before it, and the check does not depend on the order in
// which the steps happened to run.
#pragma once

#include "core.hpp"

#include <utility>

namespace model {

// Behaves as a T where a protocol uses one; operators that T lacks are not instantiated.
template <class T>
class var {
public:
    var() : var(T{}) {}
    var(T initial) : m_value(std::move(initial)), m_id(detail::create_var()) {}
    ~var() {
        detail::destroy_var(m_id);
        m_id = detail::k_dead_object;
    }
    var(const var& other) : var(other.read()) {}
    var& operator=(const var& other) {
        write(other.read());
        return *this;
    }

    [[nodiscard]] T read() const {
        detail::read_var(m_id);
        return m_value;
    }
    void write(T value) {
        detail::write_var(m_id);
        m_value = std::move(value);
    }

    operator T() const { return read(); }
    var& operator=(T value) {
        write(std::move(value));
        return *this;
    }

    T operator->() const { return read(); }
    var& operator+=(const T& n) { return *this = static_cast<T>(read() + n); }
    var& operator-=(const T& n) { return *this = static_cast<T>(read() - n); }
    var& operator++() { return *this = static_cast<T>(read() + 1); }
    var& operator--() { return *this = static_cast<T>(read() - 1); }

    [[nodiscard]] detail::object_id id() const noexcept { return m_id; }

private:
    T m_value;
    detail::object_id m_id;
};

template <class T>
void name(const var<T>& object, const char* text) noexcept {
    detail::name_var(object.id(), text);
}

}  // namespace model
