// SPDX-License-Identifier: BSL-1.0
// The typed part of a replayed task: its function, and what its views are made of. Instantiated by
// each spawn, replayed or not, so it has as few functions as possible; the rest is replay_run.
#pragma once

#include <quern/dependences/detail/body_call.hpp>
#include <quern/dependences/detail/region.hpp>
#include <quern/dependences/detail/replay_run.hpp>

#include <array>
#include <cstddef>
#include <new>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace quern::detail {

/// Whether the place of the access can be said without an effect, and is all there is to it.
template <class A>
inline constexpr bool k_is_replayable = requires(const A& access, typename A::kept& keeps) {
    access.named(keeps);
}
&&!requires(const region& where) { A::in_place(where); };
template <class Of>
inline constexpr bool k_is_replayable<weak_access<Of>> = false;

/// What each step brings to a replayed task.
template <class F, class... Accesses>
struct replayed_body {
    [[no_unique_address]] std::tuple<typename Accesses::kept...> kept;
    F function;

    static void call(void* body, regions_at where) {
        auto& self = *static_cast<replayed_body*>(body);
        detail::call_body<Accesses...>(std::move(self.function), where, self.kept);
    }
    static void destroy(void* body) noexcept {
        static_cast<replayed_body*>(body)->~replayed_body();
    }
};
template <class Body>
inline constexpr replayed_type k_replayed_type{
    sizeof(Body), alignof(Body), Body::call,
    std::is_trivially_destructible_v<Body> ? nullptr : Body::destroy};

/// The regions in the order of a task's records: see listed_records.
template <class... Accesses>
std::span<const strided_region> with_lists(replay_run& run, std::span<const strided_region> first,
                                           const Accesses&... accesses) {
    if constexpr ((an_access_list<Accesses> || ...)) {
        auto& all = run.room_for_lists(first);
        [[maybe_unused]] const auto add = [&all]<class A>(const A& access) {
            if constexpr (an_access_list<A>) {
                for (const wanted_region& each : access.regions()) {
                    all.push_back(each.get());
                }
            }
        };
        (add(accesses), ...);
        return all;
    } else {
        return first;
    }
}

/// False: as without a replay.
template <class F, class Attributes, class G, std::size_t... I, class... Accesses>
bool is_spawned_by_replay(replay_run& run, const Attributes& wanted, std::index_sequence<I...>,
                          G&& function, const Accesses&... accesses) {
    if constexpr ((k_is_replayable<Accesses> && ...)) {
        using body = replayed_body<F, Accesses...>;
        std::tuple<typename Accesses::kept...> kept;
        const std::array<strided_region, sizeof...(I)> first{accesses.named(std::get<I>(kept))...};
        replayed_task* const task =
            run.next(wanted, k_replayed_type<body>, detail::with_lists(run, first, accesses...));
        if (task == nullptr) {
            return false;
        }
        ::new (task->body()) body{std::move(kept), std::forward<G>(function)};
        run.start(*task, wanted);
        return true;
    } else {
        run.leave_step();
        return false;
    }
}

}  // namespace quern::detail
