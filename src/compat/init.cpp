// SPDX-License-Identifier: BSL-1.0
// The runtime of an HPX program, from init or start to its end.
#include "command_line.hpp"

#include <quern/compat/hpx/errors.hpp>
#include <quern/compat/hpx/init.hpp>
#include <quern/scheduler/crash_handler.hpp>
#include <quern/settings/settings.hpp>
#include <quern/sync/event.hpp>
#include <quern/task/async.hpp>
#include <quern/task/thread.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

namespace hpx {

namespace {

/// The state of a running program.
struct running {
    std::optional<quern::runtime> runtime;
    bool has_job = false;
    bool runs_main_everywhere = false;
    bool runs_main = false;
    std::vector<std::unique_ptr<threads::thread_pool_base>> pools;
    std::vector<std::string> names;
    std::vector<std::string> words;  ///< of the command line that hpx_main gets
    std::vector<char*> argv;
    program_options::variables_map options;
    shutdown_function_type shutdown;
    quern::event finalized;
    quern::event has_started;  ///< the startup functions have run
    quern::future<int> result;
};

std::unique_ptr<running>& present() {
    static std::unique_ptr<running> one;
    return one;
}

struct registered {
    std::vector<startup_function_type> startup;
    std::vector<shutdown_function_type> shutdown;
};
registered& callbacks() {
    static registered all;
    return all;
}

std::optional<detail::job_of_localities>& localities() {
    static std::optional<detail::job_of_localities> known;
    return known;
}

running& require_running() {
    if (present() == nullptr) {
        throw exception(error::invalid_status, "the runtime is not running");
    }
    return *present();
}

/// False: it printed an answer or an error; `status` has the result.
bool read_options(running& r, int argc, char** argv, const init_params& params, int& status) {
    detail::obey_settings(params.cfg);
    detail::command_line line = detail::read_command_line(argc, argv);
    r.words = line.own;
    r.runs_main_everywhere = line.runs_main_everywhere || detail::runs_main_everywhere(params.cfg);
    std::vector<std::string> for_quern{r.words.front()};
    for_quern.insert(for_quern.end(), line.quern.begin(), line.quern.end());
    std::vector<char*> pointers;
    pointers.reserve(for_quern.size() + 1);
    for (std::string& each : for_quern) {
        pointers.push_back(each.data());
    }
    pointers.push_back(nullptr);
    int count = static_cast<int>(for_quern.size());
    status = 0;
    if (!quern::take_command_line(count, pointers.data())) {
        return false;
    }
    const bool has_options = !params.desc_cmdline.options().empty();
    const bool asks = has_options &&
                      std::find(r.words.begin(), r.words.end(), "--help") != r.words.end() &&
                      params.desc_cmdline.find_nothrow("help") == nullptr;
    if (line.wants_help || asks) {
        std::cout << params.desc_cmdline << '\n' << quern::settings_help();
        return false;
    }
    if (line.wants_version) {
        std::cout << "HPX's names on Quern\n";
        return false;
    }
    program_options::command_line_parser parser(
        std::vector<std::string>(r.words.begin() + 1, r.words.end()));
    parser.options(params.desc_cmdline);
    if (!has_options) {
        parser.allow_unregistered();  // hpx_main may read argv itself
    }
    program_options::store(parser.run(), r.options);
    program_options::notify(r.options);
    return true;
}

void make_pools(running& r, const init_params& params) {
    const std::optional<unsigned> wanted = quern::current_settings().number("threads");
    if (params.rp_callback) {
        resource::partitioner p(wanted ? *wanted : quern::thread::hardware_concurrency());
        params.rp_callback(p, r.options);
        r.runtime.emplace(p.options());
    } else {
        r.runtime.emplace();
    }
    for (const quern::pool_ref pool : r.runtime->pools()) {
        r.pools.push_back(std::make_unique<threads::thread_pool_base>(pool));
        r.names.emplace_back(pool.name());
    }
}

/// The job begins, if there are localities.
void join_job(running& r, int argc, char** argv) {
    if (localities()) {
        localities()->begin(argc, argv);
        r.has_job = true;
    }
    r.runs_main = r.runs_main_everywhere || !r.has_job || localities()->is_root();
}

void run_shutdown(running& r) {
    if (r.shutdown) {
        r.shutdown();
    }
    for (const auto& each : std::exchange(callbacks().shutdown, {})) {
        each();
    }
}

void run_startup(running& r, const startup_function_type& startup) {
    const struct guard {
        ~guard() { has_started.set(); }
        quern::event& has_started;
    } at_end{r.has_started};
    for (const auto& each : std::exchange(callbacks().startup, {})) {
        each();
    }
    if (startup) {
        startup();
    }
}

/// Called by the root, within the job.
void run_shutdown_of_other() {
    running& r = *present();
    r.has_started.wait();
    run_shutdown(r);
}

int run_main(running& r, const detail::main_function& body, const startup_function_type& startup) {
    run_startup(r, startup);
    if (!r.runs_main) {
        return 0;
    }
    for (std::string& each : r.words) {
        r.argv.push_back(each.data());
    }
    r.argv.push_back(nullptr);
    int status = 0;
    if (body) {
        status = body(r.options, static_cast<int>(r.words.size()), r.argv.data());
    } else {
        r.finalized.wait();
    }
    if (r.has_job && !r.runs_main_everywhere) {
        localities()->run_at_others(&run_shutdown_of_other);
    }
    run_shutdown(r);
    return status;
}

/// What leaves it is thrown by stop(), but after the job has ended, which others may keep waiting.
void tell_early(const running& r) {
    if (!r.has_job) {
        return;
    }
    try {
        throw;
    } catch (const std::exception& error) {
        std::cerr << "hpx: hpx_main has thrown: " << error.what()
                  << "; init() throws it when no call is under way at any locality\n";
    } catch (...) {
        std::cerr << "hpx: hpx_main has thrown; init() throws it when no call is under way at any "
                     "locality\n";
    }
}

bool start_with(const detail::main_function& body, int argc, char** argv, const init_params& params,
                int& status) {
    if (present() != nullptr) {
        throw exception(error::invalid_status, "the runtime is running already");
    }
    auto r = std::make_unique<running>();
    try {
        if (!read_options(*r, argc, argv, params, status)) {
            return false;
        }
        make_pools(*r, params);
        r->shutdown = params.shutdown;
        present() = std::move(r);  // before the job begins, since others call functions then
        join_job(*present(), argc, argv);
    } catch (const std::exception& error) {
        std::cerr << "hpx::init: " << error.what() << '\n';
        present().reset();
        status = -1;
        return false;
    }
    quern::install_crash_handler();
    running& started = *present();
    started.result = quern::async(*started.runtime, [&started, body, startup = params.startup] {
        try {
            return run_main(started, body, startup);
        } catch (...) {
            tell_early(started);
            throw;
        }
    });
    return true;
}

}  // namespace

namespace detail {

int run_runtime(const main_function& body, int argc, char** argv, const init_params& params) {
    if (!body) {
        throw exception(error::bad_parameter, "hpx::init: the program has no hpx_main");
    }
    int status = 0;
    return start_with(body, argc, argv, params, status) ? stop() : status;
}

bool start_runtime(const main_function& body, int argc, char** argv, const init_params& params) {
    int status = 0;
    return start_with(body, argc, argv, params, status);
}

void set_job_of_localities(const job_of_localities& job) noexcept { localities() = job; }

}  // namespace detail

int stop() {
    running& r = require_running();
    r.result.wait();
    if (r.has_job) {
        localities()->end();
    }
    r.runtime.reset();  // waits for ready tasks
    const auto ended = std::move(present());
    return ended->result.get();
}

int finalize(double, double) {
    require_running().finalized.set();
    return 0;
}

bool is_running() noexcept { return present() != nullptr; }

void register_startup_function(startup_function_type f) {
    callbacks().startup.push_back(std::move(f));
}
void register_shutdown_function(shutdown_function_type f) {
    callbacks().shutdown.push_back(std::move(f));
}

namespace resource {

threads::thread_pool_base& get_thread_pool(std::string_view name) {
    running& r = require_running();
    const auto there = std::find(r.names.begin(), r.names.end(), name);
    if (there == r.names.end()) {
        throw exception(error::bad_parameter, "there is no pool '" + std::string(name) + "'");
    }
    return *r.pools[static_cast<std::size_t>(there - r.names.begin())];
}
threads::thread_pool_base& get_thread_pool(std::size_t index) {
    return get_thread_pool(get_pool_name(index));
}
bool pool_exists(std::string_view name) {
    const running& r = require_running();
    return std::find(r.names.begin(), r.names.end(), name) != r.names.end();
}
std::size_t get_num_thread_pools() { return require_running().pools.size(); }
std::size_t get_num_threads() {
    std::size_t all = 0;
    for (const auto& each : require_running().pools) {
        all += each->get_os_thread_count();
    }
    return all;
}
std::size_t get_num_threads(std::string_view pool) {
    return get_thread_pool(pool).get_os_thread_count();
}
const std::string& get_pool_name(std::size_t index) { return require_running().names.at(index); }

}  // namespace resource

}  // namespace hpx
