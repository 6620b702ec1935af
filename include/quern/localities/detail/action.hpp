// SPDX-License-Identifier: BSL-1.0
// The two ends of a call: what the caller writes, and the function that reads it at the other
// locality. No registration: the reading function is an instance of a template, found at the other
// locality by its place in the program, which is the same program.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/detail/parcel.hpp>
#include <quern/localities/remote_error.hpp>
#include <quern/scheduler/detail/queued_task.hpp>
#include <quern/task/future.hpp>
#include <quern/task/promise.hpp>

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace quern::localities::detail {

template <class F>
inline constexpr bool k_is_function_pointer =
    std::is_pointer_v<F>&& std::is_function_v<std::remove_pointer_t<F>>;
/// Its type says all.
template <class F>
inline constexpr bool k_is_stateless = std::is_empty_v<F>&& std::is_default_constructible_v<F>;

/// What travels back: values, as what a reference refers to may not be read elsewhere.
template <class F, class... Args>
using result_of = std::remove_cvref_t<std::invoke_result_t<F, Args...>>;

template <class R>
constexpr void require_result() {
    static_assert(!quern::detail::is_future_v<R>,
                  "quern: localities: the function returns a future, which stays where it was "
                  "made: let it return the value, by get()");
    if constexpr (!std::is_void_v<R>) {
        detail::require_can_travel<R>();
    }
}

template <class F, class... Args>
constexpr void require_action() {
    static_assert(k_is_function_pointer<F> || k_is_stateless<F>,
                  "quern: localities: the called function must be a function or a lambda without "
                  "captures: what it needs travels as arguments, run_at(where, f, x)");
    static_assert(std::is_invocable_v<F, Args...>,
                  "quern: localities: the function cannot be called with these arguments. They "
                  "arrive as values of their own: a parameter T& cannot take them, T, const T& and "
                  "T&& can");
    (detail::require_argument<Args>(), ...);
    if constexpr (std::is_invocable_v<F, Args...>) {
        detail::require_result<result_of<F, Args...>>();
    }
}

/// Whether the rest can be compiled: else require_action() says all.
template <class F, class... Args>
inline constexpr bool k_is_action = (k_is_function_pointer<F> ||
                                     k_is_stateless<F>)&&std::is_invocable_v<F, Args...>;

template <class... Values>
struct kept_tuple final : kept_values {
    explicit kept_tuple(std::tuple<Values...>&& from) : values(std::move(from)) {}
    std::tuple<Values...> values;
};

/// Writes them into the parcel, and keeps them in it if chunks point into them: storage on the heap
/// stays where it is when its owner is moved.
template <class... Values>
void put_values(outgoing_parcel& into, std::tuple<Values...>& values) {
    std::apply([&](const auto&... each) { (localities::detail::write(into.bytes, each), ...); },
               values);
    if (!into.chunks.empty()) {
        into.kept = std::make_unique<kept_tuple<Values...>>(std::move(values));
    }
}

/// The same of the arguments of a call, which may be or have stop tokens.
template <class... Values>
void put_arguments(outgoing_parcel& into, std::tuple<Values...>& values) {
    into.bytes.note_tokens_in(into.tokens);
    detail::put_values(into, values);
}

/// Calls post with a parcel of these values: its bytes, or, of others than small ones, the whole.
template <bool AreArguments, class Post, class... Values>
void post_values(std::tuple<Values...> values, Post&& post) {
    if constexpr (k_need_no_archive<Values...>) {
        std::array<std::byte, k_fixed_size<Values...>> bytes;
        std::byte* next = bytes.data();
        const auto copy = [&](const auto& value) {
            std::memcpy(next, &value, sizeof value);
            next += sizeof value;
        };
        std::apply([&](const auto&... each) { (copy(each), ...); }, values);
        post(std::span<const std::byte>(bytes));
    } else {
        outgoing_parcel parcel;
        if constexpr (AreArguments) {
            detail::put_arguments(parcel, values);
        } else {
            detail::put_values(parcel, values);
        }
        post(std::move(parcel));
    }
}

template <class R>
void answer_by_value(const arrived_parcel& call, R&& value) {
    detail::post_values<false>(std::tuple<std::remove_cvref_t<R>>(std::forward<R>(value)),
                               [&]<class Parcel>(Parcel&& answer) {
                                   detail::post_answer(call, k_value, std::forward<Parcel>(answer));
                               });
}

/// The code of a function, for reports; null: it is not known.
template <class F>
const void* code_of(const F& function) noexcept {
    if constexpr (k_is_function_pointer<F>) {
        return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(function));
    } else if constexpr (requires { &F::operator(); }) {
        // The first word of a pointer to a member function that is not virtual (Itanium C++ ABI).
        const auto member = &F::operator();
        const void* code = nullptr;
        std::memcpy(&code, &member, sizeof code);
        return code;
    } else {
        return nullptr;
    }
}

/// What reports call a task of such a function of Quern's: its name_of_task(); else null.
template <class F, class... Args>
const char* name_of_task([[maybe_unused]] const std::tuple<Args...>& arguments) noexcept {
    if constexpr (requires(const Args&... each) { F::name_of_task(each...); }) {
        return std::apply([](const Args&... each) { return F::name_of_task(each...); }, arguments);
    } else {
        return nullptr;
    }
}

/// Runs the function as the body of the present task, which ends with it.
template <class F, class... Args>
decltype(auto) run_body(F& function, std::tuple<Args...>& arguments) {
    detail::task_runs(detail::code_of(function), detail::name_of_task<F>(arguments));
    const quern::detail::task_body body(quern::detail::task_body::part_of::task);
    return std::apply(function, std::move(arguments));
}

/// Answers with the result of body(), if there is an answer.
template <class R, class Body>
void answer_with(const arrived_parcel& call, Body&& body) {
    if constexpr (std::is_void_v<R>) {
        body();
        if (call.call() != 0) {
            detail::post_answer(call, k_value, std::span<const std::byte>());
        }
    } else if (call.call() == 0) {
        static_cast<void>(body());
    } else {
        R value(body());  // a reference must be read before what it may refer to ends
        detail::answer_by_value(call, std::move(value));
    }
}

/// The action_function of calls of an F with these arguments.
template <class F, class... Args>
void run_action(arrived_parcel& parcel) {
    using result = result_of<F, Args...>;
    std::tuple<Args...> arguments;
    F function{};
    const auto read = [&](auto&... values) {
        if constexpr (k_is_function_pointer<F>) {
            code_place place = 0;
            parcel.read("the arguments of a call", place, values...);
            function = reinterpret_cast<F>(
                reinterpret_cast<std::uintptr_t>(detail::code_at(parcel.of(), place)));
        } else {
            parcel.read("the arguments of a call", values...);
        }
    };
    std::apply(read, arguments);
    detail::answer_with<result>(
        parcel, [&]() -> decltype(auto) { return detail::run_body(function, arguments); });
}

template <class R>
class promised_call final : public waiting_call {
public:
    promised_call() = default;
    explicit promised_call(promise<R>&& answer) : m_promise(std::move(answer)) {}

    future<R> get_future() { return m_promise.get_future(); }

    void has_value(arrived_parcel& answer) override {
        if constexpr (std::is_void_v<R>) {
            answer.read("an answer");
            m_promise.set_value();
        } else {
            R value{};
            answer.read("an answer", value);
            m_promise.set_value(std::move(value));
        }
    }
    void has_failed(std::exception_ptr error) noexcept override {
        m_promise.set_exception(std::move(error));
    }

private:
    promise<R> m_promise;
};

/// Posts a call. `number`: of the waiting_call, or 0.
template <class F, class... Args>
void post_call_of(job& of, int where, std::uint64_t number, F function,
                  std::tuple<Args...> values) {
    constexpr action_function k_run = &run_action<F, Args...>;
    const code_place code = detail::place_of_code(
        of, reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(k_run)));
    const auto post = [&]<class Parcel>(Parcel&& parcel) {
        detail::post_call(of, where, code, number, std::forward<Parcel>(parcel));
    };
    if constexpr (k_is_function_pointer<F>) {
        const auto address = reinterpret_cast<std::uintptr_t>(function);
        const code_place place = detail::place_of_code(of, reinterpret_cast<const void*>(address));
        detail::post_values<true>(std::tuple_cat(std::tuple(place), std::move(values)), post);
    } else {
        detail::post_values<true>(std::move(values), post);
    }
}

template <class F, class... Args>
auto call_at(job& of, int where, F function, std::tuple<Args...> values) {
    auto call = std::make_unique<promised_call<result_of<F, Args...>>>();
    auto answer = call->get_future();
    const std::uint64_t number = detail::add_call(of, std::move(call), where);
    try {
        detail::post_call_of(of, where, number, function, std::move(values));
    } catch (...) {
        detail::forget_call(of, number);
        throw;
    }
    return answer;
}

/// Calls at the caller's own locality do not travel; errors are the same.
template <class F, class... Args>
struct local_call {
    F function;
    std::tuple<Args...> arguments;
    int here;
    counted_call counted;

    result_of<F, Args...> operator()() {
        try {
            return std::apply(function, std::move(arguments));
        } catch (...) {
            throw remote_error(detail::report_of_current_exception(here));
        }
    }
};

}  // namespace quern::localities::detail
