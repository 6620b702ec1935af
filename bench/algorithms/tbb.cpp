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
    auto search(const std::vector<double>& v, const std::vector<double>& sequence) const {
        return std::search(std::execution::par, v.begin(), v.end(), sequence.begin(),
                           sequence.end()) -
               v.begin();
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
    void sort(std::vector<double>& v) const { std::sort(std::execution::par, v.begin(), v.end()); }
    void stable_sort(std::vector<double>& v) const {
        std::stable_sort(std::execution::par, v.begin(), v.end());
    }
    template <class It>
    void nth_element(std::vector<double>& v, It nth) const {
        std::nth_element(std::execution::par, v.begin(), nth, v.end());
    }
    template <class It>
    void partial_sort(std::vector<double>& v, It middle) const {
        std::partial_sort(std::execution::par, v.begin(), middle, v.end());
    }
    template <class It>
    void merge(const std::vector<double>& from, It middle, std::vector<double>& to) const {
        std::merge(std::execution::par, from.begin(), std::vector<double>::const_iterator(middle),
                   std::vector<double>::const_iterator(middle), from.end(), to.begin());
    }
    template <class It>
    void inplace_merge(std::vector<double>& v, It middle) const {
        std::inplace_merge(std::execution::par, v.begin(), middle, v.end());
    }
};

const all_rows by_par("par", calls{}, [](const arguments& a, auto f) { return tbb_job(a, f); });

}  // namespace

}  // namespace bench::algorithms
