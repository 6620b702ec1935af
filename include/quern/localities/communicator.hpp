// SPDX-License-Identifier: BSL-1.0
// Collective operations of several localities, from tasks.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/detail/collective_bodies.hpp>
#include <quern/localities/session.hpp>
#include <quern/task/async.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern::localities {

/// A set of localities that do collective operations together: each of them makes a communicator
/// with the same key and members, and calls the same operations on it in the same order. An
/// operation is a task, and gives a future: several may be under way at once, and no worker waits.
/// Operations of different communicators have nothing to do with each other, so concurrent tasks
/// that could call in another order each use a key of their own.
///
///     const quern::localities::communicator all("residual");  // at every locality
///     quern::future<double> sum = all.all_reduce(0.5, std::plus<>());
///
/// Values travel as arguments of run_at(); all but gather, scatter and all_to_all copy them.
/// `op(a, b)` is called with values in the order of
/// the members, so it must be associative, but need not be commutative. Floating-point results
/// depend on the number of members, and are the same at all of them and in each run.
///
/// Errors of operations: std::logic_error without the session in which it was made;
/// std::out_of_range for a root that is no member. What else goes wrong is a remote_error from
/// the future, at the member where it happens and at those that wait for it: what op throws; a
/// std::invalid_argument for a wrong number of values; a std::logic_error if members that hear from
/// each other call different operations or with different types; others wait. What a value throws
/// when it is read is an exception of post_to().
/// Thread safety: any thread; calls of one locality on one communicator must have an order. Copies
/// are the same communicator. It may outlive the session and be destroyed while operations are
/// under way. Cost of an operation: a task, and messages as said below, each as post_to(); p is the
/// number of members.
class communicator {
public:
    /// With all localities. Waits for the locality that knows the key, not for the others.
    /// Throws std::invalid_argument for an empty key, std::logic_error without a session.
    explicit communicator(const std::string& key) : communicator(key, localities::all()) {}

    /// With some, the own one among them; their order is that of results and of op.
    /// Throws as above; std::invalid_argument also for a list without the own locality, with one
    /// twice, or other than that with which another member has made its communicator of this key;
    /// std::out_of_range for one that is no locality.
    communicator(const std::string& key, const std::vector<int>& members)
        : m_handle(std::make_shared<detail::communicator_handle>(key, members)) {}

    const std::string& key() const noexcept { return m_handle->key(); }
    const std::vector<int>& members() const noexcept { return m_handle->members(); }

    /// Ready when all members have called it. ceil(log2 p) messages one after the other.
    future<void> barrier() const {
        return run(m_handle->begin(detail::collective::barrier),
                   [](detail::operation& in) { detail::meet_members(in); });
    }

    /// The value of the root; values elsewhere are ignored. ceil(log2 p) messages one after the
    /// other.
    template <class T>
    future<T> broadcast(T value, int from = localities::root) const {
        return run_with<T>(m_handle->begin(detail::collective::broadcast, from),
                           [value = std::move(value)](detail::operation& in) mutable {
                               return detail::broadcast_value(in, std::move(value), in.root());
                           });
    }

    /// All values combined by op, at the root; elsewhere std::nullopt. ceil(log2 p) messages one
    /// after the other, and one more if the root is not the first member.
    template <class T, class Op>
    future<std::optional<T>> reduce(T value, Op op, int to = localities::root) const {
        return run_with<T, std::optional<T>>(
            m_handle->begin(detail::collective::reduce, to),
            [value = std::move(value), op = std::move(op)](detail::operation& in) mutable {
                return detail::reduce_values(in, std::move(value), op, in.root());
            });
    }

    /// The same at all members. log2 p messages one after the other if p is a power of two, else at
    /// most two more.
    ///
    ///     const quern::localities::communicator all("largest");
    ///     double own = 0.5;
    ///     auto larger = [](double a, double b) { return a < b ? b : a; };
    ///     double largest = all.all_reduce(own, larger).get();
    template <class T, class Op>
    future<T> all_reduce(T value, Op op) const {
        return run_with<T>(
            m_handle->begin(detail::collective::all_reduce),
            [value = std::move(value), op = std::move(op)](detail::operation& in) mutable {
                return detail::all_reduce_values(in, std::move(value), op);
            });
    }

    /// The values in the order of the members, at the root; elsewhere none. A message from each.
    template <class T>
    future<std::vector<T>> gather(T value, int to = localities::root) const {
        return run_with<T, std::vector<T>>(
            m_handle->begin(detail::collective::gather, to),
            [value = std::move(value)](detail::operation& in) mutable {
                return detail::gather_values(in, std::move(value), in.root());
            });
    }

    /// The same at all members. ceil(log2 p) messages one after the other.
    template <class T>
    future<std::vector<T>> all_gather(T value) const {
        return run_with<T, std::vector<T>>(
            m_handle->begin(detail::collective::all_gather),
            [value = std::move(value)](detail::operation& in) mutable {
                return detail::all_gather_values(in, std::move(value));
            });
    }

    /// Of the root's values each member gets that of its place; elsewhere `values` is ignored. A
    /// message to each.
    template <class T>
    future<T> scatter(std::vector<T> values, int from = localities::root) const {
        return run_with<T>(m_handle->begin(detail::collective::scatter, from),
                           [values = std::move(values)](detail::operation& in) mutable {
                               return detail::scatter_values(in, std::move(values), in.root());
                           });
    }

    /// Value k goes to member k; the result has value k from member k. A message from each to each.
    template <class T>
    future<std::vector<T>> all_to_all(std::vector<T> values) const {
        return run_with<T, std::vector<T>>(
            m_handle->begin(detail::collective::all_to_all),
            [values = std::move(values)](detail::operation& in) mutable {
                return detail::exchange_values(in, std::move(values));
            });
    }

    /// The values up to the own one combined by op. ceil(log2 p) messages one after the other.
    template <class T, class Op>
    future<T> inclusive_scan(T value, Op op) const {
        return run_with<T>(
            m_handle->begin(detail::collective::inclusive_scan),
            [value = std::move(value), op = std::move(op)](detail::operation& in) mutable {
                return detail::scan_values(in, std::move(value), op).all;
            });
    }

    /// `first` and the values before the own one combined by op. As inclusive_scan().
    ///
    ///     const quern::localities::communicator all("offsets");
    ///     long own = 10;  // elements of this locality
    ///     long begin = all.exclusive_scan(own, 0L, std::plus<>()).get();
    template <class T, class Op>
    future<T> exclusive_scan(T value, T first, Op op) const {
        return run_with<T>(
            m_handle->begin(detail::collective::exclusive_scan),
            [value = std::move(value), first = std::move(first),
             op = std::move(op)](detail::operation& in) mutable {
                auto known = detail::scan_values(in, std::move(value), op);
                return known.before ? T(std::invoke(op, std::move(first), std::move(*known.before)))
                                    : std::move(first);
            });
    }

private:
    /// Does not compile for values that cannot travel.
    template <class T, class Result = T, class Body>
    future<Result> run_with(detail::begun_operation one, Body body) const {
        localities::require_can_travel<T>();
        if constexpr (can_travel<T>) {
            return run(std::move(one), std::move(body));
        } else {
            return {};
        }
    }

    /// Operation, body and count end with the call, though the task may live longer.
    template <class Body>
    auto run(detail::begun_operation one, Body body) const
        -> future<std::invoke_result_t<Body&, detail::operation&>> {
        using result = std::invoke_result_t<Body&, detail::operation&>;
        detail::job& of = m_handle->its_job();
        const task_attributes attributes{.name = (*one).name(),
                                         .pool = &detail::pool_of_parcels(of).get()};
        return quern::async(attributes,
                            [counted = detail::counted_call(of), one = std::move(one),
                             body = std::move(body)]() mutable -> result {
                                const detail::counted_call until_end(std::move(counted));
                                const detail::begun_operation own(std::move(one));
                                Body moved(std::move(body));
                                try {
                                    return moved(*own);
                                } catch (...) {
                                    (*own).fail();
                                }
                            });
    }

    std::shared_ptr<const detail::communicator_handle> m_handle;
};

}  // namespace quern::localities
