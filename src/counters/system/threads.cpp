// SPDX-License-Identifier: BSL-1.0
// The threads of a place, and the sums over their meters.
#include <quern/counters/system_threads.hpp>

#include "core/pools_of.hpp"
#include "system/reading.hpp"
#include "system/state.hpp"

#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/process_registry.hpp>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <stdexcept>
#include <thread>
#include <utility>

namespace quern::counters {

namespace {

using detail::no_reading;
using detail::pools_of;
using topology::outcome;
using topology::unavailable;
using thread_ids = std::vector<pid_t>;

/// The threads of one worker, or of all workers of the pool.
thread_ids threads_of(const quern::detail::pool& home, std::optional<unsigned> worker) {
    thread_ids ids;
    const unsigned first = worker.value_or(0);
    const unsigned end = worker ? first + 1 : home.size();
    for (unsigned rank = first; rank < end; ++rank) {
        ids.push_back(home.at(rank).thread_id());
    }
    return ids;
}

thread_ids threads_of_process() {
    thread_ids ids;
    const std::scoped_lock lock(quern::detail::process_registry::lock());
    auto& pools = quern::detail::process_registry::of_process().pools;
    for (auto* entry = pools.front(); entry != nullptr; entry = pools.after(*entry)) {
        if (!entry->which.inherited()) {
            const thread_ids more = threads_of(entry->which, std::nullopt);
            ids.insert(ids.end(), more.begin(), more.end());
        }
    }
    return ids;
}

/// A worker's thread has no id before it runs: waits for it, usually microseconds.
template <class Ask>
outcome<thread_ids> when_begun(Ask ask) {
    constexpr auto k_pause = std::chrono::microseconds(50);
    constexpr int k_attempts = 20'000;  // a second, enough for a loaded machine
    for (int attempt = 0; attempt < k_attempts; ++attempt) {
        thread_ids ids = ask();
        if (std::find(ids.begin(), ids.end(), 0) == ids.end()) {
            return ids;
        }
        std::this_thread::sleep_for(k_pause);
    }
    return unavailable{"a worker's thread has not begun to run yet"};
}

bool is_process(const place& where) {
    return !where.worker && !where.pool && where.whole == nullptr;
}

/// Throws std::logic_error in the child of a fork().
outcome<thread_ids> find_worker(const place& where) {
    if (!where.pool) {
        return unavailable{"a worker of which pool?"};
    }
    const quern::detail::pool& home = where.pool->get();
    if (*where.worker >= home.size()) {
        return unavailable{"the pool '" + home.name() + "' has " + std::to_string(home.size()) +
                           " workers, and none with the number " + std::to_string(*where.worker)};
    }
    return when_begun([&] { return threads_of(home, where.worker); });
}

outcome<thread_ids> find_threads(const place& where) {
    try {
        if (where.worker) {
            return find_worker(where);
        }
        return when_begun([&where] {
            thread_ids ids;
            for (const pool_ref& each : pools_of(where)) {
                const thread_ids more = threads_of(each.get(), std::nullopt);
                ids.insert(ids.end(), more.begin(), more.end());
            }
            return ids;
        });
    } catch (const std::logic_error& error) {
        return unavailable{error.what()};  // the child of a fork()
    }
}

/// Whether the thread has ended, and with it the file or event that measures it.
bool is_gone(pid_t thread) {
    constexpr int k_no_signal = 0;
    return ::syscall(SYS_tgkill, ::getpid(), thread, k_no_signal) != 0 && errno == ESRCH;
}

/// Adds a reading to a sum. The sum is unavailable if a part is; it begins if all parts do.
void add(raw_reading& sum, const raw_reading& part) {
    if (sum.state == source_state::ok && part.state == source_state::ok) {
        sum.above += part.above;
        sum.begins = sum.begins && part.begins;
    } else if (sum.state == source_state::ok) {
        sum = part;
    }
}

using readings = std::vector<raw_reading>;

}  // namespace

struct per_thread_source::parts {
    struct meters {
        std::map<pid_t, std::unique_ptr<thread_meter>> of_thread;
        std::vector<double> ended;  ///< counts of ended threads
    };

    std::vector<counter_info> infos;
    maker make;
    detail::kept_state<meters> kept;

    /// Removes the meters of threads that are no longer workers and keeps their sums.
    static void retire(meters& all, const thread_ids& living);
    const readings& measure(meters& all, pid_t thread, std::map<pid_t, readings>& measured) const;
    readings sum_of(meters& all, const outcome<thread_ids>& threads,
                    std::map<pid_t, readings>& measured) const;
};

per_thread_source::per_thread_source(std::vector<counter_info> counters, maker make)
    : m_parts(new parts{std::move(counters), std::move(make), {}}) {}

per_thread_source::~per_thread_source() = default;

const std::vector<counter_info>& per_thread_source::counters() const { return m_parts->infos; }

void per_thread_source::parts::retire(meters& all, const thread_ids& living) {
    for (auto one = all.of_thread.begin(); one != all.of_thread.end();) {
        if (std::find(living.begin(), living.end(), one->first) != living.end()) {
            ++one;
            continue;
        }
        const readings last = one->second->read();
        all.ended.resize(std::max(all.ended.size(), last.size()));
        for (std::size_t i = 0; i < last.size(); ++i) {
            all.ended[i] += last[i].state == source_state::ok ? last[i].above : 0.0;
        }
        one = all.of_thread.erase(one);
    }
}

/// A thread that ended before its first measurement adds nothing.
const readings& per_thread_source::parts::measure(meters& all, pid_t thread,
                                                  std::map<pid_t, readings>& measured) const {
    const auto [entry, is_new] = measured.try_emplace(thread);
    if (is_new) {
        std::unique_ptr<thread_meter>& meter = all.of_thread[thread];
        if (meter == nullptr) {
            meter = make(thread);
        }
        entry->second = meter->read();
        for (raw_reading& one : entry->second) {
            if (one.state != source_state::ok && is_gone(thread)) {
                one = {.begins = true};
            }
        }
    }
    return entry->second;
}

readings per_thread_source::parts::sum_of(meters& all, const outcome<thread_ids>& threads,
                                          std::map<pid_t, readings>& measured) const {
    if (!threads) {
        return detail::all_alike(no_reading(unavailable{threads.reason()}), infos.size());
    }
    readings sums(infos.size(), raw_reading{.begins = true});
    for (const pid_t thread : *threads) {
        const readings& one = measure(all, thread, measured);
        for (std::size_t i = 0; i < sums.size(); ++i) {
            add(sums[i], one[i]);
        }
    }
    return sums;
}

readings per_thread_source::read(const place& where) {
    return std::move(read_all({&where, 1}).front());
}

std::vector<readings> per_thread_source::read_all(std::span<const place> places) {
    return m_parts->kept.with([&](parts::meters& all) {
        // One list for both: a thread is in it, or its meter is retired and its sums are kept.
        const outcome<thread_ids> living = when_begun(threads_of_process);
        if (living) {
            parts::retire(all, *living);
        }
        std::map<pid_t, readings> measured;
        std::vector<readings> sums;
        for (const place& where : places) {
            const bool whole = is_process(where);
            sums.push_back(m_parts->sum_of(all, whole ? living : find_threads(where), measured));
            for (std::size_t i = 0; whole && i < all.ended.size(); ++i) {
                sums.back()[i].above += all.ended[i];
                sums.back()[i].begins = sums.back()[i].begins && all.ended[i] == 0;
            }
        }
        return sums;
    });
}

}  // namespace quern::counters
