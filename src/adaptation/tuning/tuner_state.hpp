// SPDX-License-Identifier: BSL-1.0
// What a tuner knows: the search that runs, the trials that are open, the costs of points. Private
// to the layer: tuner.cpp has what programs call, tuner_state.cpp how a search proceeds. All of it
// is guarded by the tuner's lock, which both hold.
#pragma once

#include "strategies/search.hpp"
#include "strategies/strategies.hpp"
#include "tuning/cost_watch.hpp"
#include "tuning/known_costs.hpp"
#include "tuning/search_account.hpp"

#include <quern/adaptation/tuner.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quern::adaptation {

namespace detail {

struct unsure_best {
    point at;
    double confidence;
};

}  // namespace detail

struct tuner::state {
    /// A point of the present request.
    struct slot {
        point where;
        std::vector<measured> results;
        unsigned outstanding = 0;
        bool is_known = false;  ///< needs no trial
        std::optional<double> expected{};
    };
    /// A trial that has not been told.
    struct asked {
        std::uint64_t number;
        std::size_t slot;
        std::uint64_t
            generation;  ///< of the request; a result that comes later counts only as such
        point where;
        bool is_search;
    };

    state(space in, strategy by, tuner_options with, remembered known_then)
        : where(std::move(in)),
          how(by),
          options(with),
          known_before(std::move(known_then)),
          limit(detail::trials_for(by, with)),
          drift(with.drift, with.confirms_drift),
          account(with.most_spent) {
        detail::check(where, how, options);
        const std::optional<point> known_point = remembered_point();
        is_checking = known_point.has_value();
        first = known_point.value_or(where.start());
        begin(where.coordinates_of(first));
    }

    std::optional<point> remembered_point() const;
    void end_check();
    void begin(detail::coordinates from);
    void take_request();
    void next_request();
    bool is_complete() const;
    void finish(std::string reason, std::optional<double> confidence = {});
    measured result_of(const slot& of) const;
    void tell_entry(const point& at, double cost, double lost);
    void start_again(const point& at, std::optional<double> cost, std::string reason);
    std::pair<point, double> best() const;
    std::vector<asked>::iterator find(const trial& which);
    void check_cost(const trial& of, double cost) const;
    void drop(const trial& failed);

    mutable std::mutex lock{};
    space where;
    strategy how;
    tuner_options options;
    remembered known_before;
    std::size_t limit;
    std::optional<detail::search> running{};
    std::vector<slot> slots{};
    bool anew = false;
    std::uint64_t generation = 0;
    std::vector<asked> open{};  ///< by number
    std::uint64_t next_number = 1;
    detail::known_costs known{};
    point first{};  ///< the best before the first result of a search
    /// Of the search before this one, if that was not sure.
    std::optional<detail::unsure_best> earlier{};
    std::optional<point> chosen{};
    bool is_checking = false;  ///< what is remembered
    bool converged = false;
    std::string why = "no trial yet";
    std::size_t told = 0;
    std::size_t restarts = 0;
    detail::cost_watch drift;  ///< of the best point since convergence
    detail::search_account account;
};

}  // namespace quern::adaptation
