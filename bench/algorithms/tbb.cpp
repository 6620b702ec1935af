// SPDX-License-Identifier: BSL-1.0
// std::execution::par of libstdc++, which runs on oneTBB.
#include "problem.hpp"

#include "../harness/tbb.hpp"

#include <execution>

namespace bench::algorithms {

namespace {

struct calls {
    template <class F>
    void transform(const std::vector<double>& from, std::vector<double>& to, F f) const {
        std::transform(std::execution::par, from.begin(), from.end(), to.begin(), f);
    }
    double reduce(const std::vector<double>& v) const {
        return std::reduce(std::execution::par, v.begin(), v.end());
    }
    void inclusive_scan(const std::vector<double>& from, std::vector<double>& to) const {
        std::inclusive_scan(std::execution::par, from.begin(), from.end(), to.begin());
    }
    template <class F>
    auto count_if(const std::vector<double>& v, F f) const {
        return std::count_if(std::execution::par, v.begin(), v.end(), f);
    }
    template <class F>
    auto find_if(const std::vector<double>& v, F f) const {
        return std::find_if(std::execution::par, v.begin(), v.end(), f) - v.begin();
    }
    template <class F>
    auto copy_if(const std::vector<double>& from, std::vector<double>& to, F f) const {
        return std::copy_if(std::execution::par, from.begin(), from.end(), to.begin(), f) -
               to.begin();
    }
    auto max_element(const std::vector<double>& v) const {
        return std::max_element(std::execution::par, v.begin(), v.end()) - v.begin();
    }
    template <class F>
    auto partition(std::vector<double>& v, F f) const {
        return std::partition(std::execution::par, v.begin(), v.end(), f) - v.begin();
    }
    template <class F>
    void stable_partition(std::vector<double>& v, F f) const {
        std::stable_partition(std::execution::par, v.begin(), v.end(), f);
    }
    auto set_union(const std::vector<double>& a, const std::vector<double>& b,
                   std::vector<double>& to) const {
        return std::set_union(std::execution::par, a.begin(), a.end(), b.begin(), b.end(),
                              to.begin()) -
               to.begin();
    }
    auto set_difference(const std::vector<double>& a, const std::vector<double>& b,
                        std::vector<double>& to) const {
        return std::set_difference(std::execution::par, a.begin(), a.end(), b.begin(), b.end(),
                                   to.begin()) -
               to.begin();
    }
};

const all_rows by_par("par", calls{}, [](const arguments& a, auto f) { return tbb_job(a, f); });

}  // namespace

}  // namespace bench::algorithms
