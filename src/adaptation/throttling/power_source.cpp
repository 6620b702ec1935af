// SPDX-License-Identifier: BSL-1.0
// The sources of power for power_cap: the machine's counters, a series, and a model of a chip.
// Called by one throttle each, once a period.
#include <quern/adaptation/throttling.hpp>

#include <quern/base/detail/config.hpp>
#include <quern/counters/system_energy.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>

namespace quern::adaptation {

namespace {

double seconds(std::chrono::nanoseconds time) noexcept {
    return std::chrono::duration<double>(time).count();
}

class live_source final : public power_source {
public:
    explicit live_source(topology::system_root root) : m_source(std::move(root)) {
        const auto& infos = m_source.counters();
        const auto found = std::find_if(infos.begin(), infos.end(), [](const auto& each) {
            return each.name == "/power/package";
        });
        m_index = static_cast<std::size_t>(found - infos.begin());
        const counters::raw_reading first = read();
        m_joules = first.above;
        using counters::source_state;
        if (first.state == source_state::absent || first.state == source_state::denied) {
            refuse(first);
        }
    }

    std::string_view label() const noexcept override { return "live"; }

    /// A zone is stuck for its first second.
    std::optional<double> watts(const pool_ref&, std::chrono::nanoseconds since) override {
        const counters::raw_reading now = read();
        if (now.state != counters::source_state::ok) {
            m_missing += since;
            if (m_missing > k_patience) {
                refuse(now);
            }
            return std::nullopt;
        }
        m_missing = {};
        const double joules = std::exchange(m_joules, now.above);
        return since.count() > 0 ? std::optional((now.above - joules) / seconds(since))
                                 : std::nullopt;
    }

private:
    static constexpr std::chrono::seconds k_patience{3};  // a stuck zone shows after one (guessed)

    counters::raw_reading read() { return m_source.read({}).at(m_index); }

    [[noreturn]] static void refuse(const counters::raw_reading& because) {
        throw std::runtime_error("quern: power cannot be read: /power/package: " + because.why);
    }

    counters::energy_source m_source;
    std::size_t m_index = 0;
    double m_joules = 0;
    std::chrono::nanoseconds m_missing{};
};

class replayed_source final : public power_source {
public:
    explicit replayed_source(std::vector<double> watts) : m_watts(std::move(watts)) {
        if (m_watts.empty()) {
            throw std::invalid_argument("quern: replayed_power() needs a number of watts");
        }
    }

    std::string_view label() const noexcept override { return "replayed"; }
    std::optional<double> watts(const pool_ref&, std::chrono::nanoseconds) override {
        return m_watts[m_next++ % m_watts.size()];
    }

private:
    std::vector<double> m_watts;
    std::size_t m_next = 0;
};

class simulated_source final : public power_source {
public:
    explicit simulated_source(const simulated_chip& chip)
        : m_chip(chip), m_watts(chip.idle_watts) {}

    std::string_view label() const noexcept override { return "simulated"; }
    std::optional<double> watts(const pool_ref& of, std::chrono::nanoseconds since) override {
        const double target = m_chip.idle_watts + m_chip.watts_per_worker * running(of, since);
        const double share =
            m_chip.lag.count() > 0 ? 1 - std::exp(-seconds(since) / seconds(m_chip.lag)) : 1;
        m_watts += share * (target - m_watts);
        return m_watts;
    }

private:
    /// On average since the last call. A library without counters knows only how many may.
    double running(const pool_ref& of, std::chrono::nanoseconds since) {
        if (!quern::detail::k_counters) {
            return of.active_workers();
        }
        const worker_totals now = of.totals();
        const double busy_ns = now.running_ns + now.managing_ns;
        const double spent = busy_ns - std::exchange(m_busy_ns, busy_ns);
        return since.count() > 0 ? std::clamp(spent / static_cast<double>(since.count()), 0.0,
                                              static_cast<double>(of.workers()))
                                 : 0;
    }

    const simulated_chip m_chip;
    double m_watts;
    double m_busy_ns = 0;
};

}  // namespace

std::shared_ptr<power_source> live_power(topology::system_root root) {
    return std::make_shared<live_source>(std::move(root));
}

std::shared_ptr<power_source> replayed_power(std::vector<double> watts) {
    return std::make_shared<replayed_source>(std::move(watts));
}

std::shared_ptr<power_source> simulated_power(const simulated_chip& chip) {
    return std::make_shared<simulated_source>(chip);
}

}  // namespace quern::adaptation
