// SPDX-License-Identifier: BSL-1.0
// What other layers have told of the job, kept for recordings that end later, and late readings of
// the clock, which go to the end of traces that are written: a trace is a sequence of packets.
#include <quern/trace/job.hpp>

#include "export/perfetto_job.hpp"

#include <quern/base/detail/output_place.hpp>
#include <quern/base/detail/process.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

namespace quern::trace {

namespace {

using quern::detail::lock_of;
using quern::detail::process_lock;

/// The lock trace protects it. Lives as long as the process, which ends without memory for it.
struct known_job {
    job_place place;
    std::vector<std::string> traces;  ///< written
};

known_job& the_job() {
    static known_job& one = *new known_job;  // NOLINT(bugprone-unhandled-exception-at-new)
    return one;
}

constinit std::atomic<communication (*)() noexcept> g_read{nullptr};

/// One write at the end, so that a reader sees the packet whole or not at all.
void append(const std::string& path, const std::string& bytes) noexcept {
    const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file >= 0) {
        [[maybe_unused]] const ssize_t written = ::write(file, bytes.data(), bytes.size());
        ::close(file);
    }
}

}  // namespace

void describe_job(job_place where) {
    const std::scoped_lock lock(lock_of(process_lock::trace));
    the_job().place = std::move(where);
}

job_place job_of_process() {
    const std::scoped_lock lock(lock_of(process_lock::trace));
    return the_job().place;
}

void add_clock_reading(const clock_reading& seen) {
    std::vector<std::string> traces;
    {
        const std::scoped_lock lock(lock_of(process_lock::trace));
        if (!the_job().place.is_known()) {
            return;
        }
        the_job().place.clocks.push_back(seen);
        traces = the_job().traces;
    }
    const std::string packet =
        detail::message()
            .part(detail::perfetto::trace_field::k_packet, detail::perfetto::packet_of_clock(seen))
            .bytes();
    for (const std::string& each : traces) {
        append(each, packet);
    }
}

void read_communication_by(communication (*read)() noexcept) noexcept {
    g_read.store(read, std::memory_order_relaxed);
}

namespace detail {

communication communication_now() noexcept {
    communication (*const read)() noexcept = g_read.load(std::memory_order_relaxed);
    return read != nullptr ? read() : communication{};
}

bool knows_communication() noexcept { return g_read.load(std::memory_order_relaxed) != nullptr; }

void trace_was_written(const std::string& path) {
    if (quern::detail::standard_stream(path) != nullptr || quern::detail::is_special(path)) {
        return;
    }
    const std::scoped_lock lock(lock_of(process_lock::trace));
    the_job().traces.push_back(path);
}

}  // namespace detail

}  // namespace quern::trace
