// SPDX-License-Identifier: BSL-1.0
// A search is a coroutine: it asks for the costs of some points and continues when all are there.
// So each strategy reads as the algorithm that was published. The tuner owns the coroutine, takes
// the points that it wants and resumes it; a search must not call anything else.
#pragma once

#include <quern/adaptation/tuner.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quern::adaptation::detail {

/// One for each parameter; 0 to 1 is inside the space.
using coordinates = std::vector<double>;

/// Points whose costs a search wants. Points outside the space, or forbidden there, cost +infinity
/// and are not measured.
struct request {
    std::vector<coordinates> points;
    bool anew = false;                              ///< measure also what has been measured before
    std::vector<std::optional<double>> expected{};  ///< costs of the points; empty: unknown
};

/// What a search returns: why it ends, and, unless that is the point of least median cost, its
/// best.
struct ending {
    std::string why;
    std::optional<coordinates> best{};
};

class search {
public:
    struct promise_type {
        request wanted;
        std::vector<measured> told;
        ending end;

        search get_return_object() {
            return search(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_value(ending with) noexcept { end = std::move(with); }
        [[noreturn]] void unhandled_exception() { throw; }

        struct awaiter {
            promise_type& of;
            bool await_ready() const noexcept { return false; }
            void await_suspend(std::coroutine_handle<>) const noexcept {}
            std::vector<measured> await_resume() const noexcept { return std::move(of.told); }
        };
        awaiter await_transform(request wants) {
            wanted = std::move(wants);
            return {*this};
        }
    };

    explicit search(std::coroutine_handle<promise_type> made) noexcept : m_made(made) {}
    ~search() {
        if (m_made) {
            m_made.destroy();
        }
    }
    search(search&& from) noexcept : m_made(std::exchange(from.m_made, nullptr)) {}
    search& operator=(search&& from) noexcept {
        std::swap(m_made, from.m_made);
        return *this;
    }

    bool ended() const { return m_made.done(); }
    const ending& end() const { return m_made.promise().end; }
    const request& wanted() const { return m_made.promise().wanted; }

    /// Until it wants points or ends. Requires: not ended.
    void resume(std::vector<measured> results) {
        m_made.promise().told = std::move(results);
        m_made.resume();
    }

private:
    std::coroutine_handle<promise_type> m_made;
};

/// What a search knows of its space. A copy lies in each coroutine.
struct setup {
    std::vector<parameter> parameters;
    coordinates start;
    std::uint64_t seed = 1;
    double tolerance = 0.05;
    std::size_t most_trials = 0;

    std::size_t dimensions() const { return parameters.size(); }

    /// The smallest step that makes a difference, as a share of the range.
    double cell(std::size_t dimension) const {
        const std::size_t cells = parameters[dimension].cells();
        return cells == 0 ? tolerance / 2 : 1.0 / static_cast<double>(cells);
    }
};

/// Numbers from 0 to 1, the same for a seed on every machine.
class random_numbers {
public:
    explicit random_numbers(std::uint64_t seed) noexcept : m_state(seed) {}
    double next() noexcept {
        std::uint64_t z = (m_state += 0x9e3779b97f4a7c15U);  // splitmix64
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }

private:
    std::uint64_t m_state;
};

/// No search: only the start.
search measure_start(setup given);

search search_exhaustively(setup given);
search search_at_random(setup given);
search climb_hills(setup given);
search run_nelder_mead(setup given);
search run_parallel_rank_order(setup given);
search anneal(setup given);
search follow_model(setup given);

}  // namespace quern::adaptation::detail
