// SPDX-License-Identifier: BSL-1.0
// A component behind a reference whose type does not depend on the component's: the global object
// of the layer localities to which an hpx::id_type refers.
#pragma once

#include <quern/compat/hpx/errors.hpp>
#include <quern/localities/object.hpp>

#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace hpx {

namespace components {

/// What the runtime knows of a component in its own class: the base class of component_base.
class known_component {
public:
    known_component() = default;
    known_component(const known_component&) noexcept {}  // a copy is another component
    known_component& operator=(const known_component&) noexcept { return *this; }

    quern::localities::object_name name_of_component() const noexcept { return m_name; }
    void set_name_of_component(quern::localities::object_name name) noexcept { m_name = name; }

private:
    quern::localities::object_name m_name{};
};

}  // namespace components

namespace detail {

/// Says which component to make, and is told its address.
template <class T>
struct component_kind {
    T*& made;
};

/// Throws hpx::exception(bad_component_type), naming both types.
[[noreturn]] void refuse_component_type(const std::type_info& is, const std::type_info& wanted);

/// Owns one component of any type. Its calls are const, so that they run beside each other.
class component_holder {
public:
    template <class T, class... Args>
    explicit component_holder(component_kind<T> kind, Args&&... args)
        : m_type(&typeid(T)),
          m_throw([](void* one) { throw static_cast<T*>(one); }),
          m_component(kind.made = new T(std::forward<Args>(args)...),
                      [](void* one) { delete static_cast<T*>(one); }) {}
    component_holder(const component_holder&) = delete;
    component_holder& operator=(const component_holder&) = delete;

    const std::type_info& type() const noexcept { return *m_type; }

    /// The component. Throws hpx::exception(bad_component_type). Cost: a comparison; as a base
    /// class of its class an exception, some microseconds.
    template <class T>
    T& as() const {
        if (*m_type == typeid(T)) [[likely]] {
            return *static_cast<T*>(m_component.get());
        }
        try {
            m_throw(m_component.get());  // only a handler converts to any base class
        } catch (T* base) {
            return *base;
        } catch (...) {  // of another class
        }
        detail::refuse_component_type(*m_type, typeid(T));
    }

private:
    const std::type_info* m_type;
    void (*m_throw)(void*);  ///< its address, with its type
    std::unique_ptr<void, void (*)(void*)> m_component;
};

using component_reference = quern::localities::object<component_holder>;

/// Makes a component at this locality, and tells it its name.
template <class T, class... Args>
component_reference make_component_here(Args&&... args) {
    static_assert(!std::is_abstract_v<T>, "an abstract class cannot be made as a component");
    T* made = nullptr;
    auto reference = quern::localities::detail::maker<component_holder>::make(
        component_kind<T>{made}, std::decay_t<Args>(std::forward<Args>(args))...);
    if constexpr (std::is_convertible_v<T*, components::known_component*>) {
        made->set_name_of_component(reference.name());
    }
    return reference;
}

/// Another reference to a component that is here. Requires: one of its calls runs.
component_reference reference_of_running(quern::localities::object_name name);

}  // namespace detail

}  // namespace hpx
