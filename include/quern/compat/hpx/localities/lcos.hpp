// SPDX-License-Identifier: BSL-1.0
// hpx::distributed: latch, barrier, channel and promise for tasks of several localities. Each is a
// component.
#pragma once

#include <quern/compat/hpx/channel.hpp>
#include <quern/compat/hpx/latches.hpp>
#include <quern/compat/hpx/localities/client.hpp>
#include <quern/compat/hpx/promise.hpp>
#include <quern/localities/detail/ticket.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace hpx {

namespace detail {

struct latch_server {
    explicit latch_server(std::int64_t n) : count(static_cast<std::ptrdiff_t>(n)) {}
    void count_down(std::int64_t n) { count.count_down(static_cast<std::ptrdiff_t>(n)); }
    void arrive_and_wait() { count.arrive_and_wait(); }
    void wait() { count.wait(); }
    bool is_ready() { return count.is_ready(); }
    hpx::latch count;
};

struct barrier_server {
    explicit barrier_server(std::uint64_t participants) : phases(participants) {}
    void wait() { phases.wait(); }
    lcos::local::barrier phases;
};

/// The barrier that all participants with that name make together; the next ones get another.
future<id_type> meet_at_barrier(const std::string& name, std::size_t participants);

template <class T>
struct channel_server {
    lcos::local::channel<T> values;
};
template <class T>
struct promise_server {
    hpx::promise<T> value;
};
template <class T>
using value_or_nothing = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

/// The ticket gets what the future gets.
template <class T>
void answer_from(quern::localities::detail::ticket<T> who, future<T> from) {
    from.then(detail::in_place(), [who](future<T> ready) {
        if (!quern::localities::detail::can_answer()) {
            return;
        }
        who.answer_with([&] {
            if constexpr (std::is_void_v<T>) {
                ready.get();
                who.answer();
            } else {
                who.answer(T(ready.get()));
            }
        });
    });
}

// Calls of a channel take turns in the order of each sender, and do not wait.
template <class T>
struct channel_get {
    void operator()(component_holder& of, quern::localities::detail::ticket<T> who,
                    std::uint64_t generation) const {
        who.answer_with(
            [&] { answer_from<T>(who, of.as<channel_server<T>>().values.get(generation)); });
    }
};
template <class T>
struct channel_set {
    void operator()(component_holder& of, value_or_nothing<T>&& value,
                    std::uint64_t generation) const {
        auto& values = of.as<channel_server<T>>().values;
        if constexpr (std::is_void_v<T>) {
            values.set(generation);
        } else {
            values.set(std::move(value), generation);
        }
    }
};
template <class T>
struct channel_close {
    std::uint64_t operator()(component_holder& of, bool also_values) const {
        return of.as<channel_server<T>>().values.close(also_values);
    }
};
template <class T>
struct promise_set {
    void operator()(const component_holder& of, value_or_nothing<T>&& value) const {
        auto& promise = of.as<promise_server<T>>().value;
        if constexpr (std::is_void_v<T>) {
            promise.set_value();
        } else {
            promise.set_value(std::move(value));
        }
    }
};

}  // namespace detail

namespace distributed {

/// As hpx::latch, for tasks of several localities: made by one, found by the others by id or name.
class latch : public components::client_base<latch, hpx::detail::latch_server> {
    using base = client_base<latch, hpx::detail::latch_server>;
    using server = hpx::detail::latch_server;
    HPX_DEFINE_COMPONENT_ACTION(server, count_down, count_down_action)
    HPX_DEFINE_COMPONENT_ACTION(server, arrive_and_wait, arrive_action)
    HPX_DEFINE_COMPONENT_ACTION(server, wait, wait_action)
    HPX_DEFINE_COMPONENT_ACTION(server, is_ready, is_ready_action)

public:
    using base::base;
    latch() = default;
    explicit latch(std::ptrdiff_t count)
        : base(hpx::new_<server>(hpx::find_here(), std::int64_t{count})) {}

    void count_down(std::ptrdiff_t n) const {
        hpx::post<count_down_action>(get_id(), std::int64_t{n});
    }
    void arrive_and_wait() const { hpx::async<arrive_action>(get_id()).get(); }
    void count_down_and_wait() const { arrive_and_wait(); }
    future<void> arrive_and_wait(launch) const { return hpx::async<arrive_action>(get_id()); }
    void wait() const { hpx::async<wait_action>(get_id()).get(); }
    future<void> wait(launch) const { return hpx::async<wait_action>(get_id()); }
    bool try_wait() const { return hpx::async<is_ready_action>(get_id()).get(); }
    bool is_ready() const { return try_wait(); }
};

/// For a number of tasks of any localities, which make it with the same name; without a number, one
/// task of each locality. The last argument of HPX's constructor has no effect.
class barrier {
    using server = hpx::detail::barrier_server;
    HPX_DEFINE_COMPONENT_ACTION(server, wait, wait_action)

public:
    explicit barrier(const std::string& name)
        : barrier(name, hpx::get_num_localities(launch::sync)) {}
    barrier(const std::string& name, std::size_t participants, std::size_t = hpx::get_locality_id())
        : m_id(hpx::detail::meet_at_barrier(name, participants)) {}

    void wait() const { wait(launch::async).get(); }
    future<void> wait(launch) const { return hpx::async<wait_action>(m_id.get()); }
    void detach() { m_id = {}; }
    void release() { m_id = {}; }

    /// Once by a task of each locality.
    static void synchronize();

private:
    shared_future<id_type> m_id;
};

/// A queue of values at a locality. Values of one locality are received in its order, unless they
/// have generations. set() does not wait.
template <class T>
class channel : public components::client_base<channel<T>, hpx::detail::channel_server<T>> {
    using base = components::client_base<channel<T>, hpx::detail::channel_server<T>>;
    using server = hpx::detail::channel_server<T>;

public:
    using value_type = T;
    static constexpr std::size_t default_generation = static_cast<std::size_t>(-1);

    channel() = default;
    /// A new one at a locality; of a component's id, that channel.
    explicit channel(const id_type& at)
        : base(at.is_locality() ? hpx::new_<server>(at) : hpx::make_ready_future<id_type>(at)) {}
    channel(future<id_type>&& id) : base(std::move(id)) {}
    channel(shared_future<id_type> id) : base(std::move(id)) {}

    /// With a policy it waits for the value.
    future<T> get(std::size_t generation = default_generation) const {
        try {
            return hpx::detail::arrived(quern::localities::detail::call_with_ticket<T>(
                of_its_type(), hpx::detail::channel_get<T>(), std::uint64_t{generation}));
        } catch (...) {
            return hpx::make_exceptional_future<T>(std::current_exception());
        }
    }
    T get(launch, std::size_t generation = default_generation) const {
        return get(generation).get();
    }

    void set(hpx::detail::value_or_nothing<T> value, std::size_t generation = default_generation) {
        of_its_type().post(hpx::detail::channel_set<T>(), std::move(value),
                           std::uint64_t{generation});
    }
    void set() requires std::is_void_v<T> { set(std::monostate()); }
    /// Ready when the value is in the channel; launch::sync waits for that.
    future<void> set(launch how, hpx::detail::value_or_nothing<T> value,
                     std::size_t generation = default_generation) {
        auto done = hpx::detail::arrived(of_its_type().call(
            hpx::detail::channel_set<T>(), std::move(value), std::uint64_t{generation}));
        if (how.attributes().how == quern::launch::sync) {
            done.get();
            return hpx::make_ready_future();
        }
        return done;
    }

    /// Futures that wait get an error. Returns how many did.
    std::size_t close(launch, bool also_values = false) {
        return hpx::detail::with_arrived_errors([&] {
            return static_cast<std::size_t>(
                of_its_type().call(hpx::detail::channel_close<T>(), also_values).get());
        });
    }
    void close(bool also_values = false) {
        of_its_type().post(hpx::detail::channel_close<T>(), also_values);
    }

private:
    const hpx::detail::component_reference& of_its_type() const {
        hpx::detail::require_component(this->get_id(), typeid(server));
        return this->get_id().component();
    }
};

/// The ends of one.
template <class T>
using send_channel = channel<T>;
template <class T>
using receive_channel = channel<T>;

/// A value for futures of the locality that makes it; any locality may set it, by
/// hpx::set_lco_value(id, value).
template <class T>
class promise {
    using server = hpx::detail::promise_server<T>;

public:
    promise()
        : m_id(hpx::detail::make_component_here<server>()),
          m_server(hpx::get_ptr<server>(launch::sync, m_id)) {}
    promise(promise&&) noexcept = default;
    promise& operator=(promise&&) noexcept = default;

    future<T> get_future() { return m_server->value.get_future(); }
    id_type get_id() const { return m_id; }
    id_type get_unmanaged_id() const { return m_id; }
    template <class... Value>
    void set_value(Value&&... value) {
        m_server->value.set_value(std::forward<Value>(value)...);
    }
    void set_exception(std::exception_ptr error) {
        m_server->value.set_exception(std::move(error));
    }

private:
    id_type m_id;
    std::shared_ptr<server> m_server;
};

}  // namespace distributed

namespace lcos {
using distributed::barrier;
using distributed::channel;
using distributed::latch;
}  // namespace lcos

/// Sets the promise with that id, of any locality. An error is one of post().
template <class T>
void set_lco_value(const id_type& of, T&& value) {
    using kept = std::decay_t<T>;
    detail::require_component(of, typeid(detail::promise_server<kept>));
    of.component().post(detail::promise_set<kept>(), kept(std::forward<T>(value)));
}
inline void trigger_lco_event(const id_type& of) {
    detail::require_component(of, typeid(detail::promise_server<void>));
    of.component().post(detail::promise_set<void>(), std::monostate());
}

}  // namespace hpx

#define HPX_REGISTER_CHANNEL(...)
#define HPX_REGISTER_CHANNEL_DECLARATION(...)
#define HPX_REGISTER_PROMISE(...)
#define HPX_REGISTER_PROMISE_DECLARATION(...)
