// SPDX-License-Identifier: BSL-1.0
// The rules greedy and refine.
#include <quern/localities/detail/balance_plan.hpp>

#include <algorithm>
#include <numeric>

namespace quern::localities::detail {

namespace {

/// A load that is larger than the mean by less is as good as balanced.
constexpr double k_balanced = 1.02;

std::size_t index(int locality) { return static_cast<std::size_t>(locality); }

int place_with_least(const std::vector<double>& loads) {
    return static_cast<int>(std::min_element(loads.begin(), loads.end()) - loads.begin());
}
int place_with_most(const std::vector<double>& loads) {
    return static_cast<int>(std::max_element(loads.begin(), loads.end()) - loads.begin());
}

/// Longest processing time first. Of equal localities the present one is taken.
std::vector<planned_move> deal_out(const std::vector<placed_object>& objects, int localities) {
    std::vector<std::size_t> order(objects.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return objects[a].load > objects[b].load;
    });
    std::vector<double> loads(index(localities), 0.0);
    std::vector<planned_move> moves;
    for (const std::size_t each : order) {
        const int own = objects[each].place;
        int to = place_with_least(loads);
        to = loads[index(own)] <= loads[index(to)] ? own : to;
        loads[index(to)] += objects[each].load;
        if (to != own) {
            moves.push_back({each, to});
        }
    }
    return moves;
}

/// The object of `from` after whose move the larger of both loads is smallest; none:
/// objects.size().
std::size_t best_to_move(const std::vector<placed_object>& objects, const std::vector<bool>& moved,
                         const std::vector<double>& loads, int from, int to) {
    constexpr double k_smaller = 1 - 1e-9;  // by more than rounding
    std::size_t best = objects.size();
    double least = k_smaller * loads[index(from)];
    for (std::size_t i = 0; i < objects.size(); ++i) {
        if (objects[i].place == from && !moved[i]) {
            const double larger =
                std::max(loads[index(from)] - objects[i].load, loads[index(to)] + objects[i].load);
            if (larger < least) {
                least = larger;
                best = i;
            }
        }
    }
    return best;
}

/// Each object moves once at most.
std::vector<planned_move> refine(std::vector<placed_object> objects, int localities) {
    std::vector<double> loads = detail::loads_of(objects, localities);
    std::vector<bool> moved(objects.size(), false);
    std::vector<planned_move> moves;
    while (detail::imbalance_of(loads) > k_balanced) {
        const int from = place_with_most(loads);
        const int to = place_with_least(loads);
        const std::size_t one = best_to_move(objects, moved, loads, from, to);
        if (one == objects.size()) {
            break;
        }
        loads[index(from)] -= objects[one].load;
        loads[index(to)] += objects[one].load;
        objects[one].place = to;
        moved[one] = true;
        moves.push_back({one, to});
    }
    return moves;
}

}  // namespace

std::vector<double> loads_of(const std::vector<placed_object>& objects, int localities) {
    std::vector<double> loads(index(localities), 0.0);
    for (const placed_object& each : objects) {
        loads[index(each.place)] += each.load;
    }
    return loads;
}

std::vector<planned_move> plan_moves(const std::vector<placed_object>& objects, int localities,
                                     balance_rule rule) {
    switch (rule) {
        case balance_rule::none:
            return {};
        case balance_rule::greedy:
            return deal_out(objects, localities);
        case balance_rule::refine:
            break;
    }
    return refine(objects, localities);
}

std::vector<placed_object> after(std::vector<placed_object> objects,
                                 const std::vector<planned_move>& moves) {
    for (const planned_move& each : moves) {
        objects[each.object].place = each.to;
    }
    return objects;
}

double imbalance_of(const std::vector<double>& loads) {
    const double all = std::accumulate(loads.begin(), loads.end(), 0.0);
    const double mean = all / static_cast<double>(loads.size());
    return mean > 0 ? *std::max_element(loads.begin(), loads.end()) / mean : 1;
}

}  // namespace quern::localities::detail
