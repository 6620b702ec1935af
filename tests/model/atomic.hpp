// SPDX-License-Identifier: BSL-1.0
// model::atomics, the replacement of quern's std_atomics: the same names and signatures as
// std::atomic, but every operation is a scheduling point of the explorer. Protocol templates and
// tests instantiate it. A single thread must see the same as with std::atomic. Usable only inside
// model::explore.
#pragma once

#include "core.hpp"
#include "var.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace model {

template <class T>
class atomic {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8,
                  "at most eight trivially copyable bytes");
    using order = std::memory_order;

public:
    using value_type = T;
    using difference_type = std::conditional_t<std::is_pointer_v<T>, std::ptrdiff_t, T>;

    atomic() noexcept : atomic(T{}) {}
    atomic(T initial) noexcept : m_id(detail::create_atomic(pack(initial), sizeof(T))) {}
    ~atomic() {
        detail::destroy_atomic(m_id);
        m_id = detail::k_dead_object;
    }
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    T load(order o = order::seq_cst) const noexcept {
        return unpack(perform(detail::op_kind::load, o, 0).value);
    }
    void store(T value, order o = order::seq_cst) noexcept {
        perform(detail::op_kind::store, o, pack(value));
    }
    T exchange(T value, order o = order::seq_cst) noexcept {
        return unpack(perform(detail::op_kind::exchange, o, pack(value)).value);
    }

    bool compare_exchange_strong(T& expected, T desired, order success, order failure) noexcept {
        return compare_exchange(detail::op_kind::cas, expected, desired, success, failure);
    }
    bool compare_exchange_strong(T& expected, T desired, order o = order::seq_cst) noexcept {
        return compare_exchange(detail::op_kind::cas, expected, desired, o, without_release(o));
    }
    bool compare_exchange_weak(T& expected, T desired, order success, order failure) noexcept {
        return compare_exchange(detail::op_kind::cas_weak, expected, desired, success, failure);
    }
    bool compare_exchange_weak(T& expected, T desired, order o = order::seq_cst) noexcept {
        return compare_exchange(detail::op_kind::cas_weak, expected, desired, o,
                                without_release(o));
    }

    T fetch_add(difference_type n, order o = order::seq_cst) noexcept {
        return add(detail::op_kind::add, n, o);
    }
    T fetch_sub(difference_type n, order o = order::seq_cst) noexcept {
        return add(detail::op_kind::sub, n, o);
    }
    T fetch_or(T bits, order o = order::seq_cst) noexcept {
        return bitwise(detail::op_kind::bit_or, bits, o);
    }
    T fetch_and(T bits, order o = order::seq_cst) noexcept {
        return bitwise(detail::op_kind::bit_and, bits, o);
    }
    T fetch_xor(T bits, order o = order::seq_cst) noexcept {
        return bitwise(detail::op_kind::bit_xor, bits, o);
    }

    operator T() const noexcept { return load(); }
    T operator=(T value) noexcept {
        store(value);
        return value;
    }

    [[nodiscard]] detail::object_id id() const noexcept {
        return m_id;
    }  // for model::name and the futex calls

private:
    static std::uint64_t pack(T value) noexcept {
        std::uint64_t raw = 0;
        std::memcpy(&raw, &value, sizeof(T));
        return raw;
    }
    static T unpack(std::uint64_t raw) noexcept {
        T value;
        std::memcpy(&value, &raw, sizeof(T));
        return value;
    }
    static constexpr order without_release(order o) noexcept {
        if (o == order::acq_rel) return order::acquire;
        return o == order::release ? order::relaxed : o;
    }

    detail::reply perform(detail::op_kind kind, order o, std::uint64_t operand) const noexcept {
        return detail::perform(
            {.kind = kind, .order = o, .failure = o, .object = m_id, .operand = operand});
    }
    bool compare_exchange(detail::op_kind kind, T& expected, T desired, order success,
                          order failure) noexcept {
        const detail::reply r = detail::perform({.kind = kind,
                                                 .order = success,
                                                 .failure = failure,
                                                 .object = m_id,
                                                 .operand = pack(desired),
                                                 .expected = pack(expected)});
        if (!r.success) expected = unpack(r.value);
        return r.success;
    }
    T add(detail::op_kind kind, difference_type n, order o) noexcept {
        if constexpr (std::is_pointer_v<T>) {
            const auto bytes = n * static_cast<std::ptrdiff_t>(sizeof(std::remove_pointer_t<T>));
            return unpack(perform(kind, o, static_cast<std::uint64_t>(bytes)).value);
        } else {
            static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>);
            return unpack(perform(kind, o, pack(n)).value);
        }
    }
    T bitwise(detail::op_kind kind, T bits, order o) noexcept {
        static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>);
        return unpack(perform(kind, o, pack(bits)).value);
    }

    detail::object_id m_id;
};

struct atomics {
    template <class T>
    using atomic = model::atomic<T>;
    template <class T>
    using plain = model::var<T>;

    static void pause() noexcept { detail::pause(); }

    static void fence(std::memory_order order) noexcept {
        detail::perform({.kind = detail::op_kind::fence, .order = order});
    }

    // The two halves of an asymmetric fence. Both touch one word between them, so that the explorer
    // tries both orders. A thread's store is in its buffer as soon as it has made the preceding
    // step: so the light half is also the step that lets another thread run before a store.
    static void light_barrier(const atomic<std::uint32_t>& between) noexcept {
        between.load(std::memory_order_relaxed);
    }
    static void heavy_barrier(atomic<std::uint32_t>& between) noexcept {
        detail::perform({.kind = detail::op_kind::add,
                         .order = std::memory_order_relaxed,
                         .everywhere = true,
                         .object = between.id(),
                         .operand = 1});
    }

    static void futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
        detail::perform(
            {.kind = detail::op_kind::futex_wait, .object = word.id(), .expected = expected});
    }

    // The duration is ignored: the explorer chooses when a wait may time out.
    static bool futex_wait_for(atomic<std::uint32_t>& word, std::uint32_t expected,
                               std::chrono::nanoseconds) noexcept {
        return detail::perform({.kind = detail::op_kind::futex_wait,
                                .timed = true,
                                .object = word.id(),
                                .expected = expected})
            .success;
    }

    static void futex_wake(atomic<std::uint32_t>& word, int count) noexcept {
        if (count <= 0) return;
        detail::perform({.kind = detail::op_kind::futex_wake,
                         .object = word.id(),
                         .operand = static_cast<std::uint64_t>(count)});
    }
};

template <class T>
void name(const atomic<T>& object, const char* text) noexcept {
    detail::name_atomic(object.id(), text);
}

}  // namespace model
