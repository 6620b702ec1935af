// SPDX-License-Identifier: BSL-1.0
// A pool whose workers are all held by tasks and released one by one: which task a worker then
// takes, and from which queue, depends only on its policy. For tests of orders.
#pragma once

#include "on_runtime.hpp"

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quern_test {

/// The actions, and the worker of each, in order.
class journal {
public:
    void note(const std::string& what) {
        const std::scoped_lock lock(m_mutex);
        m_text += (m_text.empty() ? "" : " ") + what;
        m_ranks.push_back(quern::current_worker_rank());
    }
    std::size_t size() const {
        const std::scoped_lock lock(m_mutex);
        return m_ranks.size();
    }
    std::string text() const {
        const std::scoped_lock lock(m_mutex);
        return m_text;
    }
    std::vector<int> ranks() const {
        const std::scoped_lock lock(m_mutex);
        return m_ranks;
    }

private:
    mutable std::mutex m_mutex;
    std::string m_text;
    std::vector<int> m_ranks;
};

class held_pool {
public:
    held_pool(quern::detail::pool_description description, std::string_view policy)
        : m_pool(with_policy(std::move(description), policy)), m_places(m_pool.size()) {}

    ~held_pool() {
        release_all();
        m_pool.wait_until_quiet();
    }

    /// Returns when every worker is held. Requires: none is.
    void hold_all() {
        m_pool.wait_until_quiet();
        m_held.store(0);
        for (place& p : m_places) {  // all before the first task, which may run anywhere
            p.released.store(false);
        }
        for (std::size_t i = 0; i < m_places.size(); ++i) {
            quern::post({.pool = &m_pool}, [this] { keep(); });
        }
        EXPECT_TRUE(eventually([&] { return m_held.load() == m_pool.size(); }));
    }

    /// Runs a function in the task that holds the worker; returns when it has returned.
    void on_worker(std::uint32_t rank, std::function<void()> f) {
        m_places[rank].errand = std::move(f);
        m_places[rank].wanted.store(true);
        EXPECT_TRUE(eventually([&] { return !m_places[rank].wanted.load(); }));
    }

    void release(std::uint32_t rank) { m_places[rank].released.store(true); }
    void release_all() {
        for (place& p : m_places) {
            p.released.store(true);
        }
    }

    quern::detail::pool& get() { return m_pool; }

private:
    struct place {
        std::atomic<bool> released{false};
        std::atomic<bool> wanted{false};
        std::function<void()> errand;
    };

    static quern::detail::pool_description with_policy(quern::detail::pool_description d,
                                                       std::string_view policy) {
        d.policy = &quern::find_scheduling_policy(policy);
        return d;
    }

    void keep() {
        place& mine = m_places[static_cast<std::size_t>(quern::current_worker_rank())];
        m_held.fetch_add(1);
        while (!mine.released.load()) {
            if (mine.wanted.load()) {
                mine.errand();
                mine.wanted.store(false);
            }
            std::this_thread::yield();
        }
    }

    quern::detail::pool m_pool;
    std::vector<place> m_places;
    std::atomic<std::uint32_t> m_held{0};
};

}  // namespace quern_test
