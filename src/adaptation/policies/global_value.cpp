// SPDX-License-Identifier: BSL-1.0
// The values of this process and what is known of others, behind the lock of the layer. Called by
// policies; never waits.
#include <quern/adaptation/global_value.hpp>

#include "log/process_object.hpp"

#include <quern/adaptation/detail/value_carrier.hpp>
#include <quern/base/detail/process.hpp>
#include <quern/settings/detail/job.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

namespace quern::adaptation {

namespace {

struct known_values {
    std::map<std::string, std::map<int, double>> all;  ///< by name and rank
    int rank = 0;                                      ///< of this process
    bool of_others = false;                            ///< they have been carried
    std::shared_ptr<detail::value_carrier> carrier;
};

constinit detail::process_object<known_values> g_values{};

[[gnu::destructor(quern::detail::k_after_static_objects)]] void forget_values() {
    g_values.forget();
}

/// Requires: the lock is held.
known_values& known() { return g_values.get(); }

std::mutex& the_lock() noexcept {
    return quern::detail::lock_of(quern::detail::process_lock::adaptation);
}

/// Requires: the lock is held.
std::optional<double> value_of(const std::string& name, int rank) {
    const auto found = known().all.find(name);
    if (found == known().all.end()) {
        return std::nullopt;
    }
    const auto its = found->second.find(rank);
    return its != found->second.end() ? std::optional(its->second) : std::nullopt;
}

/// Requires: the lock is held.
void require_values_of_others(const std::string& name) {
    if (known().of_others) {
        return;
    }
    if (const unsigned long ranks = quern::detail::ranks_of_job(); ranks > 1) {
        throw std::logic_error("quern: global value '" + name + "': this process is one of " +
                               std::to_string(ranks) +
                               " ranks of an MPI job, and values are not shared between ranks "
                               "without a session of localities; make a "
                               "quern::localities::session, or reduce get() of all ranks with "
                               "MPI_Allreduce, or call get() for only this rank");
    }
}

/// Requires: there is one. NaN, if one of them is: a comparison would depend on their order.
double reduced(const std::vector<double>& values, reduction how) {
    const auto sum = [&] { return std::accumulate(values.begin(), values.end(), 0.0); };
    const auto is_nan = [](double value) { return std::isnan(value); };
    const auto nan = std::find_if(values.begin(), values.end(), is_nan);
    switch (how) {
        case reduction::sum:
            return sum();
        case reduction::least:
            return nan != values.end() ? *nan : *std::min_element(values.begin(), values.end());
        case reduction::most:
            return nan != values.end() ? *nan : *std::max_element(values.begin(), values.end());
        case reduction::mean:
            return sum() / static_cast<double>(values.size());
    }
    throw std::invalid_argument("quern: global value: reduction " +
                                std::to_string(static_cast<int>(how)) +
                                "; accepted: sum, least, most, mean");
}

}  // namespace

global_value::global_value(std::string name) : m_name(std::move(name)) {
    if (m_name.empty()) {
        throw std::invalid_argument("quern: a global value needs a name");
    }
}

void global_value::publish(double value) const {
    std::shared_ptr<detail::value_carrier> carrier;
    {
        const std::scoped_lock lock(the_lock());
        known().all[m_name][known().rank] = value;
        carrier = known().carrier;
    }
    if (carrier) {
        carrier->tell(m_name);
    }
}

std::optional<double> global_value::get() const { return detail::own_value(m_name); }

std::optional<double> global_value::get(int rank) const {
    const std::scoped_lock lock(the_lock());
    adaptation::require_values_of_others(m_name);
    return adaptation::value_of(m_name, rank);
}

std::optional<double> global_value::reduce(reduction how) const {
    const std::scoped_lock lock(the_lock());
    adaptation::require_values_of_others(m_name);
    std::vector<double> values;
    if (const auto found = known().all.find(m_name); found != known().all.end()) {
        for (const auto& [rank, value] : found->second) {
            values.push_back(value);
        }
    }
    return values.empty() ? std::nullopt : std::optional(adaptation::reduced(values, how));
}

namespace detail {

void carry_values(const std::shared_ptr<value_carrier>& by) {
    std::vector<std::string> published;
    const int rank = by->rank();
    {
        const std::scoped_lock lock(adaptation::the_lock());
        known_values& values = adaptation::known();
        for (auto& [name, its] : values.all) {
            const auto own = its.find(values.rank);
            std::map<int, double> only;
            if (own != its.end()) {
                only[rank] = own->second;
                published.push_back(name);
            }
            its = std::move(only);
        }
        values.rank = rank;
        values.of_others = true;
        values.carrier = by;
    }
    for (const std::string& name : published) {
        by->tell(name);
    }
}

void carry_values_no_more() noexcept {
    std::shared_ptr<value_carrier> ended;
    const std::scoped_lock lock(adaptation::the_lock());
    std::swap(ended, adaptation::known().carrier);
}

std::optional<double> own_value(const std::string& name) {
    const std::scoped_lock lock(adaptation::the_lock());
    return adaptation::value_of(name, adaptation::known().rank);
}

void learn_value(const std::string& name, int rank, double value) {
    const std::scoped_lock lock(adaptation::the_lock());
    adaptation::known().all[name][rank] = value;
}

}  // namespace detail
}  // namespace quern::adaptation
