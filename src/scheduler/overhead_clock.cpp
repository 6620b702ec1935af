// SPDX-License-Identifier: BSL-1.0
// The timed stretches: a clock reading at each end, and which one is next. And the pieces of user
// code that follow them.
#include <quern/scheduler/detail/overhead_clock.hpp>

#include <quern/scheduler/detail/site_counts.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <utility>

namespace quern::detail {

namespace {

/// Timing a stretch takes about 40 ns: 1 % of this. So one comes in 4 to 16 us.
constexpr double k_between_ns = 4'000;

/// A stretch stands for no more than so many: after a phase of tiny tasks, as many large ones go by
/// before their number is known. (chosen: a tiny task of two stretches is 40 ns)
constexpr std::uint32_t k_most = 256;

/// Of the pieces of user code behind stretches that stand for several, one in so many is timed and
/// stands for as many more: timing one takes some 100 ns. (chosen: 1 % of an empty task)
constexpr std::uint32_t k_passed_over = 4;

/// A stretch that takes longer was interrupted: it stands only for itself, and counts as this
/// long. (guessed: the longest that the runtime does without a call of the kernel is 1 us)
constexpr double k_interrupted_ns = 20'000;

std::uint32_t next_random(std::uint64_t& state) noexcept {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth's MMIX
    return static_cast<std::uint32_t>(state >> 33);
}

/// A stretch like the runtime's whose length is known: numbers in memory go up.
class known_stretch {
public:
    QUERN_NOINLINE void run() noexcept {
        for (volatile std::uint64_t& each : m_numbers) {
            each = each + 1;
        }
    }

    /// Its length in ticks, from many in turn between two readings. The least: nothing else makes
    /// it shorter.
    double length() noexcept {
        constexpr int k_runs = 200;
        constexpr int k_attempts = 20;
        tick_count least = std::numeric_limits<tick_count>::max();
        for (int i = 0; i < k_attempts; ++i) {
            const tick_count begun = ticks_in_order();
            for (int k = 0; k < k_runs; ++k) {
                run();
            }
            least = std::min(least, ticks_in_order() - begun);
        }
        return static_cast<double>(least) / k_runs;
    }

private:
    std::uint64_t m_numbers[24] = {};  // as many as a task's way writes (8 ns)
};

}  // namespace

/// It is a stretch's turn: for how many it stands. When the next one has its turn is drawn from 1
/// to 2n - 1, so that it does not fall into step with the program.
std::uint32_t overhead_clock::draw() noexcept {
    const std::uint32_t weight = m_next;
    m_next = m_interval;
    m_left = 1 + next_random(m_random) % (2 * m_next - 1);
    return weight;
}

/// m_left has run out: for the turn of a stretch, or to end a piece of user code, or for both.
bool overhead_clock::is_turn() noexcept {
    if (m_piece_of == nullptr) {
        return true;
    }
    end_piece();
    return --m_left == 0;
}

bool overhead_clock::begin_timed(part what) noexcept {
    if (!is_turn()) {
        return false;
    }
    const std::uint32_t weight = draw();
    if (m_open != 0) {
        return false;  // a part of one that is timed
    }
    m_open = weight;
    m_what = what;
    m_begun = ticks_in_order();
    return true;
}

void overhead_clock::begin_after_body() noexcept {
    if (is_turn()) {
        m_open = draw();
        m_waits_for_body = true;
    }
}

void overhead_clock::end_at_body() noexcept {
    m_ends_at_body = true;
    m_chosen = --m_left == 0 ? draw() : 0;
}

std::uint32_t overhead_clock::end_timed(next what) noexcept {
    std::uint32_t weight = std::exchange(m_open, 0);
    if (!std::exchange(m_waits_for_body, false)) {
        const tick_count now = ticks_in_order();
        note_stretch(weight, now > m_begun ? now - m_begun : 0);
        adapt(now);
        weight = std::exchange(m_ends_at_body, false) ? m_chosen : weight;
    }
    if (weight != 0 && what != next::own_work) {
        begin_piece(weight, what);
    }
    return weight;
}

void overhead_clock::note_stretch(std::uint32_t stood_for, tick_count spent) noexcept {
    const tick_count longest = ticks_of_ns(k_interrupted_ns);
    const std::uint64_t weight = spent > longest ? 1 : stood_for;
    timed& into = m_what == part::making ? m_making : m_running;
    into.ticks = into.ticks + weight * std::min(spent, longest);
    into.stretches = into.stretches + weight;
}

void overhead_clock::resume_timed(std::uint32_t weight) noexcept {
    if (m_piece_of != nullptr) {
        end_piece();
    }
    m_open = weight;
    m_what = part::running;
    m_begun = ticks_in_order();
}

/// It ends where the next stretch of any kind begins, or with the body.
void overhead_clock::begin_piece(std::uint32_t weight, next what) noexcept {
    context* const here = m_sites != nullptr ? current_context() : nullptr;
    if (here == nullptr || m_piece_of != nullptr) {
        return;
    }
    if (weight > 1) {
        if (next_random(m_random) % k_passed_over != 0) {
            return;
        }
        weight *= k_passed_over;
    }
    m_piece_of = &m_sites->of(here->root().task());
    if (what == next::task) {
        m_piece_of->add_call(weight);
    }
    m_piece_weight = weight;
    m_kept = std::exchange(m_left, 1);
    m_piece_begun = ticks_in_order();
}

void overhead_clock::end_piece() noexcept {
    const tick_count now = ticks_in_order();
    m_left = m_kept;
    site_tally& tally = *std::exchange(m_piece_of, nullptr);
    tally.add_piece(now > m_piece_begun ? now - m_piece_begun : 0, m_piece_weight);
}

void overhead_clock::adapt(tick_count now) noexcept {
    const tick_count since = now - m_last;
    const tick_count aim = ticks_of_ns(k_between_ns);
    m_last = now;
    if (since < aim) {
        m_interval = std::min(2 * m_interval, k_most);
    } else if (since > 4 * aim) {
        m_interval = std::max(m_interval / 4, 1U);
    }
}

double overhead_clock::timed::net(double reading) const noexcept {
    const double gross = static_cast<double>(static_cast<tick_count>(ticks));
    const double count = static_cast<double>(static_cast<std::uint64_t>(stretches));
    return std::max(gross - reading * count, 0.0);
}

overhead_clock::sums overhead_clock::read() const noexcept {
    const double each = reading();
    const double making = m_making.net(each);
    const double always = static_cast<double>(static_cast<tick_count>(m_always));
    return {making + m_running.net(each) + always, making};
}

/// What two readings add to a stretch, in ticks.
double overhead_clock::reading() noexcept {
    static constinit std::atomic<double> known{0};
    double value = known.load(std::memory_order_relaxed);
    if (value == 0) {
        value = measure_reading();
        known.store(value, std::memory_order_relaxed);
    }
    return value;
}

/// What a stretch of known length seems to be longer. Not what an empty one takes: the processor
/// executes the beginning of a stretch while it still reads the counter (4 ns of 19).
///
/// The mean without what was interrupted. Not the median: the counter may advance in steps as long
/// as a reading (10 ns on virtual machines). Between two readings passes a time that varies, so
/// that they do not keep step with it.
double overhead_clock::measure_reading() noexcept {
    constexpr int k_readings = 1000;
    std::array<tick_count, k_readings> each{};
    overhead_clock one;
    known_stretch known;
    const double length = known.length();
    for (int i = 0; i < k_readings; ++i) {
        one.m_running.ticks = 0;
        one.resume_timed(1);
        known.run();
        one.end_timed(next::own_work);
        each[static_cast<std::size_t>(i)] = one.m_running.ticks;
        for (int pause = i * i % 17; pause > 0; --pause) {
            compiler_barrier();
        }
    }
    std::sort(each.begin(), each.end());
    const tick_count most = 3 * each[k_readings / 2];
    double sum = 0;
    double count = 0;
    for (const tick_count spent : each) {
        sum += spent <= most ? static_cast<double>(spent) : 0.0;
        count += spent <= most ? 1.0 : 0.0;
    }
    return std::max(sum / count - length, 1.0);
}

}  // namespace quern::detail
