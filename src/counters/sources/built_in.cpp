// SPDX-License-Identifier: BSL-1.0
// The sources of every process.
#include "sources/built_in.hpp"

#include "core/pools_of.hpp"
#include "core/tables.hpp"
#include "system/files.hpp"
#include "system/reading.hpp"

#include <quern/base/detail/blocks.hpp>
#include <quern/counters/system_energy.hpp>
#include <quern/counters/system_events.hpp>
#include <quern/counters/system_sources.hpp>
#include <quern/scheduler/detail/blocked_time.hpp>

#include <utility>

namespace quern::counters {

namespace detail {

namespace {

/// How much memory tasks have (base/detail/blocks.hpp). It is the process's, whichever runtime is
/// asked.
class blocks final : public source {
public:
    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return false; }

    std::vector<raw_reading> read(const place&) override {
        if (quern::detail::k_asan || quern::detail::k_tsan) {
            return all_alike(no_reading(source_state::absent,
                                        "under a sanitizer each task is allocated by itself"),
                             m_infos.size());
        }
        const quern::detail::block_totals now = quern::detail::read_block_totals();
        return {reading_of(static_cast<double>(now.held)),
                reading_of(static_cast<double>(now.carved - now.waiting))};
    }

private:
    const std::vector<counter_info> m_infos = {
        {"/runtime/memory/tasks", counter_kind::level, "B",
         "memory that Quern has taken for tasks, states of futures and frames"},
        {"/runtime/memory/tasks-in-use", counter_kind::level, "B",
         "part of the memory of tasks that is in use or kept by a worker for its next tasks"}};
};

/// Time in which workers slept in the kernel in the middle of a task. Apart from the other counters
/// of workers, for it asks the kernel.
class blocked final : public source {
public:
    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return true; }

    std::vector<raw_reading> read(const place& where) override {
        raw_reading sum;
        for_each_worker(where, [&sum](quern::detail::pool& home, std::uint32_t rank) {
            const auto ns = quern::detail::read_blocked_ns(home.at(rank));
            if (ns) {
                sum.above += *ns;
            } else if (sum.state == source_state::ok) {
                sum = no_reading(source_state::absent, ns.reason());
            }
        });
        return {sum};
    }

private:
    const std::vector<counter_info> m_infos = {
        {"/threads/time/blocked", counter_kind::sum, "ns",
         "part of /threads/time/cumulative in which the worker's thread slept in the kernel: in a "
         "std::mutex, in input and output"}};
};

/// Time in which workers were ready and had no processor. Apart for the same reason. Without the
/// clocks of workers there is no share of their time.
class lost final : public source {
public:
    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return true; }

    std::vector<raw_reading> read(const place& where) override {
        raw_reading time;
        raw_reading rate;
        for_each_worker(where, [&](quern::detail::pool& home, std::uint32_t rank) {
            const auto ns = quern::detail::look_at_thread(home.at(rank));
            if (ns) {
                time.above += ns->waited_ns;
                rate.below += home.at(rank).stats().read().total_ns();
            } else if (time.state == source_state::ok) {
                time = no_reading(source_state::absent, ns.reason());
            }
        });
        if (time.state != source_state::ok) {
            return {time, time};
        }
        rate.above = time.above;
        return {time,
                quern::detail::k_counters ? rate : no_reading(source_state::absent, k_left_out)};
    }

private:
    const std::vector<counter_info> m_infos = {
        {"/threads/time/lost", counter_kind::sum, "ns",
         "time in which the worker's thread was ready and had no processor: other programs had it, "
         "or a quota was used up"},
        {"/threads/lost-rate", counter_kind::ratio, "0.01 %",
         "part of the workers' time in which they were ready and had no processor", 1e4}};
};

}  // namespace

std::vector<std::unique_ptr<source>> built_in_sources() {
    std::vector<std::unique_ptr<source>> all;
    all.push_back(threads_source());
    all.push_back(std::make_unique<blocked>());
    all.push_back(std::make_unique<lost>());
    all.push_back(queues_source());
    all.push_back(uptime_source());
    all.push_back(std::make_unique<blocks>());
    all.push_back(dependences_source());
    all.push_back(renaming_source());
    for (auto& each : system_sources()) {
        all.push_back(std::move(each));
    }
    return all;
}

}  // namespace detail

std::vector<std::unique_ptr<source>> system_sources(const topology::system_root& root) {
    std::vector<std::unique_ptr<source>> all;
    detail::add_process_sources(all, root);
    detail::add_schedule_source(all, root);
    detail::add_machine_sources(all, root);
    detail::add_group_sources(all, root);
    all.push_back(std::make_unique<energy_source>(root));
    for (auto& events :
         event_sources(root, root.real() ? topology::event_kernel::of_machine() : nullptr)) {
        all.push_back(std::move(events));
    }
    return all;
}

}  // namespace quern::counters
