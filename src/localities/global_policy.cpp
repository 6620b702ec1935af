// SPDX-License-Identifier: BSL-1.0
// The policies of the job that this process has, by name.
#include <quern/localities/global_policy.hpp>

#include <map>
#include <stdexcept>

namespace quern::localities::detail {

namespace {

using known_policies = std::map<std::string, std::weak_ptr<global_policy_core>>;

std::mutex g_policies_lock;
known_policies g_policies;  // NOLINT(bugprone-throwing-static-initialization)

}  // namespace

global_policy_core::global_policy_core(std::string name) : m_name(std::move(name)) {
    static_cast<void>(localities::here());  // a session
    if (m_name.empty()) {
        throw std::invalid_argument("quern: localities::global_policy: it needs a name");
    }
}

global_policy_core::~global_policy_core() = default;

void global_policy_core::begin(std::chrono::nanoseconds period,
                               std::function<future<void>(adaptation::policy_context&)> decide) {
    if (period <= period.zero()) {
        throw std::invalid_argument("quern: localities::global_policy '" + m_name +
                                    "': a period of " + std::to_string(period.count()) +
                                    " ns; accepted: more than 0");
    }
    {
        const std::scoped_lock lock(g_policies_lock);
        if (!g_policies.try_emplace(m_name, weak_from_this()).second) {
            throw std::invalid_argument("quern: localities::global_policy '" + m_name +
                                        "': this locality has one of that name; accepted: another "
                                        "name, or stop() before");
        }
        m_is_known = true;
    }
    try {
        m_applies = adaptation::on(m_decided, m_name,
                                   [this](adaptation::policy_context& now) { apply(now); });
        if (localities::here() == localities::root) {
            m_decide = std::move(decide);
            m_decides =
                adaptation::every(period, m_name + " at the root",
                                  [this](adaptation::policy_context& now) { decide_if_due(now); });
        }
    } catch (...) {
        stop();
        throw;
    }
}

/// One decision at a time. Throws what has kept the last one from a locality.
void global_policy_core::decide_if_due(adaptation::policy_context& now) {
    if (!m_applies.is_active()) {
        now.stop();
        return;
    }
    if (m_sent.valid()) {
        if (!m_sent.is_ready()) {
            return;
        }
        m_sent.get();
    }
    m_sent = m_decide(now);
}

void global_policy_core::stop() noexcept {
    m_decides.stop();
    m_applies.stop();
    if (m_is_known) {
        const std::scoped_lock lock(g_policies_lock);
        g_policies.erase(m_name);
        m_is_known = false;
    }
}

bool global_policy_core::is_active() const noexcept {
    return m_applies.is_active() && (m_decide == nullptr || m_decides.is_active());
}

std::shared_ptr<global_policy_core> global_policy_core::find(const std::string& name) {
    const std::scoped_lock lock(g_policies_lock);
    const auto at = g_policies.find(name);
    return at != g_policies.end() ? at->second.lock() : nullptr;
}

void global_policy_core::refuse_type(const std::string& name) {
    throw std::logic_error("quern: localities::global_policy '" + name +
                           "': its decisions have another type at locality " +
                           std::to_string(localities::here()));
}

}  // namespace quern::localities::detail
