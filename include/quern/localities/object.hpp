// SPDX-License-Identifier: BSL-1.0
// Objects that all localities can call, and that can move from one to another.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/detail/object_action.hpp>
#include <quern/localities/pinned.hpp>
#include <quern/localities/run_at.hpp>
#include <quern/localities/session.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace quern::localities {

namespace detail {
template <class T>
struct maker;
template <class T>
struct naming;
}  // namespace detail

/// A reference to a global object, a T that make_at() has made: a name that means the same object
/// at all localities, wherever it is. It is counted: the object ends, where it is, after the last
/// reference of any locality has gone and its calls have run. References travel, as arguments,
/// results and members of both; objects that refer to one another in a ring never end before the
/// session.
///
/// Calls of an object take turns, in the order of each caller's locality: a call that can take the
/// object as const T& runs beside others like it, any other one runs alone. So the object needs no
/// lock, and a call sees what earlier calls of its locality have done. A call that waits for
/// another call of the same object, in both directions or in a ring, waits for ever.
///
///     struct counter {
///         int value = 0;
///         int add(int n) { return value += n; }
///     };
///     quern::localities::object<counter> all = quern::localities::make_at<counter>(0);
///     all.post(&counter::add, 1);
///     int now = all.call(&counter::add, 2).get();  // 3
///
/// Thread safety: as a shared_ptr. A reference may outlive the session; then it can only be copied
/// and destroyed.
template <class T>
class object {
public:
    /// Refers to no object.
    object() noexcept = default;

    /// Calls f(object, args...), or (object.*f)(args...), as a task where the object is, and
    /// returns a future of its result. `f` is a member function, a function or a lambda without
    /// captures. Arguments and result travel as those of run_at().
    ///
    /// Errors: std::logic_error without an object or a session; what the function throws arrives as
    /// a remote_error. Thread safety: any task or thread. Cost at the object's locality: a task
    /// if nothing comes before it, else three allocations more; elsewhere as run_at().
    template <class F, class... Args>
    auto call(F f, Args&&... args) const {
        detail::require_object_action<F, T, std::decay_t<Args>...>();
        if constexpr (detail::k_is_object_action<F, T, std::decay_t<Args>...>) {
            using result = detail::result_of_call<F, T, std::decay_t<Args>...>;
            std::tuple<std::decay_t<Args>...> values(std::forward<Args>(args)...);
            if (auto turn = begin_here<F, std::decay_t<Args>...>("object::call")) {
                detail::job& of = detail::job_for("object::call");
                return quern::async(detail::pool_of_parcels(of),
                                    detail::call_here<F, T, std::decay_t<Args>...>(
                                        of, std::move(turn), f, std::move(values)));
            }
            promise<result> answer;
            future<result> given = answer.get_future();
            send("object::call", std::move(answer), f, std::move(values));
            return given;
        } else {
            return future<void>();
        }
    }

    /// The same without an answer. An exception is treated, where the object is, as one of a task
    /// of quern::post().
    template <class F, class... Args>
    void post(F f, Args&&... args) const {
        detail::require_object_action<F, T, std::decay_t<Args>...>();
        if constexpr (detail::k_is_object_action<F, T, std::decay_t<Args>...>) {
            std::tuple<std::decay_t<Args>...> values(std::forward<Args>(args)...);
            if (auto turn = begin_here<F, std::decay_t<Args>...>("object::post")) {
                detail::job& of = detail::job_for("object::post");
                quern::post(task_attributes{.pool = &detail::pool_of_parcels(of).get()},
                            [one = detail::call_here<F, T, std::decay_t<Args>...>(
                                 of, std::move(turn), f, std::move(values))]() mutable {
                                one.run_without_answer();
                            });
                return;
            }
            send("object::post", detail::no_promise{}, f, std::move(values));
        }
    }

    /// The object itself, to be read in place, if it is here and nothing that comes before has to
    /// be waited for; else null, and a call is the way. Errors: as call(). Thread safety: any
    /// thread. Cost: two locks.
    ///
    ///     struct cell { double value = 0; };
    ///     const auto one = quern::localities::make_at<cell>(quern::localities::here());
    ///     if (const auto found = one.here_or_null()) std::printf("%g\n", found->value);
    pinned<const T> here_or_null() const { return pin_as<const T>("object::here_or_null"); }
    /// The same, to be changed: it runs alone.
    pinned<T> pin() const { return pin_as<T>("object::pin"); }

    /// Whether it refers to an object.
    explicit operator bool() const noexcept { return m_reference.refers(); }
    /// The same at all localities; of no object, object_name().
    object_name name() const noexcept { return m_reference.name(); }
    /// The locality where the object was when this one last heard of it; -1 of no object.
    int last_known_place() const noexcept { return m_reference.place(); }

    friend bool operator==(const object& a, const object& b) noexcept {
        return a.name() == b.name();
    }

    /// For the archives: a reference travels as its name.
    template <class Archive>
    void save(Archive& into) const {
        const detail::object_reference::travelling one =
            m_reference.refers() ? m_reference.lend() : detail::object_reference::travelling{};
        into(one.name.home, one.name.serial, one.lender, one.locality, one.moves, one.type);
    }
    template <class Archive>
    void load(Archive& from) {
        detail::object_reference::travelling one;
        from(one.name.home, one.name.serial, one.lender, one.locality, one.moves, one.type);
        m_reference = one.name.serial != 0 ? detail::object_reference::receive(one)
                                           : detail::object_reference();
        require_its_type();
    }

private:
    template <class U>
    friend struct detail::maker;
    template <class U>
    friend struct detail::naming;
    template <class U>
    friend future<void> migrate(const object<U>& one, int to);

    explicit object(detail::object_reference&& from) noexcept : m_reference(std::move(from)) {}
    void require_its_type() const {
        if (m_reference.refers() && m_reference.type() != &detail::object_type_of<T>) {
            detail::refuse_type(m_reference.name(), m_reference.type()().info, typeid(T));
        }
    }

    template <class F, class... Args>
    detail::object_turn begin_here(const char* function) const {
        return m_reference.begin_here(detail::k_is_shared_call<F, T, Args...>, function);
    }
    template <class U>
    pinned<U> pin_as(const char* function) const {
        detail::object_turn turn = m_reference.begin_here(std::is_const_v<U>, function);
        return turn ? pinned<U>(m_reference, std::move(turn), detail::job_for(function))
                    : pinned<U>();
    }
    template <class Promise, class F, class... Args>
    void send(const char* function, Promise answer, F f, std::tuple<Args...>&& values) const {
        using call = detail::typed_object_call<Promise, F, T, Args...>;
        m_reference.call(std::make_unique<call>(detail::job_for(function), std::move(answer), f,
                                                std::move(values)),
                         detail::k_is_shared_call<F, T, Args...>, function);
    }

    detail::object_reference m_reference;
};

namespace detail {

template <class T>
struct maker {
    template <class... Args>
    static object<T> make(Args... args) {
        std::unique_ptr<T> one;
        if constexpr (std::is_constructible_v<T, Args...>) {
            one = std::make_unique<T>(std::move(args)...);
        } else {
            one.reset(new T{std::move(args)...});
        }
        return adopt(std::move(one));
    }
    /// The first reference to an object that was made here.
    static object<T> adopt(std::unique_ptr<T> one) {
        object<T> made(
            object_reference::make(detail::job_for("make_at"), &object_type_of<T>, one.get()));
        static_cast<void>(one.release());
        return made;
    }
};

/// As make_at(); `site`: in the code of its caller, for reports.
template <class T, class... Args>
object<T> make_from(const void* site, int where, Args&&... args) {
    (localities::require_can_travel<std::decay_t<Args>>(), ...);
    static_cast<void>(detail::is_here(detail::job_for("make_at"), where, "make_at"));
    return detail::run_from(site, where, &maker<T>::template make<std::decay_t<Args>...>,
                            std::forward<Args>(args)...)
        .get();
}

}  // namespace detail

/// Makes a T(args...), or T{args...}, at the locality `where`, and returns the first reference to
/// it. Waits until it is made; a task lets others run meanwhile. T may be any class; one that
/// cannot travel (archive.hpp), such as an open file, stays where it was made. Its arguments can
/// have no stop tokens, which end with the call. Errors as run_at().
template <class T, class... Args>
QUERN_ALWAYS_INLINE object<T> make_at(int where, Args&&... args) {
    return detail::make_from<T>(quern::detail::code_address(), where, std::forward<Args>(args)...);
}

/// Moves an object, of a type that can travel, to the locality `to` when the calls that this
/// locality has made before, and all that run, have ended. Calls that come meanwhile follow it:
/// none is lost, and those of one locality keep their order. The future is ready when the object is
/// there.
///
///     struct cell { int value = 0; };
///     auto one = quern::localities::make_at<cell>(0);
///     quern::localities::migrate(one, 0).get();
///
/// Errors: std::out_of_range for a `to` that is no locality; std::logic_error without an object or
/// a session; if the object cannot be written or read, a remote_error, and it stays where it was.
/// Cost: the transfer and five messages.
template <class T>
future<void> migrate(const object<T>& one, int to) {
    localities::require_can_travel<T>();
    if (!one) {
        detail::refuse_no_object("migrate");
    }
    detail::job& of = detail::job_for("migrate");
    static_cast<void>(detail::is_here(of, to, "migrate"));
    auto answer = std::make_unique<detail::promised_call<void>>();
    future<void> moved = answer->get_future();
    one.m_reference.move(to, detail::add_call(of, std::move(answer), detail::k_anywhere));
    return moved;
}

}  // namespace quern::localities

template <class T>
struct std::hash<quern::localities::object<T>> {
    std::size_t operator()(const quern::localities::object<T>& one) const noexcept {
        return std::hash<quern::localities::object_name>()(one.name());
    }
};
