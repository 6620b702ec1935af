// SPDX-License-Identifier: BSL-1.0
// How much each locality has of a partitioned_vector, and of objects that are made together.
#include <quern/localities/make_many.hpp>
#include <quern/localities/partitioned_vector.hpp>

#include "job.hpp"

#include <cmath>
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

std::vector<std::uint64_t> sizes_of_parts(std::uint64_t size, std::size_t parts,
                                          const std::vector<double>& weights,
                                          const char* function) {
    const std::vector<double> own = weights.empty() ? std::vector<double>(parts, 1.0) : weights;
    const double all = std::accumulate(own.begin(), own.end(), 0.0);
    bool is_right = own.size() == parts && std::isfinite(all) && all > 0;
    for (const double each : own) {
        is_right = is_right && each >= 0;
    }
    if (!is_right) {
        throw std::invalid_argument(
            "quern: localities::" + std::string(function) + " with " + std::to_string(own.size()) +
            " weights, whose sum is " + std::to_string(all) + "; accepted: one for each of the " +
            std::to_string(parts) + " localities, none negative, not all 0");
    }
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
