// SPDX-License-Identifier: BSL-1.0
// How much each locality has of a partitioned_vector, and of objects that are made together.
#include <quern/localities/make_many.hpp>
#include <quern/localities/partitioned_vector.hpp>

#include "job.hpp"

#include <cmath>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <string>

namespace quern::localities {

namespace detail {

std::vector<std::uint64_t> sizes_of_parts(std::uint64_t size, const std::vector<double>& weights,
                                          const char* function) {
    const int parts = detail::job_for(function).count();
    return detail::sizes_of_parts(size, static_cast<std::size_t>(parts), weights, function);
}

namespace {

[[noreturn]] void refuse_weights(const char* function, const std::string& why) {
    throw std::invalid_argument("quern: localities::" + std::string(function) + " with " + why);
}

std::string words_of_weight(double weight) {
    if (std::isnan(weight)) {
        return "nan";  // without a sign, which printf shows
    }
    char words[32];
    std::snprintf(words, sizeof words, "%g", weight);
    return words;
}

}  // namespace

void require_weights(const std::vector<double>& weights, std::size_t parts, const char* function) {
    if (weights.size() != parts) {
        refuse_weights(function, std::to_string(weights.size()) +
                                     " weights; accepted: one for each of " +
                                     std::to_string(parts) + " localities");
    }
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (!std::isfinite(weights[i]) || weights[i] < 0) {
            refuse_weights(function, "weights[" + std::to_string(i) + "] " +
                                         words_of_weight(weights[i]) +
                                         "; accepted: finite, not negative");
        }
    }
    const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
    if (!std::isfinite(all) || all == 0) {
        refuse_weights(function, "weights whose sum is " + words_of_weight(all) +
                                     "; accepted: more than 0, and finite");
    }
}

std::vector<std::uint64_t> sizes_of_parts(std::uint64_t size, std::size_t parts,
                                          const std::vector<double>& weights,
                                          const char* function) {
    const std::vector<double> own = weights.empty() ? std::vector<double>(parts, 1.0) : weights;
    detail::require_weights(own, parts, function);
    const double all = std::accumulate(own.begin(), own.end(), 0.0);
    std::vector<std::uint64_t> sizes;
    double before = 0;
    std::uint64_t begin = 0;
    for (const double each : own) {
        before += each;
        const auto end = static_cast<std::uint64_t>(
            std::llround(static_cast<double>(size) * std::min(before / all, 1.0)));
        sizes.push_back(end - begin);
        begin = end;
    }
    sizes.back() += size - begin;
    return sizes;
}

void refuse_index(std::uint64_t index, std::uint64_t size) {
    throw std::out_of_range("quern: localities::partitioned_vector: index " +
                            std::to_string(index) + "; accepted: below the size, " +
                            std::to_string(size));
}

}  // namespace detail

std::vector<distribution::share> distribution::shares_of(std::uint64_t objects) const {
    std::vector<share> all;
    if (m_is_cyclic) {
        const auto step = static_cast<std::uint64_t>(detail::job_for("make_many").count());
        for (std::uint64_t first = 0; first < step; ++first) {
            all.push_back({first, step, (objects + step - 1 - first) / step});
        }
        return all;
    }
    std::uint64_t first = 0;
    for (const std::uint64_t count : detail::sizes_of_parts(objects, m_weights, "make_many")) {
        all.push_back({first, 1, count});
        first += count;
    }
    return all;
}

}  // namespace quern::localities
