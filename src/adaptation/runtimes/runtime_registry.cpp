// SPDX-License-Identifier: BSL-1.0
// The list of living runtimes, and the wait of a runtime's end for the calls that hold it. Called
// by the observer of runtimes and by policies; the lock of the layer is held for short only.
#include "runtimes/runtime_registry.hpp"

#include "log/process_object.hpp"
#include "runtimes/knob_owners.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace quern::adaptation::detail {

namespace {

std::mutex& the_lock() noexcept {
    return quern::detail::lock_of(quern::detail::process_lock::adaptation);
}

using runtimes = std::vector<std::shared_ptr<living_runtime>>;

constinit process_object<runtimes> g_list{};

[[gnu::destructor(quern::detail::k_after_static_objects)]] void forget_list() { g_list.forget(); }

/// The oldest first. Requires: the lock is held.
runtimes& the_list() { return g_list.get(); }

/// Requires: the lock is held.
auto find(const runtime& which) {
    return std::find_if(the_list().begin(), the_list().end(),
                        [&](const auto& each) { return each->which == &which && each->is_here(); });
}

/// Of the calling thread: the runtime that its call of a policy holds.
[[gnu::tls_model("initial-exec")]] constinit thread_local const living_runtime* tls_held = nullptr;

}  // namespace

bool living_runtime::has(const pool_ref& one) const {
    return std::any_of(pools.begin(), pools.end(),
                       [&](const pool_ref& each) { return &each.get() == &one.get(); });
}

void runtime_starts(runtime& which) noexcept {
    try {
        auto made = std::make_shared<living_runtime>(which);
        const std::scoped_lock lock(the_lock());
        if (find(which) == the_list().end()) {
            the_list().push_back(std::move(made));
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "quern: policies do not see a runtime: %s\n", error.what());
    }
}

void runtime_ends(runtime& which) noexcept {
    std::unique_lock lock(the_lock());
    const auto found = find(which);
    if (found == the_list().end()) {
        return;
    }
    const std::shared_ptr<living_runtime> one = *found;
    the_list().erase(found);
    one->has_ended = true;
    one->ended_by_a_call = tls_held == one.get();
    const int own = one->ended_by_a_call ? 1 : 0;
    one->left.wait(lock, [&] { return one->holders == own; });
    for (const pool_ref& each : one->pools) {
        forget_owners_of(each.get());
    }
}

std::shared_ptr<living_runtime> runtime_of(const pool_ref& one) {
    const std::scoped_lock lock(the_lock());
    for (const auto& each : the_list()) {
        if (each->is_here() && each->has(one)) {
            return each;
        }
    }
    throw std::logic_error("quern: the policy's pool belongs to no runtime that is alive");
}

std::shared_ptr<living_runtime> oldest_runtime() {
    const std::scoped_lock lock(the_lock());
    for (const auto& each : the_list()) {
        if (each->is_here()) {
            return each;
        }
    }
    return nullptr;
}

runtime_hold::runtime_hold(std::shared_ptr<living_runtime> one) noexcept {
    const std::scoped_lock lock(the_lock());
    if (one != nullptr && !one->has_ended && one->is_here()) {
        m_held = std::move(one);
        ++m_held->holders;
        tls_held = m_held.get();
    }
}

/// In the child of a fork() that the call has made, the runtime is not the child's.
runtime_hold::~runtime_hold() {
    if (m_held == nullptr || !m_held->is_here()) {
        return;
    }
    tls_held = nullptr;
    const std::scoped_lock lock(the_lock());
    --m_held->holders;
    m_held->left.notify_all();
}

living_runtime* runtime_hold::get() const noexcept {
    if (m_held == nullptr) {
        return nullptr;
    }
    const std::scoped_lock lock(the_lock());
    return m_held->ended_by_a_call ? nullptr : m_held.get();
}

}  // namespace quern::adaptation::detail
