// SPDX-License-Identifier: BSL-1.0
// The observer of runtimes: makes them known to the registry and obeys the settings print-counter…
// and list-counters.
#include <quern/counters/detail/attach.hpp>
#include <quern/counters/detail/job_printing.hpp>
#include <quern/counters/detail/settings.hpp>

#include "core/derived.hpp"
#include "core/tables.hpp"
#include "print/printer.hpp"
#include "print/series_reader.hpp"

#include <quern/scheduler/observers.hpp>
#include <quern/settings/detail/job.hpp>
#include <quern/topology/detail/text.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <utility>

namespace quern::counters::detail {

std::vector<std::string> patterns_of(std::string_view setting) {
    std::vector<std::string> patterns;
    for (const std::string_view each : topology::detail::split(setting, ';')) {
        if (const std::string_view one = topology::detail::trim(each); !one.empty()) {
            patterns.emplace_back(one);
        }
    }
    return patterns;
}

printer::printer(const runtime& of, const settings& chosen)
    : m_format(parse_print_format(chosen.at("print-counter-format").text)),
      m_at_end(chosen.at("print-counter-at").text != "startup"),
      m_to(chosen.at("print-counter-destination").text, m_format == print_format::openmetrics),
      m_set(of),
      m_in_job(quern::detail::ranks_of_job() > 1) {
    for (const std::string& each : patterns_of(chosen.at("print-counter").text)) {
        try {
            add(each);
        } catch (const std::invalid_argument& error) {  // what only this runtime has not
            std::fprintf(stderr, "%s (this counter is not printed)\n", error.what());
        }
    }
    m_set.reset();  // one baseline for all
    m_at_end = m_at_end && m_set.size() != 0;
    if (prints() && chosen.at("print-counter-at").text != "shutdown") {
        print_now();
    }
    const auto interval = chosen.number("print-counter-interval");
    if (prints() && interval) {
        m_prints.emplace("print-counter-interval", std::chrono::milliseconds(*interval), [this] {
            const quern::detail::off_the_clock may_wait(m_set.calls_program() ||
                                                        !m_reader.is_alone());
            print_now();
        });
    }
    // Last: from here on another thread may end it.
    m_finishes.emplace(m_at_end && m_to.is_open() ? "the counters at the end" : "",
                       [this] { return print_last(); });
}

void printer::add(const std::string& pattern) {
    const job_pattern parts = m_in_job ? take_apart(pattern) : job_pattern{"", pattern};
    try {
        m_set.add(parts.at_one);
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(words_as_written(error.what(), parts));
    }
    m_localities.resize(m_set.size(), parts.localities);
}

void printer::print(const snapshot& read) {
    const std::string header = m_sequence == 0 ? header_of(read, m_format) : "";
    m_to.write(header + formatted(read, ++m_sequence, m_format), !m_reader.is_alone());
}

namespace {

template <class F>
void or_complain(F&& f) noexcept {
    try {
        f();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "quern: counters cannot be printed: %s\n", error.what());
    }
}

}  // namespace

void printer::print_now() noexcept {
    or_complain([this] {
        if (const auto read = m_reader.reading([this] { return read_alone(); })) {
            const snapshot now = read();
            if (!now.values.empty() || m_reader.is_alone()) {
                print(now);
            }
        }
    });
}

namespace {

constinit std::atomic<bool> g_alone_said{false};

bool is_of(const std::string& pattern, int locality) {
    return pattern.empty() || matches(pattern, std::to_string(locality));
}

void say_which_are_nowhere(const std::vector<std::string>& patterns, int localities) {
    for (auto each = patterns.begin(); each != patterns.end(); ++each) {
        bool is_somewhere = std::find(patterns.begin(), each, *each) != each;  // said
        for (int number = 0; number < localities && !is_somewhere; ++number) {
            is_somewhere = is_of(*each, number);
        }
        if (!is_somewhere) {
            std::fprintf(stderr,
                         "quern: print-counter names counters of locality#%s, which are not "
                         "printed; accepted: locality#0 to locality#%d, locality#*\n",
                         each->c_str(), localities - 1);
        }
    }
}

}  // namespace

/// What is of that locality.
snapshot printer::read_own(int locality) {
    snapshot read = m_set.evaluate();
    std::vector<counter_value> its;
    for (std::size_t i = 0; i < read.values.size(); ++i) {
        if (is_of(m_localities[i], locality)) {
            its.push_back(std::move(read.values[i]));
        }
    }
    read.values = std::move(its);
    return read;
}

/// Without a session of localities: this process is locality 0, and there is no other one.
snapshot printer::read_alone() {
    snapshot read = read_own(0);
    if (read.values.size() != m_set.size() && !g_alone_said.exchange(true)) {
        std::fprintf(stderr,
                     "quern: print-counter names counters of localities other than 0, and this "
                     "program has no session of localities: they are not printed\n");
    }
    return read;
}

/// No lock: the sources of a program may suspend the task that reads.
snapshot printer::read_for_job(int locality) {
    snapshot read = read_own(locality);
    for (counter_value& each : read.values) {
        each.name = name_at_locality(each.name, locality);
    }
    return read;
}

void printer::print_for_job(int localities, job_reader::function read) noexcept {
    if (read) {
        or_complain([&] { say_which_are_nowhere(m_localities, localities); });
    } else {
        end_intervals();  // else two could read at a time
    }
    m_reader.begin(std::move(read));
    m_sequence = 0;  // other names from here on
}

void printer::end_intervals() noexcept {
    const std::scoped_lock lock(m_stopping);
    m_prints.reset();
}

void printer::print_at_end(std::optional<snapshot> last) noexcept {
    const std::scoped_lock lock(m_stopping);
    m_last = last && !last->values.empty() ? std::move(last) : std::nullopt;
    m_reader.end();
}

void printer::stop() noexcept {
    const std::scoped_lock lock(m_stopping);
    if (std::exchange(m_stopped, true)) {
        return;
    }
    m_prints.reset();
    if (m_at_end && m_to.is_open() && m_reader.reads_own_last()) {
        or_complain([this] { m_last = read_alone(); });
    }
}

/// Where, in words.
std::string printer::print_last() noexcept {
    stop();
    if (!m_last || !m_at_end) {
        return "";
    }
    or_complain([this] { print(*m_last); });
    return m_to.in_words();
}

namespace {

constinit std::atomic<bool> g_attached{false};
constinit std::atomic<bool> g_listed{false};
constinit std::atomic<bool> g_idle_said{false};

/// How counters are to be printed, and none are to be: probably not what was meant.
void say_what_does_nothing(const settings& chosen) {
    for (const char* const name : {"print-counter-interval", "print-counter-destination",
                                   "print-counter-format", "print-counter-at"}) {
        const setting_value& said = chosen.at(name);
        if (said.source != setting_source::fallback && !g_idle_said.exchange(true)) {
            std::fprintf(stderr,
                         "quern: %s is '%s' (%s), which does nothing: print-counter names no "
                         "counters\n",
                         name, said.text.c_str(), said.origin.c_str());
        }
    }
}

void check_in_job(const std::string& pattern, bool is_in_job) {
    const job_pattern parts = is_in_job ? take_apart(pattern) : job_pattern{"", pattern};
    try {
        check_pattern(parts.at_one);
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(words_as_written(error.what(), parts));
    }
}

class counters_observer final : public runtime_observer {
public:
    void check(const settings& chosen) override {
        const bool is_in_job = quern::detail::ranks_of_job() > 1;
        for (const char* const setting : {"print-counter", "trace-counters"}) {
            for (const std::string& each : patterns_of(chosen.at(setting).text)) {
                try {
                    check_in_job(each, is_in_job);
                } catch (const std::invalid_argument& error) {
                    constexpr std::string_view k_ours = "quern: ";
                    chosen.refuse(setting, error.what() + k_ours.size());
                }
            }
        }
    }

    void started(runtime& which, const settings& chosen) noexcept override {
        try {
            const auto entry = add_living(which);
            const std::string& list = chosen.at("list-counters").text;
            if (list != "no" && !g_listed.exchange(true)) {
                std::string text = listed(all_counters(), list == "full");
                text += list == "full" ? listed(describe_derived(), true) : "";
                std::fputs(text.c_str(), stdout);
                std::fflush(stdout);
            }
            if (!chosen.at("print-counter").text.empty()) {
                entry->printing = std::make_shared<printer>(which, chosen);
            } else {
                say_what_does_nothing(chosen);
            }
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\nquern: the counters of this runtime are not printed\n",
                         error.what());
        }
    }

    void stops(runtime& which) noexcept override {
        if (const auto entry = find_living(which); entry && entry->printing != nullptr) {
            entry->printing->stop();
        }
    }

    void ends(runtime& which) noexcept override {
        if (const auto entry = find_living(which)) {
            if (entry->printing != nullptr) {
                entry->printing->finish();
                entry->printing.reset();
            }
            remove_living(*entry);
        }
    }
};

constinit counters_observer g_observer;

}  // namespace

bool attach() noexcept {
    if (!g_attached.exchange(true)) {
        add_settings();
        quern::detail::set_series_source(read_series);
        add_observer(g_observer);
    }
    return true;
}

}  // namespace quern::counters::detail
