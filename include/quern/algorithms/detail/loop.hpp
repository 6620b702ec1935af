// SPDX-License-Identifier: BSL-1.0
// The loops under parallel_for and the algorithms, over [0, n). They are compiled once, in the
// library, and call the program's code a chunk at a time. How a loop is divided:
// src/algorithms/loop.cpp.
#pragma once

#include <quern/algorithms/detail/chunk_size.hpp>
#include <quern/base/detail/function_ref.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/stop.hpp>

#include <cstddef>
#include <stop_token>
#include <utility>

namespace quern::detail {

/// Calls f(slot, signal) on a worker of the pool, or of the caller's if that is null: here if this
/// is one, else as a task made at `site`. Throws if the token was stopped before the end.
void run_loop(pool* where, const void* site, std::stop_token token,
              function_ref<void(fork_slot*, stop_signal&)> f);

/// Runs a part of a loop; if it throws, the other parts stop.
template <class Part>
QUERN_ALWAYS_INLINE auto run_part(stop_signal& stop, Part&& part) {
    try {
        return part();
    } catch (...) {
        stop.raise();
        throw;
    }
}

/// The number of parts of a loop that begins here: one for each worker that may participate.
std::size_t parts_for(fork_slot* slot) noexcept;

/// What runs [first, last) of a loop. False: the rest of its part is not needed.
using loop_range = function_ref<bool(fork_slot* slot, std::size_t first, std::size_t last)>;

/// Runs [0, n), as one part at first, and deals it to the workers if that is worthwhile.
void deal_loop(fork_slot* slot, stop_signal& stop, std::size_t n, chunk_size chunk,
               loop_range range);

/// Calls body(slot) for `count` runners on the workers that are free. Each returns when there is no
/// work left that it could do; a runner that begins late finds none.
void run_runners(fork_slot* slot, std::size_t count, stop_signal& stop,
                 function_ref<void(fork_slot*)> body);

/// A reduction over a loop. Only this object knows the type of its values.
class reduction {
public:
    /// A new value: that of [first, last), first < last.
    virtual void* begin(std::size_t first, std::size_t last) = 0;
    /// Adds the value of [first, last), first < last, behind `value`.
    virtual void add(void* value, std::size_t first, std::size_t last) = 0;
    /// Adds a value behind another one. It has to be dropped still.
    virtual void join(void* value, void* behind) = 0;
    /// Ends what begin() has made.
    virtual void drop(void* value) noexcept = 0;

protected:
    ~reduction() = default;
};

/// Adds the values of [first, n) behind `value`, as deal_loop: in the order of the indices.
void deal_reduction(fork_slot* slot, stop_signal& stop, std::size_t first, std::size_t n,
                    chunk_size chunk, reduction& how, void* value);

/// The reduction by map(first, last) and combine(T&&, T&&). The combination may return one of its
/// arguments, which must not be assigned to itself.
template <class T, class Map, class Combine>
class reduction_of final : public reduction {
public:
    reduction_of(Map& map, Combine& combine) noexcept : m_map(map), m_combine(combine) {}

    void* begin(std::size_t first, std::size_t last) override { return new T(m_map(first, last)); }
    void add(void* value, std::size_t first, std::size_t last) override {
        T& before = *static_cast<T*>(value);
        before = static_cast<T>(m_combine(std::move(before), m_map(first, last)));
    }
    void join(void* value, void* behind) override {
        T& before = *static_cast<T*>(value);
        before = static_cast<T>(m_combine(std::move(before), std::move(*static_cast<T*>(behind))));
    }
    void drop(void* value) noexcept override { delete static_cast<T*>(value); }

private:
    Map& m_map;
    Combine& m_combine;
};

}  // namespace quern::detail
