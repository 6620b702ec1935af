// SPDX-License-Identifier: BSL-1.0
// Reductions of translated sources: one instance for each type of element, with a pointer to a
// function as operator.
#include "regions.hpp"

#include <quern/dependences/reduction.hpp>
#include <quern/dependences/spawn.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace quern::task_functions {

namespace {

template <class T>
struct known_operator {
    T (*combine)(const T&, const T&) = nullptr;
    T identity{};
};

template <class T>
known_operator<T> bit_operator(int op) {
    switch (op) {
        case '&':
            return {[](const T& a, const T& b) { return static_cast<T>(a & b); },
                    static_cast<T>(~T())};
        case '|':
            return {[](const T& a, const T& b) { return static_cast<T>(a | b); }, T()};
        case '^':
            return {[](const T& a, const T& b) { return static_cast<T>(a ^ b); }, T()};
        default:
            return {};
    }
}

template <class T>
known_operator<T> operator_named(int op) {
    using limits = std::numeric_limits<T>;
    switch (op) {
        case '+':
        case '-':
            return {[](const T& a, const T& b) { return static_cast<T>(a + b); }, T()};
        case '*':
            return {[](const T& a, const T& b) { return static_cast<T>(a * b); }, T(1)};
        case 'm':
            return {[](const T& a, const T& b) { return b < a ? b : a; },
                    limits::has_infinity ? limits::infinity() : limits::max()};
        case 'M':
            return {[](const T& a, const T& b) { return a < b ? b : a; },
                    limits::has_infinity ? -limits::infinity() : limits::lowest()};
        case 'A':
            return {[](const T& a, const T& b) { return static_cast<T>(a != T() && b != T()); },
                    T(1)};
        case 'O':
            return {[](const T& a, const T& b) { return static_cast<T>(a != T() || b != T()); },
                    T()};
        default:
            if constexpr (std::is_integral_v<T>) {
                return bit_operator<T>(op);
            } else {
                return {};
            }
    }
}

/// Calls use(T()) with the type of the elements, and returns the result; false if it is unknown.
template <class Use>
bool with_type(const quern_task_region& of, const Use& use) {
    const std::size_t size = of.element;
    if (of.type == 'f') {
        return size == sizeof(float) ? use(float()) : size == sizeof(double) && use(double());
    }
    if (of.type == 'i') {
        return size == 4 ? use(std::int32_t()) : size == 8 && use(std::int64_t());
    }
    return of.type == 'u' && (size == 4 ? use(std::uint32_t()) : size == 8 && use(std::uint64_t()));
}

template <class Spawn>
void add_with(const Spawn& spawn, const quern_task_region& region, packed_call call) {
    with_type(region, [&]<class T>(T) {
        const known_operator<T> op = operator_named<T>(region.op);
        const void* const first = const_cast<const void*>(region.first);
        spawn(reduction(static_cast<T*>(const_cast<void*>(first)), region.counts[0], op.combine,
                        op.identity),
              [call = std::move(call), offset = region.argument](std::span<T> part) mutable {
                  call.call_with(offset, part.data());
              });
        return true;
    });
}

}  // namespace

bool is_reduction(const quern_task_region& region) noexcept {
    return region.kind == quern_task_reduction && region.dimensions == 1 &&
           with_type(region,
                     [&]<class T>(T) { return operator_named<T>(region.op).combine != nullptr; });
}

void add_reduction(domain& to, const task_attributes& how, const access_list& others,
                   const quern_task_region& region, packed_call call) {
    add_with([&](const auto& access, auto body) { to.spawn(how, others, access, std::move(body)); },
             region, std::move(call));
}
void add_reduction(const task_attributes& how, const access_list& others,
                   const quern_task_region& region, packed_call call) {
    add_with(
        [&](const auto& access, auto body) { quern::spawn(how, others, access, std::move(body)); },
        region, std::move(call));
}

}  // namespace quern::task_functions
