// SPDX-License-Identifier: BSL-1.0
// How global values leave their process: a layer that connects the processes of a job carries them.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace quern::adaptation::detail {

/// Called without a lock of this layer, by any thread, and also after it has been replaced.
class value_carrier {
public:
    value_carrier() = default;
    value_carrier(const value_carrier&) = delete;
    value_carrier& operator=(const value_carrier&) = delete;
    virtual ~value_carrier() = default;

    /// The number of this process among those that it connects.
    virtual int rank() const noexcept = 0;
    /// The own value of that name is new: tells it later, without waiting. Throws std::bad_alloc.
    virtual void tell(const std::string& name) = 0;
};

/// From now on values are those of the processes that `by` connects, which is told of what has
/// been published before; what was known of others is forgotten. Throws std::bad_alloc.
void carry_values(const std::shared_ptr<value_carrier>& by);
/// No more is told. What is known of others stays.
void carry_values_no_more() noexcept;

/// The last one that has been published here.
std::optional<double> own_value(const std::string& name);
/// What another process has published. Throws std::bad_alloc.
void learn_value(const std::string& name, int rank, double value);

}  // namespace quern::adaptation::detail
