// SPDX-License-Identifier: BSL-1.0
// The children of a node of a random program, as the ways to run them use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace quern_test {

/// The exception of a node; it carries the node's value, which its parent then uses.
struct thrown {
    std::uint64_t value;
};

/// May be used by all children at once; lives until the node has ended.
class family {
public:
    virtual std::size_t size() const noexcept = 0;
    /// Runs a child on this thread, and stores its value.
    virtual void run(std::size_t which) const = 0;
    /// The same, but returns or throws the value instead of storing it.
    virtual std::uint64_t value_of(std::size_t which) const = 0;
    virtual void keep(std::size_t which, std::uint64_t value) const noexcept = 0;
    /// Reports a fault: makes the result wrong.
    virtual void spoil() const noexcept = 0;

protected:
    ~family() = default;
};

/// A function that runs every child once, and returns when all have ended.
struct way {
    const char* name;
    void (*run)(const family&);
};

/// Stores the value or the exception of value_of().
template <class Call>
void keep_outcome(const family& f, std::size_t which, Call&& call) {
    try {
        f.keep(which, call());
    } catch (const thrown& error) {
        f.keep(which, error.value);
    }
}

/// Runs the children that a stop request has kept from running.
inline void run_the_rest(const family& f, const std::vector<char>& done) {
    for (std::size_t i = 0; i < f.size(); ++i) {
        if (done[i] == 0) {
            f.run(i);
        }
    }
}

}  // namespace quern_test
