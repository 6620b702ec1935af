// SPDX-License-Identifier: BSL-1.0
// The bodies of grain_runs.hpp. Every run gets its settings through the environment, so that any
// program on Quern can be studied as it is.
#include "grain_runs.hpp"

#include "child_program.hpp"
#include "command.hpp"
#include "counter_log.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <set>
#include <stdexcept>
#include <system_error>

#include <unistd.h>

namespace quern::tool {

namespace {

constexpr double k_unknown = std::numeric_limits<double>::quiet_NaN();
constexpr const char* k_counters = "/threads{*}/*;/threadqueue/length;/runtime/uptime";

/// A folder for the counters of the runs, gone at the end.
class scratch_folder {
public:
    scratch_folder() {
        std::string path = (std::filesystem::temp_directory_path() / "quern-grain-XXXXXX").string();
        if (::mkdtemp(path.data()) == nullptr) {
            throw std::runtime_error(fmt::format("cannot make a folder like '{}'", path));
        }
        m_path = path;
    }
    ~scratch_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;

    std::string counters() const { return (m_path / "counters.json").string(); }

private:
    std::filesystem::path m_path;
};

/// One line that changes on a terminal; a line per run elsewhere.
class progress {
public:
    explicit progress(std::size_t total) : m_total(total) {}
    ~progress() { wipe(); }
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    void begin(const std::string& what) {
        if (m_terminal) {
            show(fmt::format("[{}/{}] {}{}", m_done + 1, m_total, what, remaining()));
        }
    }
    void end(const std::string& what, double seconds) {
        ++m_done;
        if (!m_terminal) {
            fmt::print(stderr, "[{}/{}] {}: {:.3f} s\n", m_done, m_total, what, seconds);
        }
    }

private:
    std::string remaining() const {
        if (m_done == 0) {
            return "";
        }
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - m_begin;
        return fmt::format(", about {:.0f} s to go", spent.count() / static_cast<double>(m_done) *
                                                         static_cast<double>(m_total - m_done));
    }
    void show(const std::string& text) {
        fmt::print(stderr, "\r{:<{}}", text, m_shown);
        std::fflush(stderr);
        m_shown = text.size();
    }
    void wipe() {
        if (m_shown != 0) {
            fmt::print(stderr, "\r{:{}}\r", "", m_shown);
        }
    }

    std::size_t m_total;
    std::size_t m_done = 0;
    std::size_t m_shown = 0;  // characters
    bool m_terminal = ::isatty(STDERR_FILENO) == 1;
    std::chrono::steady_clock::time_point m_begin = std::chrono::steady_clock::now();
};

environment_changes variables(unsigned workers, const std::string& file) {
    return {{"QUERN_THREADS", std::to_string(workers)}, {"QUERN_PRINT_COUNTER", k_counters},
            {"QUERN_PRINT_COUNTER_FORMAT", "json"},     {"QUERN_PRINT_COUNTER_DESTINATION", file},
            {"QUERN_PRINT_COUNTER_AT", "shutdown"},     {"QUERN_PRINT_COUNTER_INTERVAL", ""}};
}

/// The last lines, each indented.
std::string tail_of(const std::string& output) {
    constexpr int k_lines = 20;
    std::size_t end = output.find_last_not_of("\r\n");
    if (end == std::string::npos) {
        return "  (it has written nothing)\n";
    }
    std::size_t begin = ++end;
    for (int lines = 0; lines < k_lines && begin != 0; ++lines) {
        const std::size_t before = output.rfind('\n', begin - 1);
        begin = before == std::string::npos ? 0 : before;
    }
    std::string text = begin == 0 ? "\n" : "";
    text += output.substr(begin, end - begin);
    for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 3)) {
        text.insert(at + 1, "  ");
    }
    return text.substr(1) + "\n";
}

/// A run that cannot be part of the study; the text says why.
struct failed_run : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What a run is called in messages.
std::string described(const study& of, const sample& one) {
    return fmt::format("{} worker{}, {} {}", one.workers, one.workers == 1 ? "" : "s", of.name,
                       one.grain);
}

counter_reading read_counters(const std::string& path, const std::string& program, unsigned asked) {
    const std::optional<counter_reading> reading = read_counter_log(path);
    if (!reading) {
        throw failed_run(fmt::format(
            "quern grain: '{}' has written no counters; is it a program on Quern, does it make a "
            "runtime, does it end by itself?\n",
            program));
    }
    if (reading->workers != 0 && reading->workers != asked) {
        throw failed_run(fmt::format(
            "quern grain: '{}' ran on {} workers where {} were asked for; leave their number to "
            "QUERN_THREADS, away from its command line\n",
            program, reading->workers, asked));
    }
    return *reading;
}

void take_counters(sample& one, const counter_reading& reading) {
    for (const metric_info& info : metric_table()) {
        if (*info.counter != '\0') {
            one.values[info.id] = reading.total(info.counter);
        }
    }
}

/// The counters of the table that had no value.
std::vector<std::string> missing_counters(const counter_reading& reading) {
    std::vector<std::string> missing;
    for (const metric_info& info : metric_table()) {
        if (*info.counter != '\0' && std::isnan(reading.total(info.counter))) {
            const auto why = reading.missing.find(info.counter);
            const bool is_known = why != reading.missing.end() && !why->second.empty();
            missing.push_back(
                fmt::format("{}{}", info.counter, is_known ? " (" + why->second + ")" : ""));
        }
    }
    return missing;
}

/// Fills in one sample. Throws failed_run.
void measure(const command_template& command, const time_pattern& time, study& to, sample& one,
             const scratch_folder& scratch) {
    const std::vector<std::string> words = command.with(one.grain);
    std::filesystem::remove(scratch.counters());
    const child_outcome outcome = run_child(words, variables(one.workers, scratch.counters()));
    if (!outcome.succeeded()) {
        throw failed_run(fmt::format("quern grain: '{}' failed with {} ({}); its output ends:\n{}",
                                     words[0], outcome.how_it_ended(), described(to, one),
                                     tail_of(outcome.output)));
    }
    const counter_reading reading = read_counters(scratch.counters(), words[0], one.workers);
    const std::optional<double> told = time.find(outcome.output);
    if (!told) {
        throw failed_run(
            fmt::format("quern grain: --time matches nothing in the output of '{}':\n{}", words[0],
                        tail_of(outcome.output)));
    }
    one.values[metric::time] = *told;
    one.values[metric::wall] = outcome.wall_s;
    one.values[metric::processor] = outcome.cpu_s;
    take_counters(one, reading);
    if (to.samples.empty()) {
        to.missing = missing_counters(reading);
    }
}

/// Every run of the study, in order.
std::vector<sample> planned(const study& of) {
    std::vector<sample> runs;
    for (unsigned repetition = 0; repetition < of.repetitions; ++repetition) {
        for (const unsigned workers : of.workers) {
            for (const grain_size grain : of.grains) {
                runs.push_back({workers, grain, repetition, {}});
            }
        }
    }
    return runs;
}

}  // namespace

time_pattern::time_pattern(const std::string& expression) {
    if (expression.empty()) {
        return;
    }
    try {
        m_expression.emplace(expression);
    } catch (const std::regex_error& error) {
        throw usage_error(
            fmt::format("quern grain: --time is '{}', which is no regular expression: {}",
                        expression, error.what()));
    }
    if (m_expression->mark_count() != 1) {
        throw usage_error(
            fmt::format("quern grain: --time is '{}'; accepted: a regular expression with "
                        "one group for the seconds, such as 'time +([0-9.]+) s'",
                        expression));
    }
}

std::optional<double> time_pattern::find(const std::string& output) const {
    if (!m_expression) {
        return k_unknown;
    }
    std::smatch match;
    double seconds = 0;
    if (!std::regex_search(output, match, *m_expression)) {
        return {};
    }
    const std::string digits = match[1];
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
    const bool is_number = error == std::errc{} && end == digits.data() + digits.size();
    return is_number ? std::optional(seconds) : std::nullopt;
}

run_outcome run_all(const command_template& command, const time_pattern& time, study& to) {
    const interruption watched;
    const scratch_folder scratch;
    std::vector<sample> runs = planned(to);
    progress shown(runs.size());
    for (sample& one : runs) {
        const std::string what = described(to, one);
        shown.begin(what);
        try {
            measure(command, time, to, one, scratch);
        } catch (const failed_run& failure) {
            return interruption::asked() ? run_outcome{true, ""}
                                         : run_outcome{false, failure.what()};
        }
        to.samples.push_back(one);
        shown.end(what, one.values[metric::wall]);
        if (interruption::asked()) {
            return {true, ""};
        }
    }
    to.is_complete = true;
    return {};
}

}  // namespace quern::tool
