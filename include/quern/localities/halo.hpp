// SPDX-License-Identifier: BSL-1.0
// Blocks of a grid with copies of their neighbours' borders, for stencils.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/communicator.hpp>
#include <quern/localities/detail/halo_mailbox.hpp>
#include <quern/localities/object.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern::localities {

/// How a grid is cut into blocks of rows: the same at all members.
struct halo_options {
    std::uint64_t width = 1;        ///< rows of ghosts on each side of a block
    std::uint64_t row_length = 1;   ///< elements of a row: of a line or a plane of the grid
    bool is_periodic = false;       ///< whether the first and the last block are neighbours
    std::vector<double> weights{};  ///< a member's share of the rows; none: as equal as possible
};

namespace detail {

struct halo_shape {
    std::uint64_t rows = 0;
    halo_options options{};
};

/// The first row of each member's block, and the end of the last one. `shapes`: what each member
/// has asked for. Throws std::invalid_argument, the same at all members.
std::vector<std::uint64_t> borders_of_blocks(const std::vector<halo_shape>& shapes,
                                             const std::vector<int>& members);
std::size_t place_of_here(const std::vector<int>& members);
[[noreturn]] void refuse_block(std::size_t size, const halo_shape& of, std::uint64_t own_rows);
[[noreturn]] void refuse_no_halo();

template <class T>
class halo_handle {
public:
    halo_handle(const communicator& with, halo_shape&& shape)
        : m_shape(std::move(shape)), m_mailbox(std::make_shared<halo_mailbox<T>>()) {
        const object<halo_box<T>> own =
            maker<halo_box<T>>::adopt(std::make_unique<halo_box<T>>(m_mailbox));
        const auto all = with.all_gather(std::pair(m_shape, own)).get();
        std::vector<halo_shape> shapes;
        for (const auto& each : all) {
            shapes.push_back(each.first);
        }
        const auto borders = detail::borders_of_blocks(shapes, with.members());
        const std::size_t place = detail::place_of_here(with.members());
        m_first = borders[place];
        m_own_rows = borders[place + 1] - m_first;
        m_own = own;
        const std::size_t last = all.size() - 1;
        const bool is_ring = m_shape.options.is_periodic;
        if (place > 0 || is_ring) {
            m_to[0] = all[place > 0 ? place - 1 : last].second;
        }
        if (place < last || is_ring) {
            m_to[1] = all[place < last ? place + 1 : 0].second;
        }
    }
    halo_handle(const halo_handle&) = delete;
    halo_handle& operator=(const halo_handle&) = delete;
    ~halo_handle() { m_mailbox->close(); }

    const halo_shape& shape() const noexcept { return m_shape; }
    std::uint64_t own_rows() const noexcept { return m_own_rows; }
    std::uint64_t first() const noexcept { return m_first; }
    std::size_t block_size() const noexcept {
        return static_cast<std::size_t>((m_own_rows + 2 * m_shape.options.width) *
                                        m_shape.options.row_length);
    }
    bool has_neighbour(halo_side which) const noexcept {
        return static_cast<bool>(m_to[detail::number_of(which)]);
    }

    future<void> exchange(std::span<T> block) const {
        if (block.size() != block_size()) {
            detail::refuse_block(block.size(), m_shape, m_own_rows);
        }
        const std::size_t border = border_size();
        const auto one = std::make_shared<halo_exchange<T>>();
        if (has_neighbour(halo_side::before)) {
            one->ghosts[0] = block.first(border);
        }
        if (has_neighbour(halo_side::after)) {
            one->ghosts[1] = block.last(border);
        }
        future<void> given = one->done.get_future();
        m_mailbox->begin(one);
        const std::span<const T> inner = block.subspan(border, block.size() - 2 * border);
        std::optional<error_report> before = send(halo_side::before, inner.first(border));
        std::optional<error_report> after = send(halo_side::after, inner.last(border));
        m_mailbox->has_sent(one, before ? std::move(before) : std::move(after));
        return given;
    }

private:
    std::size_t border_size() const noexcept {
        return static_cast<std::size_t>(m_shape.options.width * m_shape.options.row_length);
    }

    /// To the neighbour, if there is one. Returns what went wrong, which the neighbour is told.
    std::optional<error_report> send(halo_side to, std::span<const T> border) const noexcept {
        const object<halo_box<T>>& neighbour = m_to[detail::number_of(to)];
        if (!neighbour) {
            return std::nullopt;
        }
        const halo_side from = detail::opposite(to);
        try {
            std::vector<T> rows(border.begin(), border.end());
            if (neighbour == m_own) {
                m_mailbox->put(from, {std::move(rows), {}});
            } else {
                neighbour.post(&halo_box<T>::put, from, std::move(rows));
            }
            return std::nullopt;
        } catch (...) {
            return tell(neighbour, from, detail::report_of_current_exception(localities::here()));
        }
    }
    static error_report tell(const object<halo_box<T>>& neighbour, halo_side from,
                             error_report&& why) noexcept {
        try {
            neighbour.post(&halo_box<T>::fail, from, why);
        } catch (...) {  // no memory: the neighbour waits, and this locality knows why
        }
        return std::move(why);
    }

    halo_shape m_shape;
    std::uint64_t m_first = 0;
    std::uint64_t m_own_rows = 0;
    std::shared_ptr<halo_mailbox<T>> m_mailbox;
    object<halo_box<T>> m_own{};
    std::array<object<halo_box<T>>, 2> m_to{};  ///< by sides; of none if there is no neighbour
};

}  // namespace detail

/// A grid that is cut into blocks of rows, one for each member of a communicator, in their order. A
/// block has `width` rows of ghosts before its own rows, and as many behind them: copies of the
/// neighbours' borders, which exchange() brings. The program keeps the blocks, as many as it likes;
/// a halo knows how large they are, and which locality has the rows before and behind. A row is an
/// element, or a line or a plane of a grid of more dimensions, as halo_options::row_length says.
///
///     const quern::localities::communicator all("grid");  // at every locality
///     const quern::localities::halo<double> borders(all, 1'000'000);
///     std::vector<double> now = borders.make_block(), next = now;
///     const std::size_t last = borders.own_rows();  // own elements are 1 to last
///     const auto compute = [&](std::size_t i) { next[i] = 0.5 * (now[i - 1] + now[i + 1]); };
///     for (int step = 0; step < 100; ++step) {
///         quern::future<void> ghosts = borders.exchange(now);
///         for (std::size_t i = 2; i < last; ++i) compute(i);  // needs no ghosts
///         ghosts.get();
///         compute(1);
///         compute(last);
///         std::swap(now, next);
///     }
///
/// All members make it, in the same order as other operations of the communicator, and call
/// exchange() as often as each other: the n-th calls belong together. Rows of a neighbour that is
/// ahead are kept for their step, and exchanges of several blocks may be under way at once.
///
/// Errors: std::logic_error without the session in which it was made. Thread safety: any thread;
/// calls of one locality must have an order. Copies are the same halo. It may outlive the session.
/// Cost: own borders are copied once and sent as arguments of run_at(), without copies on the way
/// from 16 KiB of a border on; the ghosts are written by the task that brings them.
template <class T>
class halo {
public:
    /// Refers to none.
    halo() = default;
    /// Of so many rows. Waits for all members. Throws std::invalid_argument at all of them if they
    /// give other numbers than each other, for a width or row length of 0, for weights that are not
    /// one for each member, are negative or not finite, or all 0, and if a block would have fewer
    /// rows than the width; a remote_error if others make a halo of another type. Cost: an
    /// all_gather().
    halo(const communicator& members, std::uint64_t rows, halo_options options = {}) {
        static_assert(!std::is_same_v<T, bool>,
                      "quern: localities: halo<bool>: a std::vector<bool> has no elements that can "
                      "be referred to; use char");
        localities::require_can_travel<T>();
        m_handle = std::make_shared<detail::halo_handle<T>>(
            members, detail::halo_shape{rows, std::move(options)});
    }

    /// Of all blocks. Throws std::logic_error of a halo that refers to none, as those below.
    std::uint64_t rows() const { return its().shape().rows; }
    /// Of this locality's block, without ghosts; in the block the first of them has the number
    /// width().
    std::uint64_t own_rows() const { return its().own_rows(); }
    /// The number of the first own row in the grid.
    std::uint64_t first_own_row() const { return its().first(); }
    std::uint64_t width() const { return its().shape().options.width; }
    std::uint64_t row_length() const { return its().shape().options.row_length; }
    /// Whether exchange() writes the ghosts before the own rows, and those behind them: ghosts at
    /// the ends of a grid that is not periodic are the program's.
    bool has_before() const { return its().has_neighbour(detail::halo_side::before); }
    bool has_after() const { return its().has_neighbour(detail::halo_side::after); }

    /// Elements of a block: those of width() + own_rows() + width() rows.
    std::size_t block_size() const { return its().block_size(); }
    std::vector<T> make_block(const T& value = T()) const {
        return std::vector<T>(block_size(), value);
    }
    /// The own elements of a block.
    std::span<T> own(std::span<T> block) const {
        const std::size_t border = (block_size() - own_size()) / 2;
        return its_block(block).subspan(border, own_size());
    }

    /// Sends copies of the first and the last own rows of a block to the neighbours. The future is
    /// ready when their rows of the same step have been written into the ghosts. Until then the
    /// ghosts must not be used, and the block must stay where it is, or the last copy of the halo
    /// must end: then no ghosts are written any more. Own rows may be changed at once.
    ///
    /// Throws std::invalid_argument for a block of another size, std::logic_error for one whose
    /// last exchange is not over. The future has a remote_error, here and at the neighbour, if a
    /// border cannot be copied or written; what an element throws when it is read is an exception
    /// of object::post(). It is broken if the session ends before. Cost: two calls of global
    /// objects and two allocations more; of a neighbour that is the same locality no call.
    future<void> exchange(std::span<T> block) const { return its().exchange(block); }

private:
    const detail::halo_handle<T>& its() const {
        if (!m_handle) {
            detail::refuse_no_halo();
        }
        return *m_handle;
    }
    std::size_t own_size() const { return static_cast<std::size_t>(own_rows() * row_length()); }
    std::span<T> its_block(std::span<T> block) const {
        if (block.size() != block_size()) {
            detail::refuse_block(block.size(), its().shape(), own_rows());
        }
        return block;
    }

    std::shared_ptr<const detail::halo_handle<T>> m_handle{};
};

}  // namespace quern::localities
