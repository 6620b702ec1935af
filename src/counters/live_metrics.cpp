// SPDX-License-Identifier: BSL-1.0
// Statistics of the workers and all totals as OpenMetrics text over HTTP, for Prometheus and its
// like: the setting metrics-port. Format: the OpenMetrics specification 1.0.0; times are in
// seconds, as it wants.
#include "live_answers.hpp"

#include <quern/version.hpp>

#include <array>
#include <charconv>

namespace quern::detail {

namespace {

struct family {
    std::string_view name;  ///< without "_total", which counters get
    std::string_view type;
    std::string_view help;
    double (*value)(const worker_view& of);
};

constexpr double k_seconds_per_ns = 1e-9;

constexpr family k_of_workers[] = {
    {"quern_running_seconds", "counter", "time in task bodies",
     [](const worker_view& w) { return k_seconds_per_ns * w.totals.running_ns; }},
    {"quern_managing_seconds", "counter", "time of the scheduler itself",
     [](const worker_view& w) { return k_seconds_per_ns * w.totals.managing_ns; }},
    {"quern_blocked_seconds", "counter",
     "part of the time in task bodies in which the thread slept in the kernel",
     [](const worker_view& w) { return k_seconds_per_ns * w.blocked_ns; }},
    {"quern_idle_seconds", "counter", "time without work",
     [](const worker_view& w) { return k_seconds_per_ns * w.totals.idle_ns; }},
    {"quern_tasks", "counter", "tasks run to their end",
     [](const worker_view& w) { return static_cast<double>(w.totals.tasks); }},
    {"quern_suspensions", "counter", "times a task gave up its worker",
     [](const worker_view& w) { return static_cast<double>(w.totals.suspensions); }},
    {"quern_stolen", "counter", "items taken from another worker",
     [](const worker_view& w) { return static_cast<double>(w.totals.stolen); }},
    {"quern_queued", "gauge", "ready items in the queues of the worker",
     [](const worker_view& w) { return static_cast<double>(w.queued); }},
};

std::string number(double value) {
    std::array<char, 32> digits;
    return {digits.begin(), std::to_chars(digits.begin(), digits.end(), value).ptr};
}

/// The value of a label: quotes, backslashes and ends of lines are escaped.
std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
        }
        out += c == '\n' ? ' ' : c;
    }
    return out + "\"";
}

void add_pool(std::string& out, const family& what, std::size_t runtime, const pool_view& pool) {
    for (const worker_view& worker : pool.workers) {
        out.append(what.name).append(what.type == "counter" ? "_total" : "");
        out.append("{runtime=\"").append(std::to_string(runtime)).append("\",pool=");
        out.append(quoted(pool.name)).append(",worker=\"").append(std::to_string(worker.rank));
        out.append("\"} ").append(number(what.value(worker))).append("\n");
    }
}

void add_head(std::string& out, const family& what) {
    constexpr std::string_view k_seconds = "seconds";
    const std::string name(what.name);
    out.append("# TYPE " + name + " ").append(what.type).append("\n");
    if (what.name.ends_with(k_seconds)) {
        out.append("# UNIT " + name + " ").append(k_seconds).append("\n");
    }
    out.append("# HELP " + name + " ").append(what.help).append("\n");
}

std::string open_metrics() {
    const std::vector<runtime_view> all = view_of_runtimes();
    std::string out;
    for (const family& what : k_of_workers) {
        std::string samples;
        for (std::size_t i = 0; i < all.size(); ++i) {
            for (const pool_view& pool : all[i]) {
                add_pool(samples, what, i, pool);
            }
        }
        if (!samples.empty()) {
            add_head(out, what);
            out += samples;
        }
    }
    return out + totals_as_metrics();
}

std::string response(std::string_view status, std::string_view type, const std::string& body) {
    std::string out = "HTTP/1.1 ";
    out.append(status).append("\r\nContent-Type: ").append(type);
    out.append("\r\nContent-Length: ").append(std::to_string(body.size()));
    return out.append("\r\nConnection: close\r\n\r\n").append(body);
}

}  // namespace

std::string live_answers::answer_http(std::string_view request_line) {
    const std::size_t method_end = request_line.find(' ');
    const std::string_view method = request_line.substr(0, method_end);
    if (method_end == std::string_view::npos || method != "GET") {
        return response("405 Method Not Allowed", "text/plain", "only GET is answered\n");
    }
    std::string_view path = request_line.substr(method_end + 1);
    path = path.substr(0, path.find_first_of(" ?"));
    if (path != "/metrics") {
        return response("404 Not Found", "text/plain",
                        "quern " QUERN_VERSION_STRING ": the counters are at /metrics\n");
    }
    return response("200 OK", "application/openmetrics-text; version=1.0.0; charset=utf-8",
                    open_metrics());
}

}  // namespace quern::detail
