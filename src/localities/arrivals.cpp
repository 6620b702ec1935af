// SPDX-License-Identifier: BSL-1.0
// Batches of parcels, and the dispatcher that runs them beside itself.
#include "arrivals.hpp"

#include "parcel_trace.hpp"

#include <quern/base/detail/assert.hpp>
#include <quern/base/detail/clock.hpp>
#include <quern/scheduler/detail/queued_task.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

namespace quern::localities::detail {

using quern::detail::context;
using quern::detail::tick_count;

namespace {

/// How long one dispatcher runs parcels before it lets its worker look for messages, and gives half
/// of the rest to others. As the interval between two looks of a busy worker, 20 to 50 us.
constexpr double k_turn_ns = 20e3;
/// The clock is read once in so many parcels, at most: then they take less than k_turn_ns / 8 or
/// so together.
constexpr std::uint32_t k_longest_stride = 64;

/// Parcels that have come and not begun, with their bytes behind it, and their item in the queue.
class batch final : public quern::detail::runnable {
public:
    static batch& make(job& of, quern::detail::pool& where, int from, std::uint32_t first,
                       std::span<const std::byte> parcels, bool has_credit) {
        void* const place = ::operator new(sizeof(batch) + parcels.size());
        return *::new (place) batch(of, where, from, first, parcels, has_credit);
    }
    void destroy() noexcept {
        this->~batch();
        ::operator delete(this);
    }

    bool empty() const noexcept { return m_at == m_size; }
    /// Whether there is one parcel only.
    bool is_last() const noexcept { return !empty() && m_at + size_at(m_at) == m_size; }
    /// The next parcel begins. Requires: not empty.
    const std::byte* take() noexcept {
        const std::byte* const taken = bytes() + m_at;
        m_at += size_at(m_at);
        ++m_number;
        QUERN_ASSERT(m_at <= m_size, "a parcel ends behind its message");
        return taken;
    }
    /// About half of the rest becomes another batch. Requires: at least two parcels.
    batch& split() {
        std::uint32_t middle = m_at + size_at(m_at);
        std::uint32_t number = m_number + 1;
        while (middle - m_at < (m_size - m_at) / 2 && middle + size_at(middle) < m_size) {
            middle += size_at(middle);
            ++number;
        }
        batch& other = make(m_job, m_where, m_from, number, rest_from(middle), false);
        m_size = middle;
        return other;
    }
    /// All of the rest becomes another batch, with the credit.
    batch& move_rest() {
        batch& other = make(m_job, m_where, m_from, m_number, rest_from(m_at), m_has_credit);
        m_size = m_at;
        m_has_credit = false;
        return other;
    }
    /// For the two that may hold a batch whose last parcel is suspended while it is read: the
    /// second one destroys it.
    void let_go() noexcept {
        if (m_is_let_go.exchange(true, std::memory_order_acq_rel)) {  // pairs with itself
            destroy();
        }
    }

    job& of() const noexcept { return m_job; }
    quern::detail::pool& where() const noexcept { return m_where; }
    int from() const noexcept { return m_from; }
    /// Of the parcel that take() gives next, on its link.
    std::uint32_t number() const noexcept { return m_number; }
    bool has_credit() const noexcept { return m_has_credit; }

private:
    batch(job& of, quern::detail::pool& where, int from, std::uint32_t first,
          std::span<const std::byte> parcels, bool has_credit) noexcept
        : runnable(run_queued),
          m_job(of),
          m_where(where),
          m_from(from),
          m_number(first),
          m_size(static_cast<std::uint32_t>(parcels.size())),
          m_has_credit(has_credit) {
        std::memcpy(bytes(), parcels.data(), parcels.size());
        name = "parcels";
    }
    ~batch() = default;

    static context* run_queued(quern::detail::work& item) noexcept;

    std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    const std::byte* bytes() const noexcept { return reinterpret_cast<const std::byte*>(this + 1); }
    std::uint32_t size_at(std::uint32_t at) const noexcept {
        parcel_header header{};
        std::memcpy(&header, bytes() + at, sizeof header);
        return size_of(header);
    }
    std::span<const std::byte> rest_from(std::uint32_t at) const noexcept {
        return {bytes() + at, m_size - at};
    }

    job& m_job;
    quern::detail::pool& m_where;
    const int m_from;
    std::uint32_t m_number;
    std::uint32_t m_at = 0;
    std::uint32_t m_size;
    bool m_has_credit;
    std::atomic<bool> m_is_let_go{false};
};
static_assert(alignof(batch) >= alignof(parcel_header) && sizeof(batch) % 8 == 0);

class dispatcher;

/// The item of the parcel that begins next. Its function copies what it needs of it: the same
/// object is the next parcel's item when this one has suspended.
struct parcel_item final : quern::detail::runnable {
    explicit parcel_item(dispatcher& of) noexcept : runnable(run_parcel), home(of) {}
    static context* run_parcel(quern::detail::work& item) noexcept;
    dispatcher& home;
};

/// Runs the parcels of a batch beside itself. Lies in the frame of the batch's item.
class dispatcher final : public quern::detail::creator_link {
public:
    explicit dispatcher(batch& of) noexcept : m_batch(&of), m_item(*this) {
        more = [](creator_link& self) noexcept -> quern::detail::runnable* {
            return static_cast<dispatcher&>(self).next();
        };
    }

    /// Returns when all have begun, or a turn is over.
    void run() noexcept {
        m_begun = quern::detail::ticks();
        while (quern::detail::runnable* const first = next()) {
            is_over = false;
            quern::detail::run_beside_self(*first, *this);
            count_run();
            if (!is_over) {
                a_parcel_has_left();
            }
        }
    }

    batch& rest() const noexcept { return *m_batch; }

private:
    friend struct parcel_item;

    /// The next parcel's item, or null: there is none, or the turn is over.
    quern::detail::runnable* next() noexcept {
        if (m_batch->empty() || (m_left == 0 && is_turn_over())) {
            return nullptr;
        }
        --m_left;
        return &m_item;
    }

    /// Reads the clock, and decides when it is to be read again.
    bool is_turn_over() noexcept {
        const double ns =
            static_cast<double>(quern::detail::ticks() - m_begun) * quern::detail::ns_per_tick();
        if (ns > k_turn_ns) {
            return true;
        }
        m_stride = ns < k_turn_ns / 8 ? std::min(2 * m_stride, k_longest_stride) : 1;
        m_left = m_stride;
        return false;
    }

    /// A parcel has suspended: it ends elsewhere, and counts itself. While it is being read it
    /// needs the batch.
    void a_parcel_has_left() noexcept {
        m_left = 0;  // it may have taken long
        if (m_is_reading) {
            m_is_reading = false;
            batch& rest = m_batch->move_rest();
            std::exchange(m_batch, &rest)->let_go();
        }
    }

    void count_run() noexcept {
        if (m_run != 0) {
            detail::parcels_have_run(m_batch->of(), std::exchange(m_run, 0U));
        }
    }

    batch* m_batch;
    parcel_item m_item;
    tick_count m_begun = 0;
    std::uint32_t m_left = 1;  ///< parcels until the clock is read
    std::uint32_t m_stride = 1;
    // Written by the parcels, while the dispatcher is aside for them.
    std::uint64_t m_run = 0;  ///< that have ended and are not counted yet
    bool m_is_reading = false;
};

/// Whether the dispatcher is still aside for the calling parcel: it has not suspended. Otherwise it
/// may be gone.
bool is_aside(const dispatcher* one) noexcept {
    return quern::detail::current_context()->root().link == one;
}

context* parcel_item::run_parcel(quern::detail::work& item) noexcept {
    auto& self = static_cast<parcel_item&>(static_cast<runnable&>(item));
    dispatcher* const home = &self.home;
    batch& of = *home->m_batch;
    job& job_of = of.of();
    parcel_header header{};
    const std::uint32_t number = of.number();
    const std::byte* const begin = of.take();
    std::memcpy(&header, begin, sizeof header);
    home->m_is_reading = true;
    quern::detail::task_record& task = quern::detail::current_context()->root().task();
    task.outer = nullptr;  // that of the dispatcher is none
    task.name = "parcel";  // until it is known what it runs
    detail::trace_parcel(false, of.from(), number, bytes_of(header));
    {
        arrived_parcel parcel(job_of, of.from(), header, begin + sizeof header,
                              {[](void* dispatcher_of, void* batch_of) noexcept {
                                   auto* const reader = static_cast<dispatcher*>(dispatcher_of);
                                   if (is_aside(reader)) {
                                       reader->m_is_reading = false;
                                   } else {
                                       static_cast<batch*>(batch_of)->let_go();
                                   }
                               },
                               home, &of});
        detail::perform(parcel);
    }
    quern::detail::count_task();
    if (is_aside(home)) {
        ++home->m_run;
    } else {
        detail::parcels_have_run(job_of, 1);
    }
    return nullptr;
}

context* batch::run_queued(quern::detail::work& item) noexcept {
    auto& self = static_cast<batch&>(static_cast<runnable&>(item));
    quern::detail::count_no_task();
    dispatcher runs(self);
    runs.run();
    batch& rest = runs.rest();
    quern::detail::pool& where = rest.where();
    if (rest.empty()) {
        if (rest.has_credit()) {
            detail::message_has_run(rest.of(), rest.from());
        }
        rest.destroy();
    } else {
        if (!rest.is_last()) {
            where.make_ready(rest.split());
        }
        where.make_ready(rest);
    }
    return nullptr;
}

}  // namespace

void task_runs(const void* code, const char* name) noexcept {
    if (code == nullptr && name == nullptr) {
        return;
    }
    quern::detail::task_record& task = quern::detail::current_context()->root().task();
    task.name = name;
    if (code != nullptr) {
        task.site = nullptr;  // in this layer's own code
        task.entry = reinterpret_cast<quern::detail::work::run_function>(
            reinterpret_cast<std::uintptr_t>(code));
    }
}

void run_parcels(job& of, quern::detail::pool& where, int from, std::uint32_t first,
                 std::span<const std::byte> parcels) noexcept {
    where.make_ready(batch::make(of, where, from, first, parcels, true));
}

}  // namespace quern::localities::detail
