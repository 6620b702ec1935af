// SPDX-License-Identifier: BSL-1.0
// Clients: local objects that stand for a component, with its functions as members.
#pragma once

#include <quern/compat/hpx/localities/names.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace hpx::components {

/// In older programs, what a client names instead of the component's class.
template <class Server>
struct stub_base {
    using server_component_type = Server;
};

/// The future of a component's id, behind a class with functions of its own. Copies stand for the
/// same component. Converts to the id, and waits for that; travels, and waits for that too.
/// Errors: that of the future, from get_id(). Thread safety: as a shared_future.
template <class Derived, class Server>
class client_base {
    template <class S>
    struct component_of {
        using type = S;
    };
    template <class S>
    struct component_of<stub_base<S>> {
        using type = S;
    };

public:
    using hpx_client = client_base;
    using server_component_type = typename component_of<Server>::type;
    using server_type = server_component_type;
    using future_type = shared_future<id_type>;

    client_base() = default;
    explicit client_base(const id_type& id) : m_id(hpx::make_ready_future<id_type>(id)) {}
    client_base(future<id_type>&& id) noexcept : m_id(std::move(id)) {}
    client_base(shared_future<id_type> id) noexcept : m_id(std::move(id)) {}
    client_base(future<Derived>&& other)
        : m_id(other.then([](future<Derived> ready) { return ready.get().get_id(); })) {}

    bool valid() const noexcept { return m_id.valid(); }
    explicit operator bool() const noexcept { return valid(); }
    bool is_ready() const noexcept { return m_id.is_ready(); }
    bool has_value() const noexcept { return m_id.has_value(); }
    bool has_exception() const noexcept { return m_id.has_exception(); }
    void wait() const { m_id.wait(); }

    const id_type& get_id() const {
        if (!m_id.valid()) {
            throw exception(error::no_state, "a client without a component");
        }
        return m_id.get();
    }
    const id_type& get() const { return get_id(); }
    operator const id_type&() const { return get_id(); }
    const shared_future<id_type>& share() const noexcept { return m_id; }
    shared_future<id_type> detach() { return std::move(m_id); }
    void free() { m_id = {}; }
    void reset() { m_id = {}; }
    void reset(id_type id) { m_id = hpx::make_ready_future<id_type>(std::move(id)); }

    /// Calls f(this client) when the component exists.
    template <class F>
    auto then(F&& f) const {
        return m_id.then(
            [self = static_cast<const Derived&>(*this), f = std::decay_t<F>(std::forward<F>(f))](
                const shared_future<id_type>&) mutable { return f(std::move(self)); });
    }

    /// false: the name is taken.
    future<bool> register_as(std::string name, bool = true) const {
        return m_id.then([name = std::move(name)](const shared_future<id_type>& ready) {
            return hpx::detail::register_id("agas/" + name, ready.get()).get();
        });
    }
    /// Stands for the component with that name, when there is one.
    void connect_to(const std::string& name) {
        m_id = hpx::detail::arrived(hpx::detail::find_id("agas/" + name));
    }

    friend bool operator==(const client_base& a, const client_base& b) {
        return a.get_id() == b.get_id();
    }

    template <class Archive>
    void save(Archive& into) const {
        into(valid() ? get_id() : id_type());
    }
    template <class Archive>
    void load(Archive& from) {
        id_type id;
        from(id);
        m_id = {};
        if (id) {
            reset(std::move(id));
        }
    }

private:
    future_type m_id;
};

/// A client without functions of its own.
template <class Server>
class client : public client_base<client<Server>, Server> {
    using base = client_base<client<Server>, Server>;

public:
    using base::base;
    client() = default;
};

}  // namespace hpx::components
