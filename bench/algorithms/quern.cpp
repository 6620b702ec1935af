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
    auto search(const std::vector<double>& v, const std::vector<double>& sequence) const {
        return quern::search(quern::par, v.begin(), v.end(), sequence.begin(), sequence.end()) -
               v.begin();
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
    void sort(std::vector<double>& v) const { quern::sort(quern::par, v.begin(), v.end()); }
    void stable_sort(std::vector<double>& v) const {
        quern::stable_sort(quern::par, v.begin(), v.end());
    }
    template <class It>
    void nth_element(std::vector<double>& v, It nth) const {
        quern::nth_element(quern::par, v.begin(), nth, v.end());
    }
    template <class It>
    void partial_sort(std::vector<double>& v, It middle) const {
        quern::partial_sort(quern::par, v.begin(), middle, v.end());
    }
    template <class It>
    void merge(const std::vector<double>& from, It middle, std::vector<double>& to) const {
        quern::merge(quern::par, from.begin(), std::vector<double>::const_iterator(middle),
                     std::vector<double>::const_iterator(middle), from.end(), to.begin());
    }
    template <class It>
    void inplace_merge(std::vector<double>& v, It middle) const {
        quern::inplace_merge(quern::par, v.begin(), middle, v.end());
    }
};

const all_rows by_par("par", calls{}, [](const arguments& a, auto f) { return quern_job(a, f); });

}  // namespace

}  // namespace bench::algorithms
