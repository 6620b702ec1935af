// SPDX-License-Identifier: BSL-1.0
// The typed part of a dependent task: its function, the views that the function gets, its result.
#pragma once

#include <quern/dependences/access.hpp>
#include <quern/dependences/detail/access_records.hpp>
#include <quern/dependences/detail/body_call.hpp>
#include <quern/dependences/detail/domain_core.hpp>
#include <quern/dependences/detail/replayed_body.hpp>
#include <quern/dependences/detail/restart.hpp>
#include <quern/dependences/detail/undo.hpp>
#include <quern/task/attributes.hpp>
#include <quern/task/detail/enough_stack.hpp>
#include <quern/task/detail/outcome.hpp>
#include <quern/task/future.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern::detail {

// -- the task ----------------------------------------------------------------------------------

/// A task without a result. F: the function as it is kept.
template <class F, class... Accesses>
class spawned_task : public dependent_task {
public:
    template <class G>
    spawned_task(domain_core& home, G&& function, const Accesses&... accesses)
        : spawned_task(home, std::index_sequence_for<Accesses...>(), std::forward<G>(function),
                       accesses...) {}

protected:
    decltype(auto) call_it() {
        return detail::call_body<Accesses...>(*std::move(m_function), m_records.regions(), m_kept);
    }
    void run_body() override { call_it(); }
    void forget_body() noexcept final { m_function.reset(); }
    void settle(std::exception_ptr) noexcept override {}

private:
    void end_access(const access_record& one) noexcept final {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            [[maybe_unused]] const auto end = [&](std::size_t i, auto& keeps) {
                if constexpr (requires { keeps.ended(); }) {
                    if (&m_records[i] == &one) {
                        keeps.ended();
                    }
                }
            };
            (end(I, std::get<I>(m_kept)), ...);
        }
        (std::index_sequence_for<Accesses...>());
    }

    template <std::size_t... I, class G>
    spawned_task(domain_core& home, std::index_sequence<I...>, G&& function,
                 const Accesses&... accesses)
        : dependent_task(home),
          m_records(*this, {accesses.resolve(std::get<I>(m_kept), home)...}, accesses...),
          m_function(std::in_place, std::forward<G>(function)) {
        this->set_accesses(m_records.all());
    }

    [[no_unique_address]] std::tuple<typename Accesses::kept...> m_kept;
    records_of<Accesses...> m_records;
    std::optional<F> m_function;
};

/// The state of the future of a dependent task. Its error is observed: the domain has it too.
template <class T>
class dependent_state final : public shared_state<T> {
public:
    dependent_state()
        : shared_state<T>(
              2,
              [](state_base& self) noexcept {
                  delete &static_cast<dependent_state&>(static_cast<shared_state<T>&>(self));
              },
              state_base::maker::task) {}

    void settle_with(std::exception_ptr error) noexcept {
        this->m_observed.store(true, std::memory_order_relaxed);
        this->set_error(std::move(error));
    }
};

/// A task with a result. It is kept until the children have ended.
template <class T, class F, class... Accesses>
class async_task final : public spawned_task<F, Accesses...> {
    using base = spawned_task<F, Accesses...>;

public:
    template <class G>
    async_task(domain_core& home, dependent_state<T>& state, G&& function,
               const Accesses&... accesses)
        : base(home, std::forward<G>(function), accesses...), m_state(state) {}

private:
    void run_body() override {
        try {
            m_value.emplace(
                detail::call_stored([this]() -> decltype(auto) { return this->call_it(); }));
        } catch (const restart_of_task&) {
            throw;
        } catch (...) {
            m_error = std::current_exception();
            throw;
        }
    }

    void settle(std::exception_ptr error_of_children) noexcept override {
        if (this->m_is_dropped) {
            m_error = detail::cancelled_task(this->name);
        } else if (m_error == nullptr) {
            m_error = std::move(error_of_children);
        }
        if (m_error == nullptr) {
            try {
                m_state.set_value(*std::move(m_value));
            } catch (...) {
                m_error = std::current_exception();
            }
        }
        if (m_error != nullptr) {
            m_state.settle_with(std::move(m_error));
        }
        m_state.release();
    }

    dependent_state<T>& m_state;
    std::optional<stored_result<T>> m_value;
    std::exception_ptr m_error;
};

template <class F, class... Accesses>
constexpr void check_spawn() {
    static_assert((an_access<Accesses> && ...),
                  "quern: spawn: before the function come only accesses: in(x), out(x), inout(x), "
                  "concurrent(x), commutative(x), reduction(x, op), weak(...)");
    static_assert(body_call<F, views_t<Accesses...>>::k_is_valid,
                  "quern: spawn: the function takes neither one view for each access nor nothing");
}

/// The type of the I-th part.
template <std::size_t I, class... Parts>
using part_t = std::decay_t<std::tuple_element_t<I, std::tuple<Parts...>>>;

/// Throws std::invalid_argument for attributes that a dependent task cannot have.
void check_attributes(const task_attributes& wanted, const pool& of);
inline void check_attributes(const usual_attributes&, const pool&) noexcept {}

/// Throws std::invalid_argument: a region of a reduction is accessed by another access too.
void refuse_mixed_reduction(std::span<const wanted_region> accesses);

template <class... Accesses>
void check_reductions(domain_core& home, const Accesses&... accesses) {
    if constexpr (sizeof...(Accesses) > 1 && (requires { Accesses::in_place(region()); } || ...)) {
        std::vector<wanted_region> all;
        const auto add = [&]<class A>(const A& access) {
            if constexpr (an_access_list<A>) {
                all.insert(all.end(), access.regions().begin(), access.regions().end());
            } else {
                all.push_back(detail::wanted_of(access, home));
            }
        };
        (add(accesses), ...);
        refuse_mixed_reduction(all);
    }
}

inline void start_as(const usual_attributes& wanted, domain_core& home, dependent_task& task) {
    task.site = wanted.site;
    home.start(task);
}
inline void start_as(const task_attributes& wanted, domain_core& home, dependent_task& task) {
    detail::apply_attributes(wanted, task);
    task.set_nesting(wanted.final, wanted.wait);
    if (wanted.communication) [[unlikely]] {
        home.mark_communication(task);
    }
    if (wanted.deferred) [[likely]] {
        home.start(task);
    } else {
        home.start_and_wait(task);
    }
}

/// An access of a task that is none: it runs in the place of its creation.
template <class Of>
struct in_place_access : access_base {
    using view_type = typename Of::view_type;
    using kept = typename Of::kept;

    static auto view(kept& keeps, const region& where) {
        if constexpr (requires { Of::in_place(where); }) {
            return Of::in_place(where);
        } else {
            return Of::view(keeps, where);
        }
    }
};

/// Whether one of the lists among the accesses has the region.
template <class... Accesses>
bool is_in_list(const void* tuple, const strided_region& wanted) {
    const auto has = [&wanted]<class A>(const A& access) {
        if constexpr (an_access_list<A>) {
            const auto all = access.regions();
            return std::any_of(all.begin(), all.end(), [&wanted](const wanted_region& each) {
                return detail::is_place_or_part(each.get(), wanted);
            });
        } else {
            return false;
        }
    };
    return std::apply([&has](const Accesses&... each) { return (has(each) || ...); },
                      *static_cast<const std::tuple<const Accesses&...>*>(tuple));
}

/// A child of a final task.
template <class F, class... Accesses>
void run_in_place(domain_core& home, F&& function, const Accesses&... accesses) noexcept {
    if (home.is_stopped()) {
        return;
    }
    try {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            std::tuple<typename Accesses::kept...> kept;
            const std::array<strided_region, sizeof...(Accesses)> where{
                detail::named_region(accesses, std::get<I>(kept), home)...};
            const std::tuple<const Accesses&...> all(accesses...);
            child_in_place child{.where = where, .lists = &all, .is_in_list = nullptr};
            if constexpr ((an_access_list<Accesses> || ...)) {
                child.is_in_list = detail::is_in_list<Accesses...>;
            }
            const running_in_place running(home, child);
            detail::on_enough_stack([&] {
                detail::call_body<in_place_access<Accesses>...>(std::forward<F>(function), where,
                                                                kept);
            });
        }
        (std::index_sequence_for<Accesses...>());
    } catch (...) {
        home.fail(std::current_exception());
    }
}

template <class A>
void has_waited_for(const A& access) {
    if constexpr (requires { access.has_been_waited_for(); }) {
        access.has_been_waited_for();
    }
}

template <class... Accesses>
void taskwait_on(domain_core& home, const std::tuple<Accesses...>& wanted) {
    const auto regions = std::apply(
        [&home](const Accesses&... each) {
            return std::array<wanted_region, sizeof...(Accesses)>{detail::wanted_of(each, home)...};
        },
        wanted);
    home.taskwait_on(regions);
    std::apply([](const Accesses&... each) { (detail::has_waited_for(each), ...); }, wanted);
}

/// `parts`: the accesses, then the function.
/// Attributes: task_attributes or usual_attributes.
template <class Attributes, class... Parts>
void spawn_in(domain_core& home, const Attributes& wanted, Parts&&... parts) {
    constexpr std::size_t k_accesses = sizeof...(Parts) - 1;
    auto all = std::forward_as_tuple(std::forward<Parts>(parts)...);
    detail::check_attributes(wanted, home.home_pool());
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        using F = part_t<k_accesses, Parts...>;
        detail::check_spawn<F, part_t<I, Parts...>...>();
        if (home.runs_in_place()) [[unlikely]] {
            detail::run_in_place(home, std::get<k_accesses>(std::move(all)), std::get<I>(all)...);
            return;
        }
        if (home.replay() != nullptr) [[unlikely]] {
            if (detail::is_spawned_by_replay<F>(*home.replay(), wanted, std::index_sequence<I...>(),
                                                std::get<k_accesses>(std::move(all)),
                                                std::get<I>(all)...)) {
                return;
            }
        }
        detail::check_reductions(home, std::get<I>(all)...);
        using task_type = spawned_task<F, part_t<I, Parts...>...>;
        undo_unless_done<part_t<I, Parts...>...> undo(home, std::get<I>(all)...);
        auto* const task =
            new task_type(home, std::get<k_accesses>(std::move(all)), std::get<I>(all)...);
        detail::start_as(wanted, home, *task);
        undo.done();
    }
    (std::make_index_sequence<k_accesses>());
}

template <class Attributes, class... Parts>
auto async_in(domain_core& home, const Attributes& wanted, Parts&&... parts) {
    constexpr std::size_t k_accesses = sizeof...(Parts) - 1;
    auto all = std::forward_as_tuple(std::forward<Parts>(parts)...);
    detail::check_attributes(wanted, home.home_pool());
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        using F = part_t<k_accesses, Parts...>;
        detail::check_spawn<F, part_t<I, Parts...>...>();
        if (home.replay() != nullptr) [[unlikely]] {
            home.replay()->leave_step();
        }
        using T = body_result<F, part_t<I, Parts...>...>;
        detail::check_reductions(home, std::get<I>(all)...);
        using task_type = async_task<T, F, part_t<I, Parts...>...>;
        auto state = std::make_unique<dependent_state<T>>();
        undo_unless_done<part_t<I, Parts...>...> undo(home, std::get<I>(all)...);
        auto* const task =
            new task_type(home, *state, std::get<k_accesses>(std::move(all)), std::get<I>(all)...);
        future<T> result{state_ref<shared_state<T>>(state.release())};
        detail::start_as(wanted, home, *task);
        undo.done();
        return result;
    }
    (std::make_index_sequence<k_accesses>());
}

}  // namespace quern::detail
