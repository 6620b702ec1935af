// SPDX-License-Identifier: BSL-1.0
// What a node of a tree gives: an array, a Python scalar, or one of the few other things that
// programs with arrays handle.
#pragma once

#include <quern/arrays/array.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace quern::arrays {

struct none {
    bool operator==(const none&) const noexcept = default;
};
struct ellipsis {
    bool operator==(const ellipsis&) const noexcept = default;
};
struct slice {
    std::optional<std::int64_t> start{};
    std::optional<std::int64_t> stop{};
    std::optional<std::int64_t> step{};
};
/// An object of another language; arrays only passes it on.
struct foreign {
    std::shared_ptr<void> object;
};

class value;
using values = std::vector<value>;
using tuple = std::shared_ptr<const values>;

/// A value is immutable but for the elements of arrays. bool, std::int64_t and double are Python's
/// scalars, which are weak in promotion: float32 array + 1.0 stays float32. A NumPy scalar is an
/// array without dimensions. Cost of a copy: that of a shared_ptr.
class value : public std::variant<none, bool, std::int64_t, double, std::string, slice, ellipsis,
                                  dtype, array, tuple, foreign> {
public:
    using variant::variant;

    template <class T>
    bool is() const noexcept {
        return std::holds_alternative<T>(*this);
    }
    template <class T>
    const T* as() const noexcept {
        return std::get_if<T>(this);
    }
    bool is_none() const noexcept { return is<none>(); }
};

/// Python's truth of a value. Throws std::invalid_argument for arrays of more than one element,
/// with NumPy's message, and for empty ones.
bool truth_of(const value& of);

/// "array of float64, shape (2,3)", "3.5", "None": for messages.
std::string describe(const value& of);

}  // namespace quern::arrays
