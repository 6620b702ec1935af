// SPDX-License-Identifier: BSL-1.0
// The typed part of a dependent task: its function, the views that the function gets, its result.
#pragma once

#include <quern/dependences/access.hpp>
#include <quern/dependences/detail/domain_core.hpp>
#include <quern/task/attributes.hpp>
#include <quern/task/detail/outcome.hpp>
#include <quern/task/future.hpp>

#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace quern::detail {

/// What a function gets of an access: nothing, a reference or a span, as a tuple.
template <class View>
auto view_of(const region& of) noexcept {
    if constexpr (std::is_void_v<View>) {
        return std::tuple<>();
    } else if constexpr (std::is_reference_v<View>) {
        using object = std::remove_reference_t<View>;
        return std::tuple<View>(*reinterpret_cast<object*>(of.begin));
    } else {
        using element = typename View::element_type;
        return std::tuple<View>(
            View(reinterpret_cast<element*>(of.begin), of.bytes / sizeof(element)));
    }
}

template <class... Views>
using views_t = decltype(std::tuple_cat(detail::view_of<Views>(region())...));

/// How a function is called: with the views, or with nothing.
template <class F, class Views>
struct body_call {
    static constexpr bool k_takes_views = false;
};
template <class F, class... Views>
struct body_call<F, std::tuple<Views...>> {
    static constexpr bool k_takes_views = std::is_invocable_v<F, Views...>;
    static constexpr bool k_is_valid = k_takes_views || std::is_invocable_v<F>;
};

template <class F, class... Views>
decltype(auto) call_body(F&& function, const access_record* accesses) {
    if constexpr (body_call<F, views_t<Views...>>::k_takes_views) {
        return [&]<std::size_t... I>(std::index_sequence<I...>)->decltype(auto) {
            return std::apply(std::forward<F>(function),
                              std::tuple_cat(detail::view_of<Views>(accesses[I])...));
        }
        (std::index_sequence_for<Views...>());
    } else {
        return std::forward<F>(function)();
    }
}

template <class F, class... Views>
using body_result = decltype(detail::call_body<F, Views...>(std::declval<F>(), nullptr));

/// A task without a result. F: the function as it is kept.
template <class F, class... Views>
class spawned_task : public dependent_task {
public:
    template <class G>
    spawned_task(domain_core& home, G&& function, const access<Views>&... accesses)
        : spawned_task(home, std::index_sequence_for<Views...>(), std::forward<G>(function),
                       accesses...) {}

protected:
    decltype(auto) call_it() {
        return detail::call_body<F, Views...>(*std::move(m_function), m_records.data());
    }
    void run_body() override { call_it(); }
    void forget_body() noexcept final { m_function.reset(); }
    void settle(std::exception_ptr) noexcept override {}

private:
    template <std::size_t... I, class G>
    spawned_task(domain_core& home, std::index_sequence<I...>, G&& function,
                 const access<Views>&... accesses)
        : dependent_task(home),
          m_records{access_record(accesses, *this)...},
          m_function(std::in_place, std::forward<G>(function)) {
        this->set_accesses(m_records);
    }

    std::array<access_record, sizeof...(Views)> m_records;
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
template <class T, class F, class... Views>
class async_task final : public spawned_task<F, Views...> {
    using base = spawned_task<F, Views...>;

public:
    template <class G>
    async_task(domain_core& home, dependent_state<T>& state, G&& function,
               const access<Views>&... accesses)
        : base(home, std::forward<G>(function), accesses...), m_state(state) {}

private:
    void run_body() override {
        try {
            m_value.emplace(
                detail::call_stored([this]() -> decltype(auto) { return this->call_it(); }));
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
                  "quern: spawn: before the function come accesses alone: in(x), out(x), inout(x), "
                  "concurrent(x)");
    static_assert(
        body_call<std::decay_t<F>,
                  views_t<typename std::remove_cvref_t<Accesses>::view_type...>>::k_is_valid,
        "quern: spawn: the function takes neither one view for each access nor nothing");
}

/// The type of the view of the I-th part, which is an access.
template <std::size_t I, class... Parts>
using view_of_part =
    typename std::remove_cvref_t<std::tuple_element_t<I, std::tuple<Parts...>>>::view_type;

/// Throws std::invalid_argument for attributes that a dependent task cannot have.
void check_attributes(const task_attributes& wanted, const pool& of);

/// `parts`: the accesses, then the function.
template <class... Parts>
void spawn_in(domain_core& home, const task_attributes& wanted, Parts&&... parts) {
    constexpr std::size_t k_accesses = sizeof...(Parts) - 1;
    auto all = std::forward_as_tuple(std::forward<Parts>(parts)...);
    detail::check_attributes(wanted, home.home_pool());
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        using F = std::decay_t<std::tuple_element_t<k_accesses, std::tuple<Parts...>>>;
        detail::check_spawn<F, std::tuple_element_t<I, std::tuple<Parts...>>...>();
        using task_type = spawned_task<F, view_of_part<I, Parts...>...>;
        auto* const task =
            new task_type(home, std::get<k_accesses>(std::move(all)), std::get<I>(all)...);
        detail::apply_attributes(wanted, *task);
        home.start(*task);
    }
    (std::make_index_sequence<k_accesses>());
}

template <class... Parts>
auto async_in(domain_core& home, const task_attributes& wanted, Parts&&... parts) {
    constexpr std::size_t k_accesses = sizeof...(Parts) - 1;
    auto all = std::forward_as_tuple(std::forward<Parts>(parts)...);
    detail::check_attributes(wanted, home.home_pool());
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        using F = std::decay_t<std::tuple_element_t<k_accesses, std::tuple<Parts...>>>;
        detail::check_spawn<F, std::tuple_element_t<I, std::tuple<Parts...>>...>();
        using T = body_result<F, view_of_part<I, Parts...>...>;
        using task_type = async_task<T, F, view_of_part<I, Parts...>...>;
        auto state = std::make_unique<dependent_state<T>>();
        auto* const task =
            new task_type(home, *state, std::get<k_accesses>(std::move(all)), std::get<I>(all)...);
        future<T> result{state_ref<shared_state<T>>(state.release())};
        detail::apply_attributes(wanted, *task);
        home.start(*task);
        return result;
    }
    (std::make_index_sequence<k_accesses>());
}

}  // namespace quern::detail
