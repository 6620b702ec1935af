// SPDX-License-Identifier: BSL-1.0
// The settings `trace`, `profile` and `report`: a recorder for each runtime that is made while one
// of them is set, and at its end the files.
#include <quern/trace/attach.hpp>

#include "live_pools.hpp"
#include "output_file.hpp"
#include "recorder_state.hpp"

#include <quern/base/process.hpp>
#include <quern/scheduler/observers.hpp>
#include <quern/scheduler/settings.hpp>
#include <quern/trace/efficiency.hpp>
#include <quern/trace/page.hpp>
#include <quern/trace/perfetto.hpp>
#include <quern/trace/profile.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <ostream>
#include <thread>

namespace quern::trace::detail {

namespace {

using quern::detail::lock_of;
using quern::detail::process_lock;

/// A setting that asks for a file, and who writes it.
struct output {
    const char* setting;
    const char* what;
    bool has_slices;
    void (*write)(std::ostream& to, const void* run);
};

constexpr output k_outputs[] = {
    {"trace", "the trace", true,
     [](std::ostream& to, const void* run) {
         write_perfetto(*static_cast<const recording*>(run), to);
     }},
    {"report", "the report", true,
     [](std::ostream& to, const void* run) {
         write_page(*static_cast<const recording*>(run), to,
                    read_calibration(default_calibration_path()));
     }},
    {"profile", "the profile", false,
     [](std::ostream& to, const void* run) {
         const recording& what = *static_cast<const recording*>(run);
         write_profile(what, to);
         to << verdict_text(efficiency_of(what, read_calibration(default_calibration_path())));
     }},
};

struct job {
    const output* which;
    std::string path;
};

/// A runtime whose settings ask for files.
struct observed {
    runtime* which;
    unsigned number;  ///< of those of the process
    std::vector<job> jobs;
    recorder records;
};

void write_all(observed& one) noexcept {
    const auto complain = [](const std::string& what, const std::string& path,
                             const std::string& why) {
        std::fprintf(stderr, "quern: %s is lost: '%s': %s\n", what.c_str(), path.c_str(),
                     why.c_str());
    };
    try {
        const recording run = one.records.stop();
        for (const job& each : one.jobs) {
            const std::string path = numbered(each.path, one.number);
            const std::string fault = write_output(path, each.which->write, &run);
            if (!fault.empty()) {
                complain(each.which->what, path, fault);
            }
        }
    } catch (const std::exception& error) {
        complain("what was recorded", "", error.what());
    }
}

class recording_observer final : public runtime_observer {
public:
    void check(const settings&) override {}

    void started(runtime& which, const settings& chosen) noexcept override {
        try {
            take_up_pools(which);
            std::unique_ptr<observed> one = wanted_by(which, chosen);
            if (one != nullptr) {
                const std::scoped_lock lock(lock_of(process_lock::trace));
                m_observed.push_back(std::move(one));
            }
        } catch (const std::exception& error) {
            std::fprintf(stderr, "quern: nothing is recorded: %s\n", error.what());
        }
    }

    void ends(runtime& which) noexcept override {
        if (const std::unique_ptr<observed> one = take(which)) {
            write_outside_of_tasks(*one);
        }
        end_recordings(which);
        leave_pools(which);
    }

private:
    std::unique_ptr<observed> wanted_by(runtime& which, const settings& chosen) {
        std::vector<job> jobs;
        bool has_slices = false;
        for (const output& each : k_outputs) {
            const std::string& path = chosen.at(each.setting).text;
            if (!path.empty()) {
                jobs.push_back({&each, path});
                has_slices = has_slices || each.has_slices;
            }
        }
        if (jobs.empty()) {
            return nullptr;
        }
        constexpr unsigned k_events = 1'000'000;
        recorder_options options;
        options.events_per_worker =
            has_slices ? chosen.number("trace-events").value_or(k_events) : 0;
        options.chosen = &chosen;
        return std::make_unique<observed>(
            observed{&which, ++m_count, std::move(jobs), recorder(which, options)});
    }

    std::unique_ptr<observed> take(const runtime& which) noexcept {
        const std::scoped_lock lock(lock_of(process_lock::trace));
        const auto at = std::find_if(m_observed.begin(), m_observed.end(),
                                     [&](const auto& each) { return each->which == &which; });
        if (at == m_observed.end()) {
            return nullptr;
        }
        std::unique_ptr<observed> one = std::move(*at);
        m_observed.erase(at);
        return one;
    }

    /// A task that ends the process may have little stack left.
    static void write_outside_of_tasks(observed& one) noexcept {
        if (quern::detail::current_context() == nullptr) {
            write_all(one);
            return;
        }
        try {
            std::thread([&one] { write_all(one); }).join();
        } catch (const std::exception& error) {
            std::fprintf(stderr, "quern: what was recorded is lost: %s\n", error.what());
        }
    }

    static void take_up_pools(runtime& which) {
        const std::scoped_lock lock(lock_of(process_lock::trace));
        for (const pool_ref each : which.pools()) {
            live_pools().push_back(&each.get());
            listeners_take_up(each.get());
        }
    }

    static void leave_pools(runtime& which) noexcept {
        const std::scoped_lock lock(lock_of(process_lock::trace));
        for (const pool_ref each : which.pools()) {
            listeners_leave(each.get());
            std::erase(live_pools(), &each.get());
        }
    }

    std::atomic<unsigned> m_count{0};
    std::vector<std::unique_ptr<observed>> m_observed;
};

}  // namespace

std::vector<quern::detail::pool*>& live_pools() {
    static constinit std::vector<quern::detail::pool*>* all = nullptr;
    if (all == nullptr) {
        all = new std::vector<quern::detail::pool*>;
    }
    return *all;
}

}  // namespace quern::trace::detail

namespace quern::detail {

/// The observer is never destroyed: the default runtime ends when static objects do.
bool attach_trace() noexcept {
    static constinit std::atomic<bool> attached{false};
    if (!attached.exchange(true)) {
        add_observer(*new trace::detail::recording_observer);
    }
    return true;
}

}  // namespace quern::detail
