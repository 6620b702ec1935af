// SPDX-License-Identifier: BSL-1.0
// The bodies of grain_findings.hpp.
#include "grain_findings.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace quern::tool {

namespace {

constexpr std::size_t k_fewest_grains = 3;  // two make a line, one makes nothing but noise

std::vector<double> column(const std::vector<const sample*>& samples, metric which) {
    std::vector<double> values;
    values.reserve(samples.size());
    for (const sample* one : samples) {
        values.push_back(one->values[which]);
    }
    return values;
}

std::vector<metric> known_metrics(const study& of, unsigned workers) {
    std::vector<metric> known;
    for (const metric_info& info : metric_table()) {
        if (info.is_compared && summarize(column(of.of(workers), info.id)).count != 0) {
            known.push_back(info.id);
        }
    }
    return known;
}

range_findings findings(std::optional<band> range, const std::vector<const sample*>& samples,
                        const std::vector<metric>& metrics) {
    range_findings found{range, 0, samples.size(), {}};
    std::set<grain_size> grains;
    for (const sample* one : samples) {
        grains.insert(one->grain);
    }
    found.grains = grains.size();
    if (found.grains < k_fewest_grains) {
        return found;
    }
    const std::vector<double> times = column(samples, metric::time);
    for (const metric which : metrics) {
        const std::vector<double> values = column(samples, which);
        found.correlations.push_back({which, pearson(values, times), spearman(values, times)});
    }
    return found;
}

/// The grain with the least median; 0 when none is known.
grain_size least(const study& of, unsigned workers, metric which) {
    grain_size best = 0;
    double value = std::numeric_limits<double>::infinity();
    for (const grain_size grain : of.grains) {
        const double median = of.summary_of(workers, grain, which).median;
        if (median < value) {
            value = median;
            best = grain;
        }
    }
    return best;
}

}  // namespace

std::vector<range_findings> correlate(const study& of, unsigned workers) {
    const std::vector<metric> metrics = known_metrics(of, workers);
    const std::vector<const sample*> all = of.of(workers);
    std::vector<range_findings> result;
    for (unsigned i = 0; i < k_bands; ++i) {
        std::vector<const sample*> within = all;
        std::erase_if(within, [&](const sample* one) {
            const double duration = of.least_disturbed_duration(one->grain);
            return !std::isfinite(duration) || band_of(duration) != static_cast<band>(i);
        });
        if (!within.empty()) {
            result.push_back(findings(static_cast<band>(i), within, metrics));
        }
    }
    result.push_back(findings({}, all, metrics));
    return result;
}

std::optional<best_grain> find_best(const study& of, unsigned workers) {
    best_grain best;
    best.grain = least(of, workers, metric::time);
    if (best.grain == 0) {
        return {};
    }
    const summary fastest = of.summary_of(workers, best.grain, metric::time);
    best.time = fastest.median;
    for (const grain_size grain : of.grains) {
        const summary other = of.summary_of(workers, grain, metric::time);
        if (grain != best.grain && other.least <= fastest.most) {
            best.equally_good.push_back(grain);
        }
    }
    for (const metric which : known_metrics(of, workers)) {
        const grain_size grain = least(of, workers, which);
        const double time = of.summary_of(workers, grain, metric::time).median;
        best.choices.push_back({which, grain, time, time / best.time - 1});
    }
    return best;
}

}  // namespace quern::tool
