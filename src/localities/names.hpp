// SPDX-License-Identifier: BSL-1.0
// The names of global objects that this locality knows. Each name has one such locality.
#pragma once

#include <quern/localities/detail/objects.hpp>
#include <quern/sync/condition_variable.hpp>
#include <quern/sync/mutex.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quern::localities::detail {

class name_table {
public:
    /// Throws std::invalid_argument if the name is taken.
    void publish(const std::string& name, object_reference one);
    /// False: nothing has that name.
    bool unpublish(const std::string& name);
    /// Waits until it is published, or for that time. A reference to no object: it was not.
    object_reference find(const std::string& name, std::optional<std::chrono::seconds> patience);
    std::vector<std::string> all();
    /// The session ends, and nothing waits.
    void clear() noexcept;

private:
    struct entry {
        object_reference one{};
        std::size_t waiting = 0;
        condition_variable published{};
    };

    mutex m_lock;
    std::map<std::string, std::unique_ptr<entry>> m_entries;  ///< published, or waited for
};

}  // namespace quern::localities::detail
