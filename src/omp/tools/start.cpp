// SPDX-License-Identifier: BSL-1.0
// Finds the tool of the process, begins and ends with it.
#include "core/crew.hpp"
#include "core/settings.hpp"
#include "tools/state.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace quern::omp::tools {

constinit std::atomic<tool*> g_tool{nullptr};

namespace {

constexpr unsigned k_version = 202011;  ///< of OpenMP 5.1
constexpr const char* k_name = "Quern";

/// Where OMP_TOOL_VERBOSE_INIT wants the search to be told; null: nowhere.
class search_log {
public:
    search_log() noexcept {
        const char* const where = std::getenv("OMP_TOOL_VERBOSE_INIT");
        if (where == nullptr || std::string_view(where) == "disabled") {
            return;
        }
        const std::string_view asked = where;
        m_to = asked == "stdout" ? stdout : asked == "stderr" ? stderr : std::fopen(where, "a");
        m_is_file = m_to != nullptr && m_to != stdout && m_to != stderr;
        if (m_to == nullptr) {
            std::fprintf(stderr,
                         "quern: OMP_TOOL_VERBOSE_INIT = '%s' is not used: the file cannot be "
                         "written; accepted: disabled, stdout, stderr or the name of a file\n",
                         where);
        }
    }
    search_log(const search_log&) = delete;
    search_log& operator=(const search_log&) = delete;
    ~search_log() {
        if (m_is_file) {
            std::fclose(m_to);
        }
    }
    void say(const std::string& line) const noexcept {
        if (m_to != nullptr) {
            std::fprintf(m_to, "quern: tools: %s\n", line.c_str());
        }
    }

private:
    std::FILE* m_to = nullptr;
    bool m_is_file = false;
};

bool tools_are_enabled() noexcept {
    const char* const value = std::getenv("OMP_TOOL");
    if (value == nullptr || std::string_view(value) == "enabled") {
        return true;
    }
    if (std::string_view(value) != "disabled") {
        std::fprintf(stderr, "quern: OMP_TOOL = '%s' is not used; accepted: enabled or disabled\n",
                     value);
        return true;
    }
    return false;
}

start_result* ask(void* where, const std::string& named, const search_log& log) {
    const auto start_tool = reinterpret_cast<start_function>(::dlsym(where, "ompt_start_tool"));
    if (start_tool == nullptr) {
        log.say(named + " has no function ompt_start_tool");
        return nullptr;
    }
    start_result* const result = start_tool(k_version, k_name);
    log.say(named + (result != nullptr ? " has a tool" : " has a tool that is not to be used"));
    return result;
}

start_result* ask_library(const std::string& path, const search_log& log) {
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::fprintf(stderr, "quern: OMP_TOOL_LIBRARIES: '%s' is not used: %s\n", path.c_str(),
                     ::dlerror());
        return nullptr;
    }
    start_result* const result = ask(library, path, log);
    if (result == nullptr) {
        ::dlclose(library);
    }
    return result;
}

start_result* find_tool(const search_log& log) {
    if (start_result* const own = ask(RTLD_DEFAULT, "the process", log)) {
        return own;
    }
    const char* const listed = std::getenv("OMP_TOOL_LIBRARIES");
    std::string_view left = listed != nullptr ? listed : "";
    while (!left.empty()) {
        const std::size_t end = left.find(':');
        const std::string path(left.substr(0, end));
        left = end == std::string_view::npos ? "" : left.substr(end + 1);
        if (!path.empty()) {
            if (start_result* const found = ask_library(path, log)) {
                return found;
            }
        }
    }
    return nullptr;
}

/// Ends the threads of the main thread's crews first, so that the tool learns of their ends.
void finalize_tool() noexcept {
    tool* const ended = g_tool.load(std::memory_order_acquire);
    if (ended == nullptr) {
        return;
    }
    dismiss_crews_of_thread();
    first_team_ends();
    g_tool.store(nullptr, std::memory_order_seq_cst);
    ended->started->finalize(&ended->started->data);
}

}  // namespace

tool& the_tool() noexcept {
    static constinit tool only;
    return only;
}

void finalize_now() noexcept { finalize_tool(); }

namespace {

void begin_with_tool() {
    if (!tools_are_enabled()) {
        return;
    }
    const search_log log;
    start_result* const found = find_tool(log);
    if (found == nullptr) {
        log.say("no tool is used");
        return;
    }
    tool& only = the_tool();
    only.started = found;
    // Callbacks are set while it initializes, and none is called before it has.
    const int wanted = found->initialize(look_up, 0, &found->data);
    log.say(wanted != 0 ? "the tool has been initialized" : "the tool does not want to be used");
    if (wanted != 0) {
        g_tool.store(&only, std::memory_order_seq_cst);
        std::atexit([] { finalize_tool(); });
    }
}

}  // namespace

void start() noexcept {
    static const bool once = (begin_with_tool(), true);
    static_cast<void>(once);
}

}  // namespace quern::omp::tools
