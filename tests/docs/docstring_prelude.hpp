// SPDX-License-Identifier: BSL-1.0
// Declares the names that the examples in doc comments use without a declaration. Included once,
// above all examples, by the file that docstring_examples.py makes. Nothing here is defined, and
// nothing is run. A name with another meaning in one header is declared in the namespace of that
// header.
#pragma once

#include <quern/algorithms/all.hpp>
#include <quern/counters/system_sources.hpp>
#include <quern/quern.hpp>
#include <quern/topology/binding.hpp>
#include <quern/topology/limits.hpp>
#include <quern/topology/machine.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace docstrings {

using namespace std::chrono_literals;

// Numbers and arrays of numbers.
extern int n, steps, total, limit, busy, fallback;
extern double a;
extern std::vector<double> x, y, old_grid, new_grid;
double norm(const std::vector<double>& of);
std::pair<int, int> divide(int dividend, int divisor);
void vote(int one, int other);
extern pid_t pid;
extern int from_balance, to_balance, balance;

// Objects of a program.
struct block {};
struct node {
    std::vector<node> children;
};
extern std::vector<block> problem;
extern std::map<int, int> table;
extern std::string file, input;
std::vector<block> read(const std::string& name);
int parse(const std::string& text);
int decode(const std::string& text);
bool check(int tree);
bool solve();
void solve(const block& b);
void process(const block& b);
void send(const block& b);
void load(std::map<int, int>& into);
template <class T>
void use(const T& anything);
template <class T>
void refine(T& part);
void refine();
void relax();
void relax(const std::vector<double>& from, std::vector<double>& to, int part);
template <class T>
void visit(T& child);
int compute();
int f();
int g();
void work();
void show();
void tick();
void prune();

// What tasks share.
extern quern::mutex m;
extern quern::condition_variable changed;
extern std::deque<int> queue;
extern bool ready;
extern quern::guard from, to;
extern std::vector<quern::future<int>> parts, replicas;
std::vector<quern::future<int>> start_all();
extern quern::future<int> answer;
extern quern::shared_future<int> state;
int advance(const quern::shared_future<int>& before);
void from_left(const std::function<void()>& arrived);
void from_right(const std::function<void()>& arrived);

namespace of_fork_join {
extern std::vector<double> upper, lower, all;
double total(const std::vector<double>& of);
long fib(quern::fork_context c, int number);
}  // namespace of_fork_join

namespace of_scope {
extern std::vector<double> upper, lower;
}
namespace of_channel {
extern quern::channel<block> blocks;
}
namespace of_closing {
extern quern::channel<block> blocks;
}
namespace of_event {
extern quern::event came;
}
namespace of_mutex {
extern std::stop_token stop;
}
namespace of_pipeline {
std::optional<std::string> next_line(const std::string& of);
extern std::vector<int> out;
}  // namespace of_pipeline

namespace of_condition_variable_any {
extern quern::shared_mutex m;
extern quern::condition_variable_any changed;
}  // namespace of_condition_variable_any

namespace of_coroutine {
quern::task<int> parse(const std::string& text);
}

namespace of_crash_handler {
void read_all();
}

namespace of_held_locks {
extern std::mutex device;
}

namespace of_scope {
extern docstrings::node node;
}

namespace of_this_task {
struct a_device {
    void when_done(quern::suspended_task waiting);
};
extern a_device device;
}  // namespace of_this_task

namespace of_task_hold {
struct a_device {
    void when_done(const std::function<void()>& call);
};
extern a_device device;
}  // namespace of_task_hold

namespace of_streams {
void send(std::span<const std::byte> bytes);
extern std::vector<std::byte> received;
}  // namespace of_streams
namespace of_run_at {
extern std::vector<double> xs, ys;
}
namespace of_runtime {
extern quern::runtime rt;
}
namespace of_knobs {
extern quern::runtime rt;
}

namespace of_recorder {
extern quern::runtime rt;
}
namespace of_calibration {
extern quern::trace::recording run;
}
namespace of_efficiency {
extern quern::trace::recording run;
}
namespace of_sites {
extern quern::runtime rt;
void call_python();
}  // namespace of_sites

namespace of_page {
extern quern::trace::recording run;
}
namespace of_unlock_guard {
using job_list = std::vector<std::function<void()>>;
extern quern::mutex m;
extern job_list queue;
std::function<void()> take_first(job_list& from);
}  // namespace of_unlock_guard

namespace of_perfetto {
extern quern::trace::recording run;
}

namespace of_binding {
using quern::topology::allowed_pus;
using quern::topology::assign;
using quern::topology::binding_policy;
extern quern::topology::machine on;
extern quern::topology::cpu_limits limits;
}  // namespace of_binding

namespace of_blocking_region {
extern int socket, fd;
extern char buffer[4096];
}  // namespace of_blocking_region

namespace of_task_local {
using buffer = std::vector<char>;
}

namespace of_cutoff {
void sort_halves_in_parallel(double* first, double* last);
}
namespace of_region {
void solve_in_tiles_of(double rows);
}
namespace of_tuned {
void sum_in_tasks_of(int grain);
}
namespace of_tuner {
double seconds_with_tile(double rows);
}

namespace of_pin_to_worker {
struct a_context {
    void upload(int image);
};
extern int window;
a_context make_current(int window);
}  // namespace of_pin_to_worker

}  // namespace docstrings
