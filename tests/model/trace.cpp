// SPDX-License-Identifier: BSL-1.0
// The text half of machine.hpp: names of atomics, variables and values, and the lines of the trace.
// Names and lines exist only while a failing execution is repeated; exploring must not pay for
// them.
#include "machine.hpp"

namespace model::detail {

std::string thread_name(std::size_t thread) {
    return thread == k_main_thread ? "main" : "T" + std::to_string(thread);
}

void machine::name_atomic(object_id id, const char* text) {
    if (m_logging && id < m_object_count) m_objects[id].name = text;
}

void machine::name_value(std::uint64_t value, const char* text) {
    if (m_logging) m_value_names.emplace_back(value, text);
}

std::string machine::shown(std::uint64_t value) const {
    for (const auto& [named, text] : m_value_names)
        if (named == value) return text;
    if (value < 1'000'000) return std::to_string(value);
    constexpr char k_digits[] = "0123456789abcdef";
    std::string text;
    for (; value != 0; value >>= 4)
        text.insert(text.begin(), k_digits[value & 15]);
    return "0x" + text;
}

void machine::name_var(object_id id, const char* text) {
    if (m_logging && id < m_var_count) m_vars[id].name = text;
}

std::string machine::name_of(object_id id) const {
    if (id < m_object_count && !m_objects[id].name.empty()) return m_objects[id].name;
    return "a" + (id < m_object_count ? std::to_string(id) : std::string("?"));
}

std::string machine::name_of_var(object_id id) const {
    if (id < m_var_count && !m_vars[id].name.empty()) return m_vars[id].name;
    return "v" + (id < m_var_count ? std::to_string(id) : std::string("?"));
}

void machine::log(std::size_t thread, const std::string& text) {
    if (!m_logging) return;
    std::string line = m_step == k_none ? "" : std::to_string(m_step);
    line.insert(0, line.size() < 5 ? 5 - line.size() : 0, ' ');
    m_lines.push_back(line + "  " + thread_name(thread) + (text.front() == ' ' ? "" : " ") + text +
                      "\n");
}

std::string machine::trace() const {
    constexpr std::size_t k_shown_each =
        60;  // lines at the beginning and at the end of a long trace
    std::string text;
    for (std::size_t i = 0; i != m_lines.size(); ++i) {
        if (m_lines.size() > 2 * k_shown_each && i == k_shown_each) {
            text +=
                "  … " + std::to_string(m_lines.size() - 2 * k_shown_each) + " lines left out\n";
            i = m_lines.size() - k_shown_each;
        }
        text += m_lines[i];
    }
    return text;
}

}  // namespace model::detail
