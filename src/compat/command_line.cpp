// SPDX-License-Identifier: BSL-1.0
// Translates the options --hpx:* to Quern's settings.
#include "command_line.hpp"

#include <quern/compat/hpx/errors.hpp>
#include <quern/settings/settings.hpp>

#include <array>
#include <string_view>

namespace hpx::detail {

namespace {

/// An option of HPX and the setting that it becomes. One without a setting is accepted and ignored.
struct translation {
    std::string_view hpx;
    std::string_view quern;
};
constexpr std::array k_translations{
    translation{"threads", "threads"},
    translation{"bind", "bind"},
    translation{"queuing", "policy"},
    translation{"print-counter", "print-counter"},
    translation{"print-counter-interval", "print-counter-interval"},
    translation{"print-counter-destination", "print-counter-destination"},
    translation{"print-counter-format", "print-counter-format"},
    translation{"print-counter-at", "print-counter-at"},
    translation{"cores", ""},
    translation{"localities", ""},
    translation{"node", ""},
    translation{"nodes", ""},
    translation{"numa-sensitive", ""},
    translation{"use-process-mask", ""},  // always so
    translation{"affinity", ""},
    translation{"pu-offset", ""},
    translation{"pu-step", ""},
    translation{"high-priority-threads", ""},
    translation{"attach-debugger", ""},
    translation{"expect-connecting-localities", ""},
    translation{"run-hpx-main", ""},
    translation{"ignore-batch-env", ""},
};

/// Options of HPX without a value.
bool is_flag(std::string_view name) {
    return name == "use-process-mask" || name == "run-hpx-main" || name == "ignore-batch-env" ||
           name == "expect-connecting-localities" || name == "numa-sensitive";
}

std::string thread_count(std::string_view wanted) {
    return wanted == "all" || wanted == "cores" ? "auto" : std::string(wanted);
}

std::string value_in_quern(std::string_view setting, std::string_view value) {
    if (setting == "threads") {
        return thread_count(value);
    }
    if (setting == "policy") {
        return value == "local-priority-fifo" || value == "local-priority" ? "priority-local-fifo"
               : value == "local-priority-lifo"                            ? "priority-local-lifo"
               : value == "static" || value == "static-priority"           ? "static"
                                                                           : "work-stealing";
    }
    return std::string(value);
}

[[noreturn]] void refuse(const std::string& why) {
    throw exception(error::commandline_option_error, why);
}

void obey(const std::string& setting) {
    const std::size_t equals = setting.find('=');
    std::string key = setting.substr(0, equals);
    if (!key.empty() && key.back() == '!') {
        key.pop_back();
    }
    if (key == "hpx.os_threads" && equals != std::string::npos) {
        quern::set_setting("threads", thread_count(setting.substr(equals + 1)), setting);
    }
}

/// Iterates over the words.
class words {
public:
    words(int argc, char** argv) : m_left(argv, argv + argc) {}
    bool empty() const { return m_next == m_left.size(); }
    std::string take() { return m_left[m_next++]; }
    std::string take_value_of(const std::string& option) {
        if (empty()) {
            refuse("the required argument for option '" + option + "' is missing");
        }
        return take();
    }

private:
    std::vector<std::string> m_left;
    std::size_t m_next = 0;
};

void read_hpx_option(const std::string& word, words& rest, command_line& into) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(6, equals == std::string::npos ? equals : equals - 6);
    if (name == "help" || name == "version" || name == "info") {
        (name == "help" ? into.wants_help : into.wants_version) = true;
        return;
    }
    const auto value = [&] {
        return equals != std::string::npos ? word.substr(equals + 1) : rest.take_value_of(word);
    };
    if (name == "ini" || name == "config") {
        obey(value());
        return;
    }
    for (const translation& each : k_translations) {
        if (each.hpx == name) {
            into.runs_main_everywhere = into.runs_main_everywhere || name == "run-hpx-main";
            if (!is_flag(name)) {
                const std::string text = value();
                if (!each.quern.empty()) {
                    into.quern.push_back("--quern:" + std::string(each.quern) + "=" +
                                         value_in_quern(each.quern, text));
                }
            }
            return;
        }
    }
    refuse("unrecognised option '" + word + "'");
}

}  // namespace

command_line read_command_line(int argc, char** argv) {
    command_line read;
    words rest(argc, argv);
    read.own.push_back(rest.empty() ? "program" : rest.take());
    bool only_own = false;
    while (!rest.empty()) {
        const std::string word = rest.take();
        only_own = only_own || word == "--";
        if (!only_own && word.starts_with("--hpx:")) {
            read_hpx_option(word, rest, read);
        } else if (!only_own && word.starts_with("--quern:")) {
            read.quern.push_back(word);
        } else {
            read.own.push_back(word);
        }
    }
    return read;
}

bool runs_main_everywhere(const std::vector<std::string>& cfg) {
    for (const std::string& each : cfg) {
        if (each == "hpx.run_hpx_main!=1" || each == "hpx.run_hpx_main=1") {
            return true;
        }
    }
    return false;
}

void obey_settings(const std::vector<std::string>& cfg) {
    for (const std::string& each : cfg) {
        obey(each);
    }
}

}  // namespace hpx::detail
