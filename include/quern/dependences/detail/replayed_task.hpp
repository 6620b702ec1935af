// SPDX-License-Identifier: BSL-1.0
// A task of a recorded step: made once, then armed again for later steps. Its accesses are known,
// so it enters no map: what precedes it was found when the step was recorded. Protocol:
// src/dependences/README.md, "Replay".
#pragma once

#include <quern/dependences/detail/dependent_task.hpp>
#include <quern/dependences/detail/domain_core.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern::detail {

class replayed_task;

/// The tasks of one step that is in flight, and how many of them have ended. The owner of the
/// domain spawns and waits; workers end tasks.
class replay_slot {
public:
    replay_slot() = default;
    replay_slot(const replay_slot&) = delete;
    replay_slot& operator=(const replay_slot&) = delete;

    // Owner.
    void count_spawned() noexcept {
        m_count.owner_spawned();
        ++m_spawned;
    }
    bool is_used() const noexcept { return m_spawned != 0; }
    /// As far as can be seen; wait() does not suspend then.
    bool has_ended() const noexcept { return m_nothing_ended - m_count.outstanding() == m_spawned; }
    /// Returns when all tasks that were spawned have ended. Then the slot is not used.
    void wait() noexcept;

    /// A task has ended. The last access of its worker to the slot and its tasks.
    void task_ended() noexcept;

    std::vector<std::unique_ptr<replayed_task>> tasks;
    std::vector<replayed_task*> successors;  ///< of all tasks, one after the other

private:
    static const wait_kind k_wait;

    std::int64_t m_spawned = 0;
    group_count<std_atomics, domain_waiter> m_count;
    const std::int64_t m_nothing_ended = m_count.outstanding();
};

class replayed_task : public dependent_task {
public:
    ~replayed_task() override = default;

    /// The same without the function. Throws std::bad_alloc.
    virtual std::unique_ptr<replayed_task> copy() const = 0;

    const void* type() const noexcept { return m_type; }
    std::span<const strided_region> where() const noexcept { return m_where_of_all; }
    domain_core& home_of_step() const noexcept { return m_home_of_step; }

    /// Where it belongs, and what waits for it. `predecessors`: in all later steps; `first`: in the
    /// coming one. One more is the creator, which calls creator_is_done().
    void place(replay_slot& slot, std::span<replayed_task* const> successors,
               std::uint32_t predecessors, std::uint32_t first) noexcept {
        m_slot = &slot;
        m_successors = successors;
        m_next_step = nullptr;
        m_armed = predecessors + 1;
        missing.rearm(first + 1);
    }
    /// It has many bytes. `next_step`: the same task there if it waits for this one, or null.
    void place_large(replayed_task* next_step) noexcept {
        set_large();
        m_next_step = next_step;
    }
    /// Its function and attributes are there.
    QUERN_ALWAYS_INLINE void creator_is_done() noexcept {
        m_is_dropped = false;
        m_slot->count_spawned();
        if (missing.satisfied()) {
            become_ready();
        }
    }

    /// In the place of dependent_task's completion.
    void step_ended(ready_successors& released) noexcept;

protected:
    replayed_task(domain_core& home, const void* type) noexcept
        : dependent_task(home), m_home_of_step(home), m_type(type) {
        this->set_replayed();
    }

    std::span<const strided_region> m_where_of_all;

private:
    void settle(std::exception_ptr) noexcept final {}
    QUERN_COLD void tell_next_step() noexcept;

    domain_core& m_home_of_step;
    const void* const m_type;
    replay_slot* m_slot = nullptr;
    std::span<replayed_task* const> m_successors;
    replayed_task* m_next_step = nullptr;
    std::uint32_t m_armed = 0;  ///< what it waits for in a step
};

// -- which accesses can be replayed ------------------------------------------------------------

/// Those that are a region and no more: to look at where they are changes nothing.
template <class A>
inline constexpr bool k_is_replayable =
    (std::is_same_v<typename A::kept, nothing_kept> ||
     std::is_same_v<typename A::kept, strides>)&&!requires(const A& list) {
    list.regions();
};

inline bool is_replayable(const strided_region& r) noexcept {
    return r.kind < access_kind::commutative && !r.is_weak;
}

QUERN_ALWAYS_INLINE bool is_same_access(const strided_region& a, const strided_region& b) noexcept {
    return a.begin == b.begin && a.bytes == b.bytes && a.kind == b.kind &&
           a.is_empty == b.is_empty && a.is_weak == b.is_weak &&
           (a.shape == nullptr ? b.shape == nullptr : b.shape != nullptr && *a.shape == *b.shape);
}

// -- the typed part ----------------------------------------------------------------------------

/// In spawn.hpp, which includes this file.
template <class... Accesses, class F, class Regions, class Kept>
decltype(auto) call_body(F&& function, const Regions& where, Kept& kept);

template <class F, class... Accesses>
class typed_replayed_task final : public replayed_task {
public:
    static constexpr char k_type = 0;  ///< its address tells types apart

    typed_replayed_task(domain_core& home, const Accesses&... accesses)
        : typed_replayed_task(home, std::index_sequence_for<Accesses...>(), accesses...) {}

    std::unique_ptr<replayed_task> copy() const override {
        return std::unique_ptr<replayed_task>(new typed_replayed_task(*this, same_structure()));
    }

    bool has(const Accesses&... accesses) const {
        return has(std::index_sequence_for<Accesses...>(), accesses...);
    }
    template <class G>
    void set_function(G&& function) {
        m_function.emplace(std::forward<G>(function));
    }

private:
    struct same_structure {};

    template <std::size_t... I>
    typed_replayed_task(domain_core& home, std::index_sequence<I...>, const Accesses&... accesses)
        : replayed_task(home, &k_type), m_where{accesses.resolve(std::get<I>(m_kept), home)...} {
        m_where_of_all = m_where;
    }
    typed_replayed_task(const typed_replayed_task& other, same_structure)
        : replayed_task(other.home_of_step(), &k_type),
          m_kept(other.m_kept),
          m_where(other.m_where) {
        std::size_t i = 0;
        std::apply([&](const auto&... each) { (point_to(each, m_where[i++]), ...); }, m_kept);
        m_where_of_all = m_where;
    }
    static void point_to(const nothing_kept&, strided_region&) noexcept {}
    static void point_to(const strides& own, strided_region& of) noexcept {
        if (of.shape != nullptr) {
            of.shape = &own;
        }
    }

    template <std::size_t... I>
    bool has(std::index_sequence<I...>, const Accesses&... accesses) const {
        std::tuple<typename Accesses::kept...> kept;
        return (detail::is_same_access(accesses.resolve(std::get<I>(kept), home_of_step()),
                                       m_where[I]) &&
                ...);
    }

    void run_body() override {
        detail::call_body<Accesses...>(*std::move(m_function), m_where, m_kept);
    }
    void forget_body() noexcept override { m_function.reset(); }

    [[no_unique_address]] std::tuple<typename Accesses::kept...> m_kept;
    std::array<strided_region, sizeof...(Accesses)> m_where;
    std::optional<F> m_function;
};

}  // namespace quern::detail
