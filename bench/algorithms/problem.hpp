// SPDX-License-Identifier: BSL-1.0
// algorithms: parallel algorithms of the standard over doubles, each beside the serial one of the
// standard library. Size: the number of elements. The check: the result, against a serial run.
#pragma once

#include "../harness/harness.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace bench::algorithms {

/// Where the second half begins.
template <class Range>
auto middle(Range& range) {
    return range.begin() + static_cast<std::ptrdiff_t>(range.size() / 2);
}

/// Whole numbers, so that sums are exact in every order.
class data {
public:
    explicit data(long n) : in(static_cast<std::size_t>(n)), out(in.size()) {
        for (std::size_t i = 0; i < in.size(); ++i) {
            in[i] = static_cast<double>(i * 7919 % 1000);
        }
    }

    /// Random numbers below 1024 for algorithms that change them: the same ones for each run.
    void mix() {
        std::mt19937_64 random(1);
        for (double& each : out) {
            each = static_cast<double>(random() % 1024);
        }
    }

    /// `out` ends in a sequence of 1000 elements, `one`, that almost matches once in 1000 places.
    void end_in_sequence() {
        std::copy(in.begin(), in.end(), out.begin());
        out.back() = -1;
        one.assign(
            out.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(1'000, out.size())),
            out.end());
    }

    /// Two sorted ranges, together as long as `in`. A third of their elements are equal.
    void make_sets() {
        std::mt19937_64 random(1);
        while (one.size() < in.size() / 2) {
            const std::uint64_t least = one.size() * 3;
            one.push_back(static_cast<double>(least + random() % 3));
            other.push_back(static_cast<double>(least + random() % 3));
        }
    }

    /// Whole numbers in random order, the same ones each time, in `out`.
    void shuffle() {
        if (m_shuffled.empty()) {
            std::mt19937_64 random(in.size());
            m_shuffled.resize(in.size());
            std::generate(m_shuffled.begin(), m_shuffled.end(),
                          [&random] { return static_cast<double>(random() >> 24U); });
        }
        std::copy(m_shuffled.begin(), m_shuffled.end(), out.begin());
    }

    /// The same with each half sorted.
    void sort_halves() {
        if (m_halves.empty()) {
            shuffle();
            m_halves = out;
            std::sort(m_halves.begin(), middle(m_halves));
            std::sort(middle(m_halves), m_halves.end());
        }
        std::copy(m_halves.begin(), m_halves.end(), out.begin());
    }

    std::vector<double> in, out, one, other;

private:
    std::vector<double> m_shuffled, m_halves;
};

/// One algorithm: run(calls, data) gives a number that is the same for every runtime. Before each
/// run, prepare(data) is called, and not timed.
template <class Calls>
struct row {
    const char* problem;
    double (*run)(const Calls& calls, data& d);
    void (*prepare)(data& d) = [](data&) {};
};

inline double some_of(const std::vector<double>& v) {
    return v.front() + v[v.size() / 3] + v[v.size() / 2] + v.back();
}

template <class Calls>
inline constexpr row<Calls> k_rows[] = {
    {"alg_transform",
     [](const Calls& calls, data& d) {
         calls.transform(d.in, d.out, [](double x) { return x * x + 1; });
         return some_of(d.out);
     }},
    {"alg_sqrt",
     [](const Calls& calls, data& d) {
         calls.transform(d.in, d.out, [](double x) { return std::floor(std::sqrt(x)); });
         return some_of(d.out);
     }},
    {"alg_reduce", [](const Calls& calls, data& d) { return calls.reduce(d.in); }},
    {"alg_inclusive_scan",
     [](const Calls& calls, data& d) {
         calls.inclusive_scan(d.in, d.out);
         return some_of(d.out);
     }},
    {"alg_count_if",
     [](const Calls& calls, data& d) {
         return static_cast<double>(calls.count_if(d.in, [](double x) { return x < 500; }));
     }},
    {"alg_find_if",
     [](const Calls& calls, data& d) {
         return static_cast<double>(calls.find_if(d.in, [](double x) { return x < 0; }));
     }},
    {"alg_search",
     [](const Calls& calls, data& d) { return static_cast<double>(calls.search(d.out, d.one)); },
     [](data& d) { d.end_in_sequence(); }},
    {"alg_copy_if",
     [](const Calls& calls, data& d) {
         return static_cast<double>(calls.copy_if(d.in, d.out, [](double x) { return x < 100; }));
     }},
    {"alg_max_element",
     [](const Calls& calls, data& d) { return static_cast<double>(calls.max_element(d.in)); }},
    {"alg_partition",
     [](const Calls& calls, data& d) {
         return static_cast<double>(calls.partition(d.out, [](double x) { return x < 512; }));
     },
     [](data& d) { d.mix(); }},
    {"alg_stable_partition",
     [](const Calls& calls, data& d) {
         calls.stable_partition(d.out, [](double x) { return x < 512; });
         return some_of(d.out);
     },
     [](data& d) { d.mix(); }},
    {"alg_set_union",
     [](const Calls& calls, data& d) {
         const auto n = calls.set_union(d.one, d.other, d.out);
         return static_cast<double>(n) + d.out[static_cast<std::size_t>(n) / 2];
     },
     [](data& d) { d.make_sets(); }},
    {"alg_set_difference",
     [](const Calls& calls, data& d) {
         const auto n = calls.set_difference(d.one, d.other, d.out);
         return static_cast<double>(n) + d.out[static_cast<std::size_t>(n) / 2];
     },
     [](data& d) { d.make_sets(); }},
    {"alg_sort",
     [](const Calls& calls, data& d) {
         calls.sort(d.out);
         return some_of(d.out);
     },
     [](data& d) { d.shuffle(); }},
    {"alg_stable_sort",
     [](const Calls& calls, data& d) {
         calls.stable_sort(d.out);
         return some_of(d.out);
     },
     [](data& d) { d.shuffle(); }},
    {"alg_nth_element",
     [](const Calls& calls, data& d) {
         calls.nth_element(d.out, middle(d.out));
         return *middle(d.out);
     },
     [](data& d) { d.shuffle(); }},
    {"alg_partial_sort",
     [](const Calls& calls, data& d) {
         const auto end = d.out.begin() + static_cast<std::ptrdiff_t>(d.out.size() / 10);
         calls.partial_sort(d.out, end);
         return d.out.front() + *(end - 1);
     },
     [](data& d) { d.shuffle(); }},
    {"alg_merge",
     [](const Calls& calls, data& d) {
         calls.merge(d.out, middle(d.out), d.in);
         return some_of(d.in);
     },
     [](data& d) { d.sort_halves(); }},
    {"alg_inplace_merge",
     [](const Calls& calls, data& d) {
         calls.inplace_merge(d.out, middle(d.out));
         return some_of(d.out);
     },
     [](data& d) { d.sort_halves(); }}};

/// What the standard library computes on one thread. In serial.cpp.
struct serial_calls {
    template <class F>
    void transform(const std::vector<double>& from, std::vector<double>& to, F f) const {
        std::transform(from.begin(), from.end(), to.begin(), f);
    }
    double reduce(const std::vector<double>& v) const { return std::reduce(v.begin(), v.end()); }
    void inclusive_scan(const std::vector<double>& from, std::vector<double>& to) const {
        std::inclusive_scan(from.begin(), from.end(), to.begin());
    }
    template <class F>
    auto count_if(const std::vector<double>& v, F f) const {
        return std::count_if(v.begin(), v.end(), f);
    }
    template <class F>
    auto find_if(const std::vector<double>& v, F f) const {
        return std::find_if(v.begin(), v.end(), f) - v.begin();
    }
    auto search(const std::vector<double>& v, const std::vector<double>& sequence) const {
        return std::search(v.begin(), v.end(), sequence.begin(), sequence.end()) - v.begin();
    }
    template <class F>
    auto copy_if(const std::vector<double>& from, std::vector<double>& to, F f) const {
        return std::copy_if(from.begin(), from.end(), to.begin(), f) - to.begin();
    }
    auto max_element(const std::vector<double>& v) const {
        return std::max_element(v.begin(), v.end()) - v.begin();
    }
    template <class F>
    auto partition(std::vector<double>& v, F f) const {
        return std::partition(v.begin(), v.end(), f) - v.begin();
    }
    template <class F>
    void stable_partition(std::vector<double>& v, F f) const {
        std::stable_partition(v.begin(), v.end(), f);
    }
    auto set_union(const std::vector<double>& a, const std::vector<double>& b,
                   std::vector<double>& to) const {
        return std::set_union(a.begin(), a.end(), b.begin(), b.end(), to.begin()) - to.begin();
    }
    auto set_difference(const std::vector<double>& a, const std::vector<double>& b,
                        std::vector<double>& to) const {
        return std::set_difference(a.begin(), a.end(), b.begin(), b.end(), to.begin()) - to.begin();
    }
    void sort(std::vector<double>& v) const { std::sort(v.begin(), v.end()); }
    void stable_sort(std::vector<double>& v) const { std::stable_sort(v.begin(), v.end()); }
    template <class It>
    void nth_element(std::vector<double>& v, It nth) const {
        std::nth_element(v.begin(), nth, v.end());
    }
    template <class It>
    void partial_sort(std::vector<double>& v, It middle) const {
        std::partial_sort(v.begin(), middle, v.end());
    }
    template <class It>
    void merge(const std::vector<double>& from, It middle, std::vector<double>& to) const {
        std::merge(from.begin(), std::vector<double>::const_iterator(middle),
                   std::vector<double>::const_iterator(middle), from.end(), to.begin());
    }
    template <class It>
    void inplace_merge(std::vector<double>& v, It middle) const {
        std::inplace_merge(v.begin(), middle, v.end());
    }
};

/// Registers all rows of a runtime. `run` makes a job of a repetition.
template <class Calls, class Run>
class all_rows {
public:
    all_rows(const std::string& variant, Calls calls, Run run) {
        for (std::size_t i = 0; i < std::size(k_rows<Calls>); ++i) {
            contender(k_rows<Calls>[i].problem, variant,
                      [calls, run, i](const arguments& a) -> job {
                          auto d = std::make_shared<data>(a.size);
                          k_rows<serial_calls>[i].prepare(*d);
                          const double right = k_rows<serial_calls>[i].run(serial_calls{}, *d);
                          return run(a, [calls, d, right, i] {
                              return timed_runs([&] {
                                  k_rows<Calls>[i].prepare(*d);
                                  const double start = now();
                                  const double found = k_rows<Calls>[i].run(calls, *d);
                                  const double seconds = now() - start;
                                  expect_equal("the result", found, right);
                                  return seconds;
                              });
                          });
                      });
        }
    }
};

}  // namespace bench::algorithms
