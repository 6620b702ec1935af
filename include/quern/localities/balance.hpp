// SPDX-License-Identifier: BSL-1.0
// Objects that move to where there is time for them.
#pragma once

#include <quern/adaptation/policy.hpp>
#include <quern/base/detail/config.hpp>
#include <quern/localities/detail/balance_plan.hpp>
#include <quern/localities/object.hpp>
#include <quern/task/async.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

namespace quern::localities {

/// What a call of rebalance() has found and done.
struct rebalanced {
    std::uint64_t moved = 0;      ///< objects
    double imbalance = 1;         ///< largest load of a locality, divided by the mean
    double expected = 1;          ///< the same with the new places, if loads stay as they were
    double seconds = 0;           ///< that the moves have taken
    double gained = 1;            ///< imbalance, divided by that before the last moves; 1: none
    std::vector<double> loads{};  ///< seconds by locality, since the call before
    std::string why{};            ///< in words
};

namespace detail {

/// A balancer without its type.
class balance_core {
public:
    using move_function = std::function<future<void>(std::size_t object, int to)>;
    balance_core(std::vector<object_name> objects, const std::type_info& type, balance_rule rule,
                 move_function move);
    rebalanced rebalance();

private:
    std::vector<placed_object> take_loads() const;
    bool is_worth_it(const rebalanced& found, const std::vector<planned_move>& moves,
                     double largest_before, double largest_after, std::string& why) const;

    std::vector<object_name> m_objects;
    std::string m_type;
    balance_rule m_rule;
    move_function m_move;
    double m_seconds_a_move = 0;  ///< of the last moves; 0: not known
    double m_before_moves = 0;    ///< the imbalance before those of the call before; 0: none
};

}  // namespace detail

/// Calls rebalance() at intervals, until stop() or its own end: a policy of adaptation. A call that
/// moves nothing doubles the time to the next one, to 16 periods at most; one that moves something
/// makes it one period again. While a call is in progress no other one begins.
///
/// It must end before the session; a call that fails is said on stderr, and is the last one. Thread
/// safety: one thread at a time; not its own calls.
class rebalancing {
public:
    rebalancing() noexcept = default;
    rebalancing(std::shared_ptr<detail::balance_core> of, std::chrono::nanoseconds period);
    rebalancing(rebalancing&&) noexcept = default;
    rebalancing& operator=(rebalancing&& from) noexcept;
    ~rebalancing() { stop(); }

    /// Waits for a call in progress; none begins afterwards.
    void stop() noexcept;
    /// Calls that have ended, and objects that they have moved.
    std::uint64_t calls() const noexcept;
    std::uint64_t moved() const noexcept;

private:
    struct state;
    std::shared_ptr<state> m_state;
    adaptation::policy_handle m_policy;
};

/// Moves some of a number of objects, so that all localities have as much to do with them. The load
/// of an object is the time of its calls since rebalance() was called before, with what they wait
/// for. From the first balancer on the calls of all objects of the session are timed, some 20 ns
/// each.
///
///     struct cell { int value = 0; };
///     std::vector<quern::localities::object<cell>> cells;
///     for (int i = 0; i < 100; ++i) cells.push_back(quern::localities::make_at<cell>(0, i));
///     quern::localities::balancer<cell> balance(cells);
///     for (int step = 0; step < 50; ++step) {
///         // … calls of the cells …
///         if (step % 10 == 9) std::puts(balance.rebalance().get().why.c_str());
///     }
///
/// The rule refine moves nothing if, by what earlier moves have taken, the moves would take longer
/// than they save until the next call, if that finds the same. Each call is a decision in the log
/// of adaptation (adaptation/decisions.hpp), as "rebalance"; with the setting adapt=dry-run nothing
/// moves, with adapt=off nothing is decided.
///
/// Errors: std::logic_error without a session; from the future what migrate() gives. Thread safety:
/// rebalance() is called again after the future of the call before is ready. Cost of rebalance(): a
/// call of each locality, and the moves.
template <class T>
class balancer {
public:
    /// Begins to measure. Waits until all localities do.
    explicit balancer(const std::vector<object<T>>& objects,
                      balance_rule rule = balance_rule::refine)
        : m_core(std::make_shared<detail::balance_core>(
              names_of(objects), typeid(T), rule, [objects](std::size_t one, int to) {
                  return localities::migrate(objects[one], to);
              })) {}

    future<rebalanced> rebalance() const {
        return quern::async([core = m_core] { return core->rebalance(); });
    }

    /// Does that every `period`, first after one, until what it returns ends. Throws
    /// std::invalid_argument for a period that is not positive, and as adaptation::every().
    ///
    ///     struct cell { int value = 0; };
    ///     std::vector<quern::localities::object<cell>> cells{
    ///         quern::localities::make_at<cell>(0, 1)};
    ///     const quern::localities::balancer<cell> balance(cells);
    ///     const quern::localities::rebalancing kept =
    ///     balance.every(std::chrono::milliseconds(100));
    [[nodiscard]] rebalancing every(std::chrono::nanoseconds period) const {
        return rebalancing(m_core, period);
    }

private:
    static std::vector<object_name> names_of(const std::vector<object<T>>& objects) {
        std::vector<object_name> names;
        for (const object<T>& each : objects) {
            names.push_back(each.name());
        }
        return names;
    }

    std::shared_ptr<detail::balance_core> m_core;
};

/// Moves each object to the locality after the one where it is: a test of what a program's types
/// write and read. The future is ready when all have moved.
///
///     struct cell { int value = 0; };
///     std::vector<quern::localities::object<cell>> cells{quern::localities::make_at<cell>(0, 1)};
///     quern::localities::move_all(cells).get();
template <class T>
future<void> move_all(const std::vector<object<T>>& objects) {
    return quern::async([objects] {
        std::vector<future<void>> moves;
        for (const object<T>& each : objects) {
            const int place = each.call([](const T&) { return localities::here(); }).get();
            moves.push_back(localities::migrate(each, (place + 1) % localities::count()));
        }
        for (future<void>& each : moves) {
            each.get();
        }
    });
}

}  // namespace quern::localities
