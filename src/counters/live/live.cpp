// SPDX-License-Identifier: BSL-1.0
// Lifetime of the live server, through which other processes inspect this one. It lasts from the
// start of the first runtime to the end of the last, so that a process without runtimes has no
// thread of Quern. It ends at the latest with the program or plug-in that contains Quern. Decision:
// docs/design/0009.
#include <quern/counters/detail/live.hpp>
#include <quern/counters/detail/settings.hpp>

#include "live/place.hpp"
#include "live/server.hpp"

#include <quern/base/detail/process.hpp>
#include <quern/scheduler/observers.hpp>
#include <quern/settings/settings.hpp>

#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace quern::detail {

namespace {

/// All servers of this process, including those that are ending. Guarded by the lock `live`.
constinit intrusive_list<live_server> g_servers;
/// The one that new runtimes join, or null. Guarded by the lock `live`.
constinit live_server* g_present = nullptr;

std::mutex& live_lock() noexcept { return lock_of(process_lock::live); }

/// Requires: the lock `live` is held.
live_server& present_server(bool is_live) {
    if (g_present == nullptr) {
        auto made = std::make_unique<live_server>();
        made->start(is_live);
        g_present = made.release();
        g_servers.push_back(*g_present);
    }
    return *g_present;
}

/// A port in use is no error: several instances of the program may run on one machine.
/// Requires: the lock `live` is held.
void serve_metrics(live_server& by, unsigned port, const setting_value& said) noexcept {
    if (by.metrics_port() == port) {
        return;
    }
    const int listening = by.metrics_port() == 0 ? listen_on_loopback(port) : -1;
    if (listening >= 0) {
        by.serve_metrics(listening, port);
        return;
    }
    const std::string why =
        by.metrics_port() == 0
            ? std::strerror(errno)
            : "another runtime of this process serves port " + std::to_string(by.metrics_port());
    std::fprintf(stderr, "quern: metrics-port is '%u' (%s): %s; no metrics are served there\n",
                 port, said.origin.c_str(), why.c_str());
}

/// Requires: `ended` is no longer g_present; the lock `live` is not held.
void finish(live_server& ended) noexcept {
    ended.stop();
    {
        const std::scoped_lock lock(live_lock());
        intrusive_list<live_server>::erase(ended);
        ended.close_all();
    }
    delete &ended;
}

class live_observer final : public runtime_observer {
public:
    void check(const settings& chosen) override {
        const std::string& folder = chosen.at("live-folder").text;
        if (!folder.empty() && !is_live_folder(folder)) {
            chosen.refuse("live-folder", "accepted: an absolute path of at most 83 characters");
        }
    }

    void started(runtime& which, const settings& chosen) noexcept override try {
        const bool is_live = chosen.at("live").text != "off";
        const auto port = chosen.number("metrics-port");
        if (!is_live && !port) {
            return;
        }
        const std::scoped_lock lock(live_lock());
        live_server& server = present_server(is_live);
        server.runtimes.push_back(&which);
        if (port) {
            serve_metrics(server, *port, chosen.at("metrics-port"));
        }
    } catch (const std::exception&) {
        return;  // no thread or no memory: no live server; the program is unaffected
    }

    void ends(runtime& which) noexcept override {
        live_server* ended = nullptr;
        {
            const std::scoped_lock lock(live_lock());
            if (g_present == nullptr) {
                return;
            }
            std::erase(g_present->runtimes, &which);
            if (!g_present->runtimes.empty()) {
                return;
            }
            ended = std::exchange(g_present, nullptr);
            ended->withdraw();
        }
        finish(*ended);
    }
};

constinit live_observer g_observer;

/// Only the calling thread exists in the child. The descriptors of the parent's servers are closed.
/// The memory of the servers leaks, because its state is unknown.
void begin_child() noexcept {
    for (live_server* each = g_servers.front(); each != nullptr; each = g_servers.after(*each)) {
        each->close_all();
    }
    g_servers.forget();
    g_present = nullptr;
}

[[maybe_unused]] const int k_registered = ::pthread_atfork(nullptr, nullptr, begin_child);

/// exit() inside a task bypasses the observers, so ends() was not called; clean up here.
[[gnu::destructor(k_after_static_objects)]] void stop_looking_in() {
    live_server* left = nullptr;
    {
        const std::scoped_lock lock(live_lock());
        left = std::exchange(g_present, nullptr);
        if (left != nullptr) {
            left->withdraw();
        }
    }
    if (left != nullptr) {
        finish(*left);
    }
}

}  // namespace

bool allow_looking_in() noexcept {
    // Every part of the program that includes the header may call this: a plug-in and its host.
    static constinit std::atomic<bool> is_done{false};
    if (!is_done.exchange(true, std::memory_order_relaxed)) {
        counters::detail::add_settings();
        add_observer(g_observer);
    }
    return true;
}

std::vector<runtime_view> view_of_runtimes() {
    std::vector<runtime_view> all;
    const std::scoped_lock lock(live_lock());
    if (g_present != nullptr) {
        for (const runtime* each : g_present->runtimes) {
            runtime_view& seen = all.emplace_back();
            for (const pool_ref& pool : each->pools()) {
                seen.push_back(view_of(pool));
            }
        }
    }
    return all;
}

}  // namespace quern::detail
