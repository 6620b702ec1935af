// SPDX-License-Identifier: BSL-1.0
// Sources that measure worker threads individually: a meter per thread, created at its first
// reading, and sums of them per pool, runtime and process. The process's sum never decreases when a
// runtime ends: it keeps the last readings of the ended threads.
#pragma once

#include <quern/counters/source.hpp>

#include <sys/types.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace quern::counters {

/// Measures one thread of this process. Called by one thread at a time.
class thread_meter {
public:
    thread_meter() = default;
    thread_meter(const thread_meter&) = delete;
    thread_meter& operator=(const thread_meter&) = delete;
    virtual ~thread_meter() = default;

    /// Running sums. After the end of the thread, the last ones.
    virtual std::vector<raw_reading> read() = 0;
};

class per_thread_source final : public source {
public:
    using maker = std::function<std::unique_ptr<thread_meter>(pid_t thread)>;

    /// The counters are sums, as many as each meter reads.
    per_thread_source(std::vector<counter_info> counters, maker make);
    ~per_thread_source() override;

    const std::vector<counter_info>& counters() const override;
    bool has_workers() const override { return true; }

    /// A place without pool and runtime is the process: all its runtimes. If a thread cannot be
    /// measured, all sums that include it are unavailable.
    std::vector<raw_reading> read(const place& where) override;

    /// Measures each thread once, so that the sum over the workers is the total.
    std::vector<std::vector<raw_reading>> read_all(std::span<const place> places) override;

private:
    struct parts;

    std::unique_ptr<parts> m_parts;
};

}  // namespace quern::counters
