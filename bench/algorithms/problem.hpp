// SPDX-License-Identifier: BSL-1.0
// algorithms: parallel algorithms of the standard over doubles, each beside the serial one of the
// standard library. Size: the number of elements. The check: the result, against a serial run.
#pragma once

#include "../harness/harness.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace bench::algorithms {

/// Whole numbers, so that sums are exact in every order.
class data {
public:
    explicit data(long n) : in(static_cast<std::size_t>(n)), out(in.size()) {
        for (std::size_t i = 0; i < in.size(); ++i) {
            in[i] = static_cast<double>(i * 7919 % 1000);
        }
    }

    std::vector<double> in, out;
};

/// One algorithm: run(calls, data) gives a number that is the same for every runtime.
template <class Calls>
struct row {
    const char* problem;
    double (*run)(const Calls& calls, data& d);
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
    {"alg_copy_if",
     [](const Calls& calls, data& d) {
         return static_cast<double>(calls.copy_if(d.in, d.out, [](double x) { return x < 100; }));
     }},
    {"alg_max_element",
     [](const Calls& calls, data& d) { return static_cast<double>(calls.max_element(d.in)); }}};

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
    template <class F>
    auto copy_if(const std::vector<double>& from, std::vector<double>& to, F f) const {
        return std::copy_if(from.begin(), from.end(), to.begin(), f) - to.begin();
    }
    auto max_element(const std::vector<double>& v) const {
        return std::max_element(v.begin(), v.end()) - v.begin();
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
                          const double right = k_rows<serial_calls>[i].run(serial_calls{}, *d);
                          return run(a, [calls, d, right, i] {
                              return timed(
                                  [&] { return k_rows<Calls>[i].run(calls, *d); },
                                  [&](double found) { expect_equal("the result", found, right); });
                          });
                      });
        }
    }
};

}  // namespace bench::algorithms
