// SPDX-License-Identifier: BSL-1.0
// Task functions and statements in C++.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>
#define LEN 4
#define ALL(p) p[0; LEN]
namespace a {
#pragma omp task inout([LEN] v) in(k)
void add(double* v, int k = 2);
#pragma omp task inout(x)
void add(int& x);
void add(const std::string&) {}
}  // namespace a
void a::add(double* v, int k) {
    for (int i = 0; i < LEN; ++i)
        v[i] += k;
}
namespace a {
void add(int& x) { ++x; }
}  // namespace a
#pragma omp task in(s) inout(*n)
void take(std::string s, const std::vector<int>& v, int* n) { *n += s.size() + v.size(); }
#pragma omp task reduction(max:m) label("biggest")
static void biggest(double x, double* m) { *m = std::max(*m, x); }
template <class T>
struct S {
    static T g(T* x) {
        int i = 1;
        a::add(i);
        biggest(3, x);
#pragma omp taskwait
        return i;
    }
};
struct acc {
    int total = 0;
    void go(int n) {
        for (int i = 0; i < n; ++i) {
#pragma omp task inout(total) firstprivate(i)
            { total += i; }
        }
#pragma omp taskwait
    }
};
int main() {
    double v[LEN] = {};
    int n = 1;
    std::string s(100, 'x');
    std::vector<int> w(3);
    using namespace a;
    add(v);
    a::add(v, 3);
    add(n);
    add(s);
    add(n);
    take(s, w, &n);
    take("abc", w, &n);
    double m = -1;
    for (int i = 0; i < 10; ++i)
        biggest(i * 7 % 10, &m);
#pragma omp taskwait
    std::cout << v[0] << ' ' << n << ' ' << m << ' ' << S<double>::g(&m) << '\n';
    int sum = 0;
    std::string copy = "q";
#pragma omp task inout(sum)
    {
        std::string mine = copy + "z";
        sum += mine.size();
    }
#pragma omp taskwait on(sum)
    acc x;
    x.go(10);
    std::cout << sum << ' ' << x.total << '\n';
}
