// SPDX-License-Identifier: BSL-1.0
// Statistics of the workers and all totals as OpenMetrics text over HTTP, for Prometheus and its
// like: the setting metrics-port. Format: the OpenMetrics specification 1.0.0; times are in
// seconds, as it wants.
#include "live/answers.hpp"
#include "print/openmetrics.hpp"

#include <quern/scheduler/detail/worker_figures.hpp>
#include <quern/version.hpp>

namespace quern::detail {

namespace {

using counters::counter_kind;
using counters::detail::openmetrics;

void add_worker(openmetrics& out, const openmetrics::labels& where, const worker_view& seen) {
    const auto add = [&](std::string_view name, counter_kind kind, std::string_view help,
                         double value) {
        const bool is_time = name.ends_with("_ns");
        const std::string_view plain = name.substr(0, name.size() - (is_time ? 3 : 0));
        out.add(
            "quern_" + std::string(plain), is_time ? "ns" : "", kind,
            [help] { return std::string(help); }, where, value);
    };
    for (const worker_figure& each : k_worker_figures) {
        each.with(seen.totals, seen.totals, [&](auto value, auto) {
            add(each.name, counter_kind::sum, each.help, static_cast<double>(value));
        });
    }
    add("blocked_ns", counter_kind::sum,
        "part of the time in task bodies in which the thread slept in the kernel", seen.blocked_ns);
    add("lost_ns", counter_kind::sum,
        "time in which the thread was ready and had no processor, in tasks or idle", seen.lost_ns);
    add("queued", counter_kind::level, "ready items in the queues of the worker",
        static_cast<double>(seen.queued));
}

std::string open_metrics() {
    const std::vector<runtime_view> all = view_of_runtimes();
    openmetrics out;
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (const pool_view& pool : all[i]) {
            for (const worker_view& worker : pool.workers) {
                add_worker(out,
                           {{"runtime", std::to_string(i)},
                            {"pool", pool.name},
                            {"worker", std::to_string(worker.rank)}},
                           worker);
            }
        }
    }
    add_totals(out);
    return out.take();
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
