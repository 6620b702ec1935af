// SPDX-License-Identifier: BSL-1.0
// The values of this process, behind the lock of the layer. Called by policies; never waits.
#include <quern/adaptation/global_value.hpp>

#include "log/process_object.hpp"

#include <quern/base/detail/process.hpp>
#include <quern/settings/detail/job.hpp>

#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace quern::adaptation {

namespace {

using values = std::map<std::string, double>;

constinit detail::process_object<values> g_values{};

[[gnu::destructor(quern::detail::k_after_static_objects)]] void forget_values() {
    g_values.forget();
}

/// Requires: the lock is held.
values& published() { return g_values.get(); }

std::mutex& the_lock() noexcept {
    return quern::detail::lock_of(quern::detail::process_lock::adaptation);
}

}  // namespace

global_value::global_value(std::string name) : m_name(std::move(name)) {
    if (m_name.empty()) {
        throw std::invalid_argument("quern: a global value needs a name");
    }
}

void global_value::publish(double value) const {
    const std::scoped_lock lock(the_lock());
    published()[m_name] = value;
}

std::optional<double> global_value::get() const {
    const std::scoped_lock lock(the_lock());
    const auto found = published().find(m_name);
    return found != published().end() ? std::optional(found->second) : std::nullopt;
}

/// Of one value, sum, least, most and mean are the value.
std::optional<double> global_value::reduce(reduction) const {
    if (const unsigned long ranks = quern::detail::ranks_of_job(); ranks > 1) {
        throw std::logic_error("quern: global value '" + m_name + "': this process is one of " +
                               std::to_string(ranks) +
                               " ranks of an MPI job, and values are not shared between ranks; "
                               "reduce get() of all ranks with MPI_Allreduce, or call get() for "
                               "this rank alone");
    }
    return get();
}

}  // namespace quern::adaptation
