// SPDX-License-Identifier: BSL-1.0
// The receiving side of a halo at one locality: rows that have come from its two neighbours, and
// exchanges that wait for them. Rows of one neighbour come in the order of its exchanges, so the
// n-th of a side belong to the n-th exchange.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/remote_error.hpp>
#include <quern/localities/session.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/task/promise.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace quern::localities::detail {

/// Of a block: where its neighbour is.
enum class halo_side : std::uint8_t { before, after };
inline constexpr std::array k_halo_sides{halo_side::before, halo_side::after};
inline constexpr halo_side opposite(halo_side of) noexcept {
    return of == halo_side::before ? halo_side::after : halo_side::before;
}
inline constexpr std::size_t number_of(halo_side of) noexcept {
    return static_cast<std::size_t>(of);
}

/// The border of a neighbour, or why it has not been sent.
template <class T>
struct halo_letter {
    std::vector<T> rows{};
    std::optional<error_report> error{};
};

/// An exchange whose future is not ready.
template <class T>
struct halo_exchange {
    std::array<std::span<T>, 2> ghosts{};  ///< by sides; empty: there is no neighbour
    int left = 1;                          ///< sides that have not come; and one until all is sent
    quern::promise<void> done{};
    std::optional<error_report> error{};  ///< the first one
};

template <class T>
class halo_mailbox {
public:
    using exchange = halo_exchange<T>;

    /// The exchange waits for the sides for which it has ghosts. Throws std::logic_error if one of
    /// the same block waits, or if the mailbox has been closed.
    void begin(const std::shared_ptr<exchange>& one) {
        const std::scoped_lock lock(m_lock);
        if (m_is_closed) {
            throw std::logic_error(
                "quern: localities::halo::exchange of a halo of a session that has ended; "
                "accepted: one that was made in the present session");
        }
        for (const side& each : m_sides) {
            for (const std::shared_ptr<exchange>& other : each.waiting) {
                require_other_block(*one, *other);
            }
        }
        for (const halo_side each : k_halo_sides) {
            if (!one->ghosts[detail::number_of(each)].empty()) {
                ++one->left;
                at(each).waiting.push_back(one);
                static_cast<void>(match(each));  // not the last: it has not been sent
            }
        }
    }
    void has_sent(const std::shared_ptr<exchange>& one, std::optional<error_report> error) {
        bool is_last = false;
        {
            const std::scoped_lock lock(m_lock);
            is_last = ends_one(*one, std::move(error));
        }
        if (is_last) {
            complete(*one);
        }
    }
    void put(halo_side from, halo_letter<T>&& letter) {
        std::shared_ptr<exchange> completed;
        {
            const std::scoped_lock lock(m_lock);
            if (m_is_closed) {
                return;
            }
            at(from).came.push_back(std::move(letter));
            completed = match(from);
        }
        if (completed) {
            complete(*completed);
        }
    }
    /// No ghosts are written after it has returned. Promises of exchanges that wait are broken.
    void close() noexcept {
        std::array<side, 2> ended;  // without the lock
        const std::scoped_lock lock(m_lock);
        m_is_closed = true;
        ended.swap(m_sides);
    }

private:
    struct side {
        std::deque<halo_letter<T>> came{};                ///< only while nothing waits
        std::deque<std::shared_ptr<exchange>> waiting{};  ///< for this side
    };

    side& at(halo_side which) noexcept { return m_sides[detail::number_of(which)]; }

    static void require_other_block(const exchange& one, const exchange& other) {
        for (std::size_t i = 0; i < one.ghosts.size(); ++i) {
            if (!one.ghosts[i].empty() && one.ghosts[i].data() == other.ghosts[i].data()) {
                throw std::logic_error(
                    "quern: localities::halo::exchange of a block whose ghosts are still waited "
                    "for; accepted: after the future of its last exchange has become ready");
            }
        }
    }

    /// Writes rows that have come into the ghosts of the exchange that waits for them. Returns it
    /// if that was all it needed.
    std::shared_ptr<exchange> match(halo_side which) {
        side& of = at(which);
        if (of.came.empty() || of.waiting.empty()) {
            return nullptr;
        }
        halo_letter<T> letter(std::move(of.came.front()));
        of.came.pop_front();
        std::shared_ptr<exchange> one(std::move(of.waiting.front()));
        of.waiting.pop_front();
        if (!letter.error) {
            try {
                const std::span<T> ghosts = one->ghosts[detail::number_of(which)];
                std::move(letter.rows.begin(), letter.rows.end(), ghosts.begin());
            } catch (...) {
                letter.error = detail::report_of_current_exception(localities::here());
            }
        }
        return ends_one(*one, std::move(letter.error)) ? one : nullptr;
    }
    static bool ends_one(exchange& one, std::optional<error_report>&& error) {
        if (error && !one.error) {
            one.error = std::move(error);
        }
        return --one.left == 0;
    }
    static void complete(exchange& one) {
        if (one.error) {
            one.done.set_exception(std::make_exception_ptr(remote_error(std::move(*one.error))));
        } else {
            one.done.set_value();
        }
    }

    quern::mutex m_lock{};  ///< a task's: assignments of elements run under it
    bool m_is_closed = false;
    std::array<side, 2> m_sides{};
};

/// The global object that neighbours call. It stays at its locality, as it cannot travel.
template <class T>
class halo_box {
public:
    explicit halo_box(std::shared_ptr<halo_mailbox<T>> in) noexcept : m_in(std::move(in)) {}
    halo_box(const halo_box&) = delete;
    halo_box& operator=(const halo_box&) = delete;
    ~halo_box() { m_in->close(); }

    void put(halo_side from, std::vector<T> rows) { m_in->put(from, {std::move(rows), {}}); }
    void fail(halo_side from, error_report why) { m_in->put(from, {{}, std::move(why)}); }

private:
    std::shared_ptr<halo_mailbox<T>> m_in;
};

}  // namespace quern::localities::detail
