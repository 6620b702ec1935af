// SPDX-License-Identifier: BSL-1.0
// Sources that measure the threads of workers one by one: a meter for each thread, made when it is
// first read, and sums of them for a pool, a runtime and the process. The process's sum never falls
// because a runtime has ended: what its threads had counted when they were last read stays in it.
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

    /// Running sums. When the thread has ended, the last ones.
    virtual std::vector<raw_reading> read() = 0;
};

class per_thread_source final : public source {
public:
    using maker = std::function<std::unique_ptr<thread_meter>(pid_t thread)>;

    /// The counters are sums, and as many as each meter reads.
    per_thread_source(std::vector<counter_info> counters, maker make);
    ~per_thread_source() override;

    const std::vector<counter_info>& counters() const override;
    bool has_workers() const override { return true; }

    /// A place that names neither pool nor runtime is the process: all its runtimes. Where a thread
    /// cannot be measured, neither can any sum that it belongs to.
    std::vector<raw_reading> read(const place& where) override;

    /// Each thread is measured once, so that the sum over workers is the total.
    std::vector<std::vector<raw_reading>> read_all(std::span<const place> places) override;

private:
    struct parts;

    std::unique_ptr<parts> m_parts;
};

}  // namespace quern::counters
