// SPDX-License-Identifier: BSL-1.0
// Reductions: tasks that add to one object, or combine with it by another operator, at the same
// time.
#pragma once

#include <quern/dependences/access.hpp>
#include <quern/dependences/detail/domain_core.hpp>
#include <quern/dependences/detail/reduction_group.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern {

// -- identities --------------------------------------------------------------------------------

/// What changes nothing when Op combines it with another value. For an operator without an entry
/// here: specialise it, or give the value to reduction().
template <class Op>
struct reduction_identity;

template <class X>
struct reduction_identity<std::plus<X>> {
    template <class T>
    static constexpr T of() {
        return T();
    }
};
template <class X>
struct reduction_identity<std::multiplies<X>> {
    template <class T>
    static constexpr T of() {
        return T(1);
    }
};
template <class X>
struct reduction_identity<std::bit_and<X>> {
    template <class T>
    static constexpr T of() {
        return static_cast<T>(~T());
    }
};
template <class X>
struct reduction_identity<std::bit_or<X>> : reduction_identity<std::plus<X>> {};
template <class X>
struct reduction_identity<std::bit_xor<X>> : reduction_identity<std::plus<X>> {};
template <class X>
struct reduction_identity<std::logical_or<X>> : reduction_identity<std::plus<X>> {};
template <class X>
struct reduction_identity<std::logical_and<X>> : reduction_identity<std::multiplies<X>> {};
template <>
struct reduction_identity<std::remove_const_t<decltype(std::ranges::min)>> {
    template <class T>
    static constexpr T of() {
        using limits = std::numeric_limits<T>;
        return limits::has_infinity ? limits::infinity() : limits::max();
    }
};
template <>
struct reduction_identity<std::remove_const_t<decltype(std::ranges::max)>> {
    template <class T>
    static constexpr T of() {
        using limits = std::numeric_limits<T>;
        return limits::has_infinity ? -limits::infinity() : limits::lowest();
    }
};

// -- the access --------------------------------------------------------------------------------

namespace detail {

/// View: T& or std::span<T>.
template <class View, class T, class Op>
struct reduction_access : access_base {
    static constexpr bool k_is_range = !std::is_reference_v<View>;
    using view_type = View;
    using value = std::conditional_t<k_is_range, std::vector<T>, T>;
    using group = typed_reduction<T, value, Op>;

    struct kept {
        std::shared_ptr<group> of;
        std::unique_ptr<typename group::slot> mine;
        std::uint64_t position = 0;

        void ended() noexcept {
            if (mine != nullptr) {
                of->give_back(std::move(mine));
            }
        }
    };

    reduction_access(const region& where, Op by, T neutral)
        : access_base{where}, op(std::move(by)), identity(std::move(neutral)) {
        this->kind = access_kind::reduction;
        this->operation = detail::operation_of<value, Op>();
    }

    /// Combine the parts in the order in which the tasks were created, so that a sum of
    /// floating-point numbers is the same in every run. Each task then has a part of its own.
    reduction_access in_creation_order() && {
        is_ordered = true;
        return std::move(*this);
    }

    strided_region resolve(kept& keeps, domain_core& home) const {
        if (!is_empty) {
            region where = *this;
            where.operation = operation_in(home);
            const reduction_manner manner{this->operation, where.operation, is_ordered};
            auto make = [&]() -> std::shared_ptr<reduction_group> {
                return std::make_shared<group>(where, manner, op, identity);
            };
            keeps.of = std::static_pointer_cast<group>(home.join_reduction(where, manner, make));
            keeps.position = keeps.of->members++;
            return where;
        }
        return *this;
    }
    /// An operator with a state is none that a task has named.
    strided_region named(kept&) const noexcept {
        region where = *this;
        if constexpr (!k_is_told_by_type<Op>) {
            where.operation = next_operation_with_state();
        }
        return where;
    }
    /// The number of the operator in the domain.
    std::uint32_t operation_in(domain_core& home) const {
        if constexpr (k_is_told_by_type<Op>) {
            return this->operation;
        } else {
            return home.operators().number_of(this->operation, op);
        }
    }

    static std::tuple<View> view(kept& keeps, const region& where) {
        if (where.is_empty) {
            return in_place(where);
        }
        keeps.mine = keeps.of->take(keeps.position);
        return std::tuple<View>(keeps.mine->value);
    }
    /// In a final task nothing runs beside: the object itself.
    static std::tuple<View> in_place(const region& where) noexcept {
        T* const first = reinterpret_cast<T*>(where.begin);
        if constexpr (k_is_range) {
            return std::tuple<View>(View(first, where.bytes / sizeof(T)));
        } else {
            return std::tuple<View>(*first);
        }
    }

    Op op;
    T identity;
    bool is_ordered = false;
};

template <class T, class Op>
auto reduce_into(const access<T&>& where, Op op, T identity) {
    static_assert(std::is_invocable_v<Op&, T&, T&>,
                  "quern: reduction: the operator must take two objects of that type");
    return reduction_access<T&, T, Op>(where, std::move(op), std::move(identity));
}
template <class T, class Op>
auto reduce_into(const access<std::span<T>>& where, Op op, T identity) {
    static_assert(std::is_invocable_v<Op&, T&, T&>,
                  "quern: reduction: the operator must take two objects of that type");
    static_assert(!std::is_same_v<T, bool>, "quern: reduction: a range of bool: use char");
    return reduction_access<std::span<T>, T, Op>(where, std::move(op), std::move(identity));
}

/// The type of an object that is reduced to, or of the elements of a range.
template <class View>
struct reduced;
template <class T>
struct reduced<T&> {
    using type = T;
};
template <class T>
struct reduced<std::span<T>> {
    using type = T;
};
template <class X>
using reduced_t = typename reduced<typename decltype(detail::access_to<access_kind::write>(
    std::declval<X>()))::view_type>::type;

}  // namespace detail

/// Accumulates. The body gets a part of its own: a reference to an object, or for a container or
/// span a span of as many elements. A part begins as the identity of the operator, or with what an
/// earlier task of the group has left there. Tasks that reduce to exactly the same region by the
/// same operator run at the same time. Before any other access to the region, and at taskwait(),
/// the parts are combined with it, element by element: `x = op(x, part)`, or `op(x, part)` if that
/// returns nothing.
///
/// Operators are the same if they have one type, and one value where the type has a state: pointers
/// to functions, and trivially copyable function objects, by their bytes; others by their
/// `operator==`. Those that cannot be compared, such as a std::function of anything but a pointer,
/// count as different each time: their tasks run one after the other.
///
/// A part belongs to its task, which may suspend and continue on another worker. The operator must
/// be associative and commutative; `reduction(...).in_creation_order()` needs only associativity,
/// and gives the same sum in every run. Operators with a known identity: std::plus, multiplies,
/// bit_and, bit_or, bit_xor, logical_and, logical_or, std::ranges::min, std::ranges::max.
///
/// Errors: those of `inout`; std::invalid_argument by spawn() if the task has another access to the
/// region. What the operator throws counts as thrown by a task. Cost: a part for each task that
/// runs at the same time; in creation order, for each task.
///
///     quern::domain work;
///     double sum = 0;
///     for (int i = 0; i < 100; ++i) {
///         work.spawn(quern::reduction(sum, std::plus<>()), [i](double& part) { part += i; });
///     }
///     work.spawn(quern::in(sum), [](const double& all) { std::printf("%g\n", all); });  // 4950
template <class X, class Op>
    requires(!std::is_pointer_v<std::remove_cvref_t<X>>)
auto reduction(X&& x, Op op) {
    using T = detail::reduced_t<X>;
    return detail::reduce_into(detail::access_to<detail::access_kind::write>(std::forward<X>(x)),
                               std::move(op), reduction_identity<Op>::template of<T>());
}
/// With an identity.
template <class X, class Op>
    requires(!std::is_pointer_v<std::remove_cvref_t<X>>)
auto reduction(X&& x, Op op, detail::reduced_t<X> identity) {
    return detail::reduce_into(detail::access_to<detail::access_kind::write>(std::forward<X>(x)),
                               std::move(op), std::move(identity));
}
/// To n elements.
template <class T, class Op>
auto reduction(T* first, std::ptrdiff_t n, Op op) {
    return detail::reduce_into(detail::range_access<detail::access_kind::write>(first, n),
                               std::move(op), reduction_identity<Op>::template of<T>());
}
template <class T, class Op>
auto reduction(T* first, std::ptrdiff_t n, Op op, std::type_identity_t<T> identity) {
    return detail::reduce_into(detail::range_access<detail::access_kind::write>(first, n),
                               std::move(op), std::move(identity));
}

}  // namespace quern
