// SPDX-License-Identifier: BSL-1.0
// Policies of the whole job: one locality decides, each does what was decided.
#pragma once

#include <quern/adaptation/policy.hpp>
#include <quern/base/detail/config.hpp>
#include <quern/localities/run_at.hpp>
#include <quern/localities/session.hpp>
#include <quern/task/async.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quern::localities {

namespace detail {

/// The part that does not know the decision's type: the two policies, and the name by which
/// decisions find it.
class global_policy_core : public std::enable_shared_from_this<global_policy_core> {
public:
    /// Throws std::invalid_argument for a name that another one of this locality has.
    explicit global_policy_core(std::string name);
    global_policy_core(const global_policy_core&) = delete;
    global_policy_core& operator=(const global_policy_core&) = delete;
    virtual ~global_policy_core();

    const std::string& name() const noexcept { return m_name; }
    /// `decide` begins to send a decision, if there is one; only at the root.
    void begin(std::chrono::nanoseconds period,
               std::function<future<void>(adaptation::policy_context&)> decide);
    /// Waits for calls of both functions.
    void stop() noexcept;
    bool is_active() const noexcept;

    /// Null if there is none of that name here.
    static std::shared_ptr<global_policy_core> find(const std::string& name);
    [[noreturn]] static void refuse_type(const std::string& name);

protected:
    virtual void apply(adaptation::policy_context& now) = 0;
    /// apply() is to be called.
    void trigger() const noexcept { m_decided.fire(); }

private:
    void decide_if_due(adaptation::policy_context& now);

    const std::string m_name;
    const trace::custom_event m_decided{m_name.c_str()};
    std::function<future<void>(adaptation::policy_context&)> m_decide{};
    future<void> m_sent{};    ///< of the policy that decides
    bool m_is_known = false;  ///< by its name
    adaptation::policy_handle m_applies{};
    adaptation::policy_handle m_decides{};
};

template <class D>
class typed_global_policy final : public global_policy_core {
public:
    using apply_function = std::function<void(adaptation::policy_context&, const D&)>;

    typed_global_policy(std::string name, apply_function apply)
        : global_policy_core(std::move(name)), m_apply(std::move(apply)) {}

    void take(D decision) {
        {
            const std::scoped_lock lock(m_lock);
            m_next = std::move(decision);
        }
        trigger();
    }

private:
    void apply(adaptation::policy_context& now) override {
        std::optional<D> decision;
        {
            const std::scoped_lock lock(m_lock);
            std::swap(decision, m_next);
        }
        if (decision) {
            m_apply(now, *decision);
        }
    }

    const apply_function m_apply;
    std::mutex m_lock;
    std::optional<D> m_next{};
};

/// The action: a decision arrives.
template <class D>
void take_decision(const std::string& name, D decision) {
    const std::shared_ptr<global_policy_core> known = global_policy_core::find(name);
    if (!known) {
        return;  // not made yet, or ended
    }
    const auto its = std::dynamic_pointer_cast<typed_global_policy<D>>(known);
    if (!its) {
        global_policy_core::refuse_type(name);
    }
    its->take(std::move(decision));
}

/// Returns when all localities have it.
template <class D>
void tell_decision(const std::string& name, const D& decision) {
    std::vector<future<void>> told;
    for (const int each : localities::all()) {
        told.push_back(localities::run_at(each, &take_decision<D>, name, decision));
    }
    for (future<void>& each : told) {
        each.get();
    }
}

}  // namespace detail

/// A policy of the job: every period the root decides, and each locality, the root among them, does
/// what was decided. Each locality makes one of the same name. `decide` is called only at the root
/// and may give nothing; it reads what others publish as adaptation::global_value. `apply` is
/// called with each decision, or with the newest of several, everywhere. Both run as policies of
/// layer adaptation, on the thread for time, so neither may wait; what they set is logged as
/// theirs. The next decision is made when all localities have the last one. A locality that has not
/// made its own yet misses decisions.
///
///     using quern::adaptation::policy_context;
///     const quern::adaptation::global_value idle("idle");  // published by each locality
///     const quern::localities::global_policy<unsigned> kept(
///         std::chrono::milliseconds(100), "same-width",
///         [idle](policy_context& now) -> std::optional<unsigned> {  // at the root
///             const auto most = idle.reduce(quern::adaptation::reduction::most);
///             return most > 0.5 ? std::optional(now.get("active-workers") - 1) : std::nullopt;
///         },
///         [](policy_context& now, const unsigned& workers) {  // at each locality
///             now.set("active-workers", workers, "one of us is half idle");
///         });
///
/// Made and ended within a session. Errors: std::invalid_argument for an empty name, one that this
/// locality has already, or a period that is not positive; std::logic_error without a session. A
/// function that throws ends its policy at that locality, with a message on stderr, as in
/// adaptation::every(); so does a decision of another type than a locality expects, at the root.
/// Thread safety: one thread at a time. Cost of a decision: a task, and a call to each locality.
template <class D>
class [[nodiscard]] global_policy {
public:
    using decide_function = std::function<std::optional<D>(adaptation::policy_context&)>;
    using apply_function = std::function<void(adaptation::policy_context&, const D&)>;

    global_policy(std::chrono::nanoseconds period, std::string name, decide_function decide,
                  apply_function apply)
        : m_core(
              std::make_shared<detail::typed_global_policy<D>>(std::move(name), std::move(apply))) {
        localities::require_can_travel<D>();
        m_core->begin(period,
                      [f = std::move(decide),
                       its_name = m_core->name()](adaptation::policy_context& now) -> future<void> {
                          std::optional<D> decision = f(now);
                          if (!decision) {
                              return {};
                          }
                          // Counted, so that the session ends after it. The pool is named: the
                          // default runtime, asked for by this thread, could not end any more.
                          detail::job& of = detail::job_for("global_policy");
                          return quern::async(detail::pool_of_parcels(of),
                                              [its_name, decided = *std::move(decision),
                                               counted = detail::counted_call(of)] {
                                                  detail::tell_decision(its_name, decided);
                                              });
                      });
    }
    global_policy(global_policy&&) noexcept = default;
    global_policy& operator=(global_policy&& from) noexcept {
        if (this != &from) {
            stop();
            m_core = std::move(from.m_core);
        }
        return *this;
    }
    ~global_policy() { stop(); }

    /// When it has returned, neither function is called here any more. Waits for calls in progress.
    /// A decision that is under way from the root still comes to the others.
    void stop() noexcept {
        if (m_core) {
            m_core->stop();
        }
    }

    /// False after stop(), and when one of the policies has ended itself here.
    bool is_active() const noexcept { return m_core && m_core->is_active(); }

private:
    std::shared_ptr<detail::typed_global_policy<D>> m_core;
};

}  // namespace quern::localities
