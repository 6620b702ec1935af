// SPDX-License-Identifier: BSL-1.0
// Quern's parallel algorithms.
#include "problem.hpp"

#include "../harness/quern.hpp"

#include <quern/algorithms/all.hpp>

namespace bench::algorithms {

namespace {

struct calls {
    template <class F>
    void transform(const std::vector<double>& from, std::vector<double>& to, F f) const {
        quern::transform(quern::par, from.begin(), from.end(), to.begin(), f);
    }
    double reduce(const std::vector<double>& v) const {
        return quern::reduce(quern::par, v.begin(), v.end());
    }
    void inclusive_scan(const std::vector<double>& from, std::vector<double>& to) const {
        quern::inclusive_scan(quern::par, from.begin(), from.end(), to.begin());
    }
    template <class F>
    auto count_if(const std::vector<double>& v, F f) const {
        return quern::count_if(quern::par, v.begin(), v.end(), f);
    }
    template <class F>
    auto find_if(const std::vector<double>& v, F f) const {
        return quern::find_if(quern::par, v.begin(), v.end(), f) - v.begin();
    }
    template <class F>
    auto copy_if(const std::vector<double>& from, std::vector<double>& to, F f) const {
        return quern::copy_if(quern::par, from.begin(), from.end(), to.begin(), f) - to.begin();
    }
    auto max_element(const std::vector<double>& v) const {
        return quern::max_element(quern::par, v.begin(), v.end()) - v.begin();
    }
    template <class F>
    auto partition(std::vector<double>& v, F f) const {
        return quern::partition(quern::par, v.begin(), v.end(), f) - v.begin();
    }
    template <class F>
    void stable_partition(std::vector<double>& v, F f) const {
        quern::stable_partition(quern::par, v.begin(), v.end(), f);
    }
    auto set_union(const std::vector<double>& a, const std::vector<double>& b,
                   std::vector<double>& to) const {
        return quern::set_union(quern::par, a.begin(), a.end(), b.begin(), b.end(), to.begin()) -
               to.begin();
    }
    auto set_difference(const std::vector<double>& a, const std::vector<double>& b,
                        std::vector<double>& to) const {
        return quern::set_difference(quern::par, a.begin(), a.end(), b.begin(), b.end(),
                                     to.begin()) -
               to.begin();
    }
};

const all_rows by_par("par", calls{}, [](const arguments& a, auto f) { return quern_job(a, f); });

}  // namespace

}  // namespace bench::algorithms
