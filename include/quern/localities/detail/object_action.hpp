// SPDX-License-Identifier: BSL-1.0
// The two ends of a call of a global object, as templates: at the object's own locality, where
// nothing is written, and at another one.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/detail/action.hpp>
#include <quern/localities/detail/objects.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace quern::localities::detail {

template <class T>
const object_type& object_type_of() {
    static constexpr auto k_destroy = [](void* object) noexcept { delete static_cast<T*>(object); };
    if constexpr (can_travel<T>) {
        static constexpr auto k_write = [](outgoing_parcel& into, const void* object) {
            localities::detail::write(into.bytes, *static_cast<const T*>(object));
        };
        static constexpr auto k_read = [](arrived_parcel& from) -> void* {
            auto object = std::make_unique<T>();
            from.read("a global object", *object);
            return object.release();
        };
        static const object_type type{typeid(T), k_destroy, k_write, k_read};
        return type;
    } else {
        static const object_type type{typeid(T), k_destroy, nullptr, nullptr};
        return type;
    }
}

/// How a pointer to a member function travels: its two words (Itanium C++ ABI), the first of which
/// is a place in the code unless the function is virtual.
struct member_function {
    std::uint64_t what = 0;
    std::int64_t adjustment = 0;
    std::uint64_t is_virtual = 0;

#if defined(__aarch64__) || defined(__arm__)
    static constexpr bool k_mark_is_in_adjustment = true;
#else
    static constexpr bool k_mark_is_in_adjustment = false;
#endif

    /// With an address in place of the place.
    template <class F>
    static member_function words_of(F function) noexcept {
        std::uint64_t words[2];
        static_assert(sizeof function == sizeof words);
        std::memcpy(words, &function, sizeof function);
        return {words[0], static_cast<std::int64_t>(words[1]),
                words[k_mark_is_in_adjustment ? 1 : 0] & 1U};
    }
    const void* address() const noexcept {
        return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(what));
    }

    template <class F>
    static member_function of(const job& its, F function) {
        member_function to = words_of(function);
        if (to.is_virtual == 0) {
            to.what = detail::place_of_code(its, to.address());
        }
        return to;
    }
    template <class F>
    void get(const job& its, F& function) const {
        const std::uint64_t words[2]{
            is_virtual != 0 ? what : reinterpret_cast<std::uintptr_t>(detail::code_at(its, what)),
            static_cast<std::uint64_t>(adjustment)};
        std::memcpy(&function, words, sizeof function);
    }
};

template <class F>
inline constexpr bool k_is_member_function = std::is_member_function_pointer_v<F>;

/// A function as a value that travels, and back.
template <class F>
auto write_function(const job& of, const F& function) {
    if constexpr (k_is_member_function<F>) {
        return member_function::of(of, function);
    } else if constexpr (k_is_function_pointer<F>) {
        return detail::place_of_code(
            of, reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(function)));
    } else {
        return std::uint64_t{0};  // its type says all
    }
}
template <class F, class Written>
void read_function(const job& of, const Written& from, F& function) {
    if constexpr (k_is_member_function<F>) {
        from.get(of, function);
    } else if constexpr (k_is_function_pointer<F>) {
        function = reinterpret_cast<F>(reinterpret_cast<std::uintptr_t>(detail::code_at(of, from)));
    }
}

/// Whether a call can take the object as const T&: then it runs beside others like it.
template <class F, class T, class... Args>
inline constexpr bool k_is_shared_call = std::is_invocable_v<F, const T&, Args...>;
template <class F, class T, class... Args>
using called_object = std::conditional_t<k_is_shared_call<F, T, Args...>, const T, T>;
template <class F, class T, class... Args>
using result_of_call = result_of<F, called_object<F, T, Args...>&, Args...>;

template <class F, class T, class... Args>
constexpr void require_object_action() {
    static_assert(
        k_is_member_function<F> || k_is_function_pointer<F> || k_is_stateless<F>,
        "quern: localities: a global object is called by a member function, a function or "
        "a lambda without captures: what it needs travels as arguments, "
        "object.call(f, x)");
    static_assert(std::is_invocable_v<F, T&, Args...>,
                  "quern: localities: the function cannot be called with the object and these "
                  "arguments. It is f(object, arguments...), or a member function of the object's "
                  "type. Arguments arrive as values of their own: a parameter X& cannot take them, "
                  "X, const X& and X&& can");
    (detail::require_argument<Args>(), ...);
    if constexpr (std::is_invocable_v<F, T&, Args...>) {
        detail::require_result<result_of_call<F, T, Args...>>();
    }
}
template <class F, class T, class... Args>
inline constexpr bool k_is_object_action = (k_is_member_function<F> || k_is_function_pointer<F> ||
                                            k_is_stateless<F>)&&std::is_invocable_v<F, T&, Args...>;

/// The code of a function, for reports; null: it is not known, or chosen by the object.
template <class F>
const void* code_of_call(const F& function) noexcept {
    if constexpr (k_is_member_function<F>) {
        const auto known = member_function::words_of(function);
        return known.is_virtual != 0 ? nullptr : known.address();
    } else {
        return detail::code_of(function);
    }
}

template <class F, class Object, class... Args>
decltype(auto) run_on(F& function, Object& object, std::tuple<Args...>& arguments) {
    detail::task_runs(detail::code_of_call(function));
    const quern::detail::task_body body(quern::detail::task_body::part_of::task);
    return std::apply(
        [&](Args&&... each) -> decltype(auto) {
            return std::invoke(function, object, std::forward<Args>(each)...);
        },
        std::move(arguments));
}

/// The object_function of calls of an F with these arguments.
template <class F, class T, class... Args>
void run_object_action(arrived_parcel& parcel, void* object) {
    auto& target = *static_cast<called_object<F, T, Args...>*>(object);
    std::tuple<Args...> arguments;
    F function{};
    decltype(detail::write_function(std::declval<const job&>(), function)) written{};
    std::apply([&](auto&... values) { parcel.read("the arguments of a call", written, values...); },
               arguments);
    detail::read_function(parcel.of(), written, function);
    detail::answer_with<result_of_call<F, T, Args...>>(
        parcel, [&]() -> decltype(auto) { return detail::run_on(function, target, arguments); });
}

/// An exception of a call without an answer.
void fail_without_answer(const job& of) noexcept;

/// A call of an object that is here, whose turn it is, as the function of a task. Turn, arguments
/// and count end with the call, though the task may live longer.
template <class F, class T, class... Args>
class call_here {
public:
    using result = result_of_call<F, T, Args...>;
    call_here(job& of, object_turn&& turn, F function, std::tuple<Args...>&& arguments)
        : m_job(of),
          m_counted(of),
          m_turn(std::move(turn)),
          m_function(function),
          m_arguments(std::move(arguments)) {}

    result operator()() {
        const counted_call counted(std::move(m_counted));
        try {
            return run();
        } catch (...) {
            throw remote_error(detail::report_of_current_exception(detail::number_of_here(m_job)));
        }
    }
    void run_without_answer() {
        const counted_call counted(std::move(m_counted));
        try {
            static_cast<void>(run());
        } catch (...) {
            detail::fail_without_answer(m_job);
        }
    }

private:
    result run() {
        object_turn turn(std::move(m_turn));
        turn.begins();
        std::tuple<Args...> arguments(std::move(m_arguments));
        auto& target = *static_cast<called_object<F, T, Args...>*>(turn.object());
        return static_cast<result>(detail::run_on(m_function, target, arguments));
    }

    job& m_job;
    counted_call m_counted;
    object_turn m_turn;
    F m_function;
    std::tuple<Args...> m_arguments;
};

/// In place of a promise: no task waits.
struct no_promise {};

/// A call that has not been written. `Promise`: promise<result>, or no_promise of post().
template <class Promise, class F, class T, class... Args>
class typed_object_call final : public object_call {
public:
    typed_object_call(job& of, Promise&& answer, F function, std::tuple<Args...>&& arguments)
        : m_job(of),
          m_promise(std::move(answer)),
          m_function(function),
          m_arguments(std::move(arguments)) {}

    void run(void* object) noexcept override {
        auto& target = *static_cast<called_object<F, T, Args...>*>(object);
        try {
            if constexpr (!k_answers) {
                static_cast<void>(detail::run_on(m_function, target, m_arguments));
            } else if constexpr (std::is_void_v<result_of_call<F, T, Args...>>) {
                detail::run_on(m_function, target, m_arguments);
                m_promise.set_value();
            } else {
                m_promise.set_value(detail::run_on(m_function, target, m_arguments));
            }
        } catch (...) {
            if constexpr (k_answers) {
                m_promise.set_exception(std::make_exception_ptr(remote_error(
                    detail::report_of_current_exception(detail::number_of_here(m_job)))));
            } else {
                detail::fail_without_answer(m_job);
            }
        }
    }

    std::unique_ptr<contents> take_contents() override {
        auto all = std::make_unique<contents>();
        constexpr object_function k_run = &run_object_action<F, T, Args...>;
        all->action = detail::place_of_code(
            m_job, reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(k_run)));
        std::tuple values = std::tuple_cat(std::tuple(detail::write_function(m_job, m_function)),
                                           std::move(m_arguments));
        detail::put_arguments(all->parcel, values);
        if constexpr (k_answers) {
            using result = result_of_call<F, T, Args...>;
            auto call = std::make_unique<promised_call<result>>(std::move(m_promise));
            detail::lend_tokens(*call, std::move(all->parcel.tokens));
            all->answer = detail::add_call(m_job, std::move(call), k_anywhere);
        } else {
            all->answer = detail::add_posted_call(m_job, std::move(all->parcel.tokens), k_anywhere);
        }
        return all;
    }

private:
    static constexpr bool k_answers = !std::is_same_v<Promise, no_promise>;

    job& m_job;
    Promise m_promise;
    F m_function;
    std::tuple<Args...> m_arguments;
};

}  // namespace quern::localities::detail
