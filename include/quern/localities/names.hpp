// SPDX-License-Identifier: BSL-1.0
// Names in words for global objects, which all localities can look up.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/object.hpp>
#include <quern/localities/run_at.hpp>
#include <quern/task/future.hpp>

#include <string>
#include <utility>

namespace quern::localities {

namespace detail {

/// The locality that knows the name. Throws std::invalid_argument for an empty one.
int home_of_name(const job& of, const std::string& name, const char* function);
/// At that locality. Throws std::invalid_argument if the name is taken.
void publish_here(const std::string& name, object_reference one);
/// At that locality. Waits.
object_reference find_here(const std::string& name, int caller);
/// At that locality.
bool unpublish_here(const std::string& name);

template <class T>
struct naming {
    static void publish(const std::string& name, object<T> one) {
        detail::publish_here(name, std::move(one.m_reference));
    }
    static object<T> find(const std::string& name, int caller) {
        object<T> found(detail::find_here(name, caller));
        found.require_its_type();
        return found;
    }
};

}  // namespace detail

/// Gives an object a name that all localities can look up by find(). The name is a reference: the
/// object lives until unpublish(), or the end of the session. An object may have several names. The
/// future is ready when the name is known.
///
///     struct mesh { int size = 0; };
///     auto all = quern::localities::make_at<mesh>(0, 100);
///     quern::localities::publish("mesh", all).get();
///
/// Errors: std::invalid_argument for an empty name, std::logic_error without an object or a
/// session; from the future, a remote_error of a std::invalid_argument if the name is taken. Thread
/// safety: any task or thread. Cost: as run_at(); each name has a locality that knows it, so no
/// locality knows all.
template <class T>
future<void> publish(std::string name, const object<T>& one) {
    const int home = detail::home_of_name(detail::job_for("publish"), name, "publish");
    if (!one) {
        detail::refuse_no_object("publish");
    }
    return localities::run_at(home, &detail::naming<T>::publish, std::move(name), one);
}

/// Looks up a name, and waits until it is published: the future is ready then. After 10 seconds the
/// locality that knows the name says on stderr that it waits, and which names there are.
///
///     struct mesh { int size = 0; };
///     quern::future<quern::localities::object<mesh>> all =
///         quern::localities::find<mesh>("mesh");
///
/// Errors: std::invalid_argument for an empty name, std::logic_error without a session; from the
/// future, a remote_error of a std::invalid_argument if the object is no T. A session does not end
/// while a find() waits. Thread safety and cost: as publish(); while it waits, a suspended task at
/// the locality that knows the name.
template <class T>
future<object<T>> find(std::string name) {
    detail::job& of = detail::job_for("find");
    const int home = detail::home_of_name(of, name, "find");
    return localities::run_at(home, &detail::naming<T>::find, std::move(name),
                              detail::number_of_here(of));
}

/// Takes a name back: it may be published again. The future says whether it was known. Errors and
/// cost as publish().
future<bool> unpublish(std::string name);

}  // namespace quern::localities
