// SPDX-License-Identifier: BSL-1.0
// Loads of objects from all localities, the decision, and the moves.
#include <quern/localities/balance.hpp>

#include "job.hpp"

#include <quern/adaptation/decisions.hpp>
#include <quern/localities/run_at.hpp>
#include <quern/localities/session.hpp>

#include <cereal/details/util.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <exception>

namespace quern::localities {

namespace detail {

namespace {

std::vector<object_load> loads_here(const std::vector<object_name>& names) {
    object_table& objects = detail::job_for("balancer").objects();
    objects.measure();
    std::vector<object_load> loads;
    loads.reserve(names.size());
    for (const object_name& each : names) {
        loads.push_back(objects.take_load(each));
    }
    return loads;
}

[[gnu::format(printf, 1, 2)]] std::string words(const char* format, ...) {
    std::array<char, 200> text{};
    std::va_list values;
    va_start(values, format);
    std::vsnprintf(text.data(), text.size(), format, values);
    va_end(values);
    return text.data();
}

std::string words_of(const std::vector<double>& loads) {
    constexpr std::size_t k_most = 8;
    std::string all = "ms by locality:";
    for (std::size_t i = 0; i < std::min(loads.size(), k_most); ++i) {
        all += words(" %.3g", 1e3 * loads[i]);
    }
    return loads.size() > k_most ? all + " …" : all;
}

double largest_load(const std::vector<double>& loads) {
    return *std::max_element(loads.begin(), loads.end());
}

}  // namespace

balance_core::balance_core(std::vector<object_name> objects, const std::type_info& type,
                           balance_rule rule, move_function move)
    : m_objects(std::move(objects)),
      m_type(cereal::util::demangle(type.name())),
      m_rule(rule),
      m_move(std::move(move)) {
    static_cast<void>(take_loads());
}

std::vector<placed_object> balance_core::take_loads() const {
    std::vector<future<std::vector<object_load>>> asked;
    for (const int each : localities::all()) {
        asked.push_back(localities::run_at(each, &loads_here, m_objects));
    }
    std::vector<placed_object> objects(m_objects.size());
    for (std::size_t place = 0; place < asked.size(); ++place) {
        const std::vector<object_load> loads = asked[place].get();
        for (std::size_t i = 0; i < objects.size(); ++i) {
            objects[i].load += loads[i].seconds;
            objects[i].place = loads[i].is_here ? static_cast<int>(place) : objects[i].place;
        }
    }
    return objects;
}

bool balance_core::is_worth_it(const rebalanced& found, const std::vector<planned_move>& moves,
                               double largest_before, double largest_after,
                               std::string& why) const {
    if (moves.empty()) {
        why = m_rule == balance_rule::none ? words("the rule none moves no object")
              : found.imbalance < 1.05
                  ? words("the loads are equal to %.0f %%", 100 * (found.imbalance - 1))
                  : words("no move makes the largest load smaller");
        return false;
    }
    const double gain = largest_before - largest_after;
    const double cost = m_seconds_a_move * static_cast<double>(moves.size());
    why = words("the largest load is %.2f times the mean; %zu moves make it %.2f", found.imbalance,
                moves.size(), found.expected);
    if (m_rule == balance_rule::refine && cost > gain) {
        why += words(", but would take %.3g ms and save %.3g ms", 1e3 * cost, 1e3 * gain);
        return false;
    }
    return true;
}

rebalanced balance_core::rebalance() {
    rebalanced result;
    if (adaptation::current_mode() == adaptation::mode::off) {
        result.why = "the setting adapt is off";
        return result;
    }
    const std::vector<placed_object> objects = take_loads();
    const int places = localities::count();
    result.loads = detail::loads_of(objects, places);
    result.imbalance = detail::imbalance_of(result.loads);
    const auto moves = detail::plan_moves(objects, places, m_rule);
    const std::vector<double> planned = detail::loads_of(detail::after(objects, moves), places);
    result.expected = detail::imbalance_of(planned);
    const bool is_on = adaptation::current_mode() == adaptation::mode::on;
    const bool is_chosen =
        is_worth_it(result, moves, largest_load(result.loads), largest_load(planned), result.why);
    if (m_before_moves > 0 && result.imbalance > 0) {
        result.gained = result.imbalance / m_before_moves;
        result.why += words("; before the last moves it was %.2f", m_before_moves);
    }
    m_before_moves = is_chosen && is_on ? result.imbalance : 0;
    if (is_chosen && is_on) {
        const auto begun = std::chrono::steady_clock::now();
        std::vector<future<void>> moved;
        moved.reserve(moves.size());
        for (const planned_move& each : moves) {
            moved.push_back(m_move(each.object, each.to));
        }
        for (future<void>& each : moved) {
            each.get();
        }
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begun;
        result.moved = moves.size();
        result.seconds = spent.count();
        m_seconds_a_move = spent.count() / static_cast<double>(moves.size());
    } else {
        result.expected = is_chosen ? result.expected : result.imbalance;
    }
    adaptation::log({.policy = "rebalance",
                     .subject = "places of " + std::to_string(objects.size()) + " " + m_type,
                     .unit = "times the mean",
                     .before = result.imbalance,
                     .after = result.expected,
                     .inputs = words_of(result.loads),
                     .why = result.why,
                     .predicted = result.imbalance > 0
                                      ? std::optional(result.expected / result.imbalance)
                                      : std::nullopt,
                     .applied = is_on});
    return result;
}

}  // namespace detail

struct rebalancing::state {
    explicit state(std::shared_ptr<detail::balance_core> core) : of(std::move(core)) {}

    /// On the thread for time: one call at a time.
    void begin_if_due() {
        if (is_running.load(std::memory_order_acquire) ||  // pairs with the end of run()
            has_failed.load(std::memory_order_relaxed)) {
            return;
        }
        if (left != 0) {
            --left;
            return;
        }
        // Named: the default runtime, asked for by this thread, could not end any more.
        const pool_ref where = detail::pool_of_parcels(detail::job_for("rebalancing"));
        is_running.store(true, std::memory_order_relaxed);
        last = quern::async(where, [this] { run(); });
    }
    void run() {
        std::uint64_t now_moved = 0;
        try {
            now_moved = of->rebalance().moved;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "quern: localities: rebalancing has failed, and ends: %s\n",
                         error.what());
            has_failed.store(true, std::memory_order_relaxed);
        }
        constexpr unsigned k_longest_pause = 16;  // periods (chosen)
        pause = now_moved != 0 ? 1 : std::min(2 * pause, k_longest_pause);
        left = pause - 1;
        moved.fetch_add(now_moved, std::memory_order_relaxed);
        calls.fetch_add(1, std::memory_order_relaxed);
        is_running.store(false, std::memory_order_release);  // pairs with begin_if_due()
    }

    const std::shared_ptr<detail::balance_core> of;
    std::atomic<bool> is_running{false};
    std::atomic<bool> has_failed{false};
    std::atomic<std::uint64_t> calls{0};
    std::atomic<std::uint64_t> moved{0};
    // Of the call in progress, else of the thread for time.
    unsigned pause = 1;
    unsigned left = 0;
    future<void> last{};  ///< of the thread that has only time to do with, and after it of stop()
};

rebalancing::rebalancing(std::shared_ptr<detail::balance_core> of, std::chrono::nanoseconds period)
    : m_state(std::make_shared<state>(std::move(of))),
      m_policy(adaptation::every(period, "rebalance", [now = m_state](adaptation::policy_context&) {
          now->begin_if_due();
      })) {}

rebalancing& rebalancing::operator=(rebalancing&& from) noexcept {
    if (this != &from) {
        stop();
        m_state = std::move(from.m_state);
        m_policy = std::move(from.m_policy);
    }
    return *this;
}

void rebalancing::stop() noexcept {
    m_policy.stop();
    if (m_state && m_state->last.valid()) {
        m_state->last.wait();
    }
}

std::uint64_t rebalancing::calls() const noexcept {
    return m_state ? m_state->calls.load(std::memory_order_relaxed) : 0;
}
std::uint64_t rebalancing::moved() const noexcept {
    return m_state ? m_state->moved.load(std::memory_order_relaxed) : 0;
}

}  // namespace quern::localities
