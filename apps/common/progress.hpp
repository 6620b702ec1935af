// SPDX-License-Identifier: BSL-1.0
// A progress bar on standard error, for runs of seconds. Silent when standard error is not a
// terminal, so that logs stay clean. Used by one task at a time.
#pragma once

#include "measure.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string>

#include <unistd.h>

namespace apps {

class progress_bar {
public:
    explicit progress_bar(std::string label)
        : m_label(std::move(label)), m_terminal(isatty(STDERR_FILENO) == 1) {}
    ~progress_bar() {
        if (m_shown) {
            fmt::print(stderr, "\r{:{}}\r", "", m_label.size() + k_width + 12);  // erases the bar
        }
    }
    progress_bar(const progress_bar&) = delete;
    progress_bar& operator=(const progress_bar&) = delete;

    void show(std::size_t done, std::size_t total) {
        constexpr auto k_interval = std::chrono::milliseconds(100);  // faster is unreadable
        const auto now = clock::now();
        if (!m_terminal || now - m_last < k_interval) {
            return;
        }
        m_last = now;
        m_shown = true;
        const std::size_t filled = k_width * done / total;
        fmt::print(stderr, "\r{} [{:=<{}}{:{}}] {:3} %", m_label, "", filled, "", k_width - filled,
                   100 * done / total);
        std::fflush(stderr);
    }

private:
    static constexpr std::size_t k_width = 40;  // characters

    std::string m_label;
    bool m_terminal;
    bool m_shown = false;
    clock::time_point m_last{};
};

}  // namespace apps
