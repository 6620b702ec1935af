// SPDX-License-Identifier: BSL-1.0
// Which operators of reductions are the same one. An operator without a state is told by its type;
// one with a state, such as a pointer to a function, by its type and its value. A domain numbers
// the latter, for accesses by different operators wait for each other. Only the owner of the
// domain.
#pragma once

#include <quern/base/detail/config.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

namespace quern::detail {

/// A number above 0 that no other call has returned: of a type of operators. Below 2^31.
std::uint32_t next_operation() noexcept;
/// Of an operator with a state. From 2^31 on; repeated after so many calls.
std::uint32_t next_operation_with_state() noexcept;

/// Tells types of operators on objects of one type apart.
template <class T, class Op>
std::uint32_t operation_of() noexcept {
    static const std::uint32_t number = next_operation();
    return number;
}

/// All objects of the type are the same operator.
template <class Op>
inline constexpr bool k_is_told_by_type = std::is_empty_v<Op>;

/// Its copies have its bytes. Of closures with constant captures gcc 12 says that they are not
/// trivially copyable, unless it was asked before how they are copied.
template <class Op>
inline constexpr bool k_is_its_bytes =
    std::is_trivially_copy_constructible_v<Op>&& std::is_trivially_destructible_v<Op>;

/// Operators of a type with a state. Those that are their bytes are the same if the bytes are: with
/// different ones, of padding for instance, they only run one after the other.
template <class Op>
struct operator_values {
    static constexpr bool k_are_comparable = k_is_its_bytes<Op> || std::equality_comparable<Op>;

    static bool are_same(const Op& a, const Op& b) {
        if constexpr (k_is_its_bytes<Op>) {
            return std::memcmp(&a, &b, sizeof(Op)) == 0;
        } else {
            return a == b;
        }
    }
};
/// Of what a std::function contains it tells only pointers to functions.
template <class R, class... Args>
struct operator_values<std::function<R(Args...)>> {
    using pointer = R (*)(Args...);
    static constexpr bool k_are_comparable = true;

    static bool are_same(const std::function<R(Args...)>& a, const std::function<R(Args...)>& b) {
        const auto* const first = a.template target<pointer>();
        const auto* const second = b.template target<pointer>();
        return first != nullptr && second != nullptr && *first == *second;
    }
};

/// The operators with a state that reductions of a domain have named last.
class known_operators {
public:
    /// The same for the same operator, as far as it can be seen. `type`: its operation_of(). Throws
    /// std::bad_alloc, and what copying or comparing it throws.
    template <class Op>
    std::uint32_t number_of(std::uint32_t type, const Op& op) {
        using values = operator_values<Op>;
        if constexpr (values::k_are_comparable) {
            for (const known& each : m_all) {
                if (each.type == type &&
                    values::are_same(*static_cast<const Op*>(each.op.get()), op)) {
                    return each.number;
                }
            }
            return remember(type, std::make_shared<const Op>(op));
        } else {
            return next_operation_with_state();
        }
    }

    bool empty() const noexcept { return m_all.empty(); }
    void clear() noexcept { m_all.clear(); }

private:
    struct known {
        std::uint32_t type;
        std::uint32_t number;
        std::shared_ptr<const void> op;
    };

    /// Forgetting one costs only order: it gets another number when it is named again. (guessed)
    static constexpr std::size_t k_most = 16;

    std::uint32_t remember(std::uint32_t type, std::shared_ptr<const void> op);

    std::vector<known> m_all;
    std::size_t m_oldest = 0;
};

}  // namespace quern::detail
