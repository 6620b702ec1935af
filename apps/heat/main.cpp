// SPDX-License-Identifier: BSL-1.0
// heat: diffusion of heat along a ring that is divided into partitions. One task per partition and
// step starts when the three nearest partitions of the previous step are done; there is no barrier
// between steps. The benchmark of Grubel 2016, section 5.1.1; shows the effect of task size.
#include "report.hpp"
#include "ring.hpp"

#include "../common/cli.hpp"
#include "../common/measure.hpp"
#include "../common/progress.hpp"
#include "../common/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace heat {

namespace {

constexpr const char* k_examples = R"(Examples:
  heat                                        a million points, as many workers as there are cores
  heat --points 100000000 --steps 50 --partition 50000
  heat --points 100000 --steps 20 --partition 1000 --check
  heat --points 100000000 --steps 50 --threads 2 --sweep=short --csv sweep.csv)";

using step_futures = std::vector<quern::shared_future<partition>>;

struct problem {
    std::size_t points = 1'000'000;
    std::size_t steps = 50;
    std::size_t partition_size = 50'000;
    std::size_t ahead = 0;  ///< steps described in advance; 0: automatic
    bool check = false;

    std::size_t partitions() const { return (points + partition_size - 1) / partition_size; }
    std::size_t first_of(std::size_t index) const { return index * partition_size; }
    std::size_t size_of(std::size_t index) const {
        return std::min(partition_size, points - first_of(index));
    }

    /// Steps described in advance: eight, but limited so that descriptions need at most half of the
    /// grids' memory.
    std::size_t window() const {
        constexpr std::size_t k_steps = 8;
        constexpr std::size_t k_task_bytes = 480;  // a dataflow of three, as malloc counts it
        const std::size_t fits = partition_size * sizeof(double) / k_task_bytes;
        return ahead != 0 ? ahead : std::clamp<std::size_t>(fits, 2, k_steps);
    }
};

void fill(const problem& p, grid& now, grid& later) {
    quern::parallel_for(std::size_t{0}, p.partitions(), quern::grain::fixed(1), [&](std::size_t j) {
        for (std::size_t i = p.first_of(j); i < p.first_of(j) + p.size_of(j); ++i) {
            now.data()[i] = first_temperature(i);
            later.data()[i] = 0;
        }
    });
}

double total_heat(const problem& p, const grid& g) {
    return quern::parallel_reduce(
        std::size_t{0}, p.partitions(), quern::grain::fixed(1), 0.0,
        [&](std::size_t j) {
            double sum = 0;
            for (std::size_t i = p.first_of(j); i < p.first_of(j) + p.size_of(j); ++i) {
                sum += g.data()[i];
            }
            return sum;
        },
        std::plus<>{});
}

/// The futures of the next step. Task (i, t+1) overwrites the data of step t-1 of partition i. Only
/// the tasks (i-1, t), (i, t) and (i+1, t) read that data, and task (i, t+1) waits for these three.
/// So two grids are enough, without further waits.
step_futures describe_step(const problem& p, const step_futures& now, double* out) {
    const std::size_t count = now.size();
    step_futures next(count);
    for (std::size_t i = 0; i < count; ++i) {
        auto update = [out = out + p.first_of(i)](const partition& left, const partition& middle,
                                                  const partition& right) {
            return advance(left, middle, right, out);
        };
        next[i] = quern::dataflow(quern::unwrapping(update), now[(i + count - 1) % count], now[i],
                                  now[(i + 1) % count]);
    }
    return next;
}

void wait_for(const step_futures& step) {
    for (const auto& each : step) {
        each.get();  // throws what a task has thrown
    }
}

/// Describes all steps and waits for the last. Descriptions run ahead of the computation by at most
/// a window: when half of one has been described, the previous half must be done. Half a window of
/// work is always ready, so this is no barrier. Returns seconds spent on describing.
double run_steps(const problem& p, grid& now, grid& later) {
    const std::size_t half = std::max<std::size_t>(1, p.window() / 2);
    apps::progress_bar bar("heat");
    double describing = 0;
    step_futures current(p.partitions());
    for (std::size_t i = 0; i < current.size(); ++i) {
        current[i] = quern::make_ready_future(partition{now.data() + p.first_of(i), p.size_of(i)});
    }
    step_futures milestone;
    double* grids[2] = {now.data(), later.data()};
    for (std::size_t step = 1; step <= p.steps; ++step) {
        describing +=
            apps::seconds_of([&] { current = describe_step(p, current, grids[step % 2]); });
        if (step % half == 0) {
            wait_for(milestone);
            milestone = current;
            bar.show(step, p.steps);
        }
    }
    wait_for(current);
    return describing;
}

struct grids {
    explicit grids(std::size_t points)
        : now(points, grid_role::first), later(points, grid_role::second) {}
    grid now, later;

    const grid& after(std::size_t steps) const { return steps % 2 == 0 ? now : later; }
};

/// The independent answer, and the time that one thread takes for it.
struct serial_result {
    serial_result(const problem& p, const quern::runtime& rt) : both(p.points) {
        quern::async(rt, [&] { fill(p, both.now, both.later); }).get();
        seconds =
            apps::seconds_of([&] { sweep_serially(both.now, both.later, p.points, p.steps); });
    }
    grids both;
    double seconds = 0;
};

bool same_bits(const problem& p, const grid& a, const grid& b) {
    return std::memcmp(a.data(), b.data(), p.points * sizeof(double)) == 0;
}

/// One run from fresh temperatures, on the workers of `rt`.
measured run_once(const problem& p, grids& both, const quern::runtime& rt) {
    measured m;
    m.partition_size = p.partition_size;
    m.workers = rt.workers();
    m.updates = static_cast<double>(p.points) * static_cast<double>(p.steps);
    double before = 0;
    const auto named = [&rt](const char* name) {
        return quern::task_attributes{.name = name, .pool = &rt.default_pool().get()};
    };
    quern::async(named("fill"), [&] {
        fill(p, both.now, both.later);
        before = total_heat(p, both.now);
    }).get();

    const quern::worker_totals spent = apps::totals_of(rt, [&] {
        const double processor = apps::processor_seconds();
        m.seconds = apps::seconds_of([&] {
            m.describing = quern::async(named("describe all steps"), [&] {
                               return run_steps(p, both.now, both.later);
                           }).get();
        });
        m.processor = apps::processor_seconds() - processor;
    });
    m.tasks = p.partitions() * p.steps;
    m.running = spent.running_ns / 1e9;
    m.managing = spent.managing_ns / 1e9;
    m.idle = spent.idle_ns / 1e9;

    const double after =
        quern::async(named("sum"), [&] { return total_heat(p, both.after(p.steps)); }).get();
    constexpr double k_rounding = 1e-10;  // of sums in another order; a lost partition is > 1e-8
    m.heat = after;
    m.drift = std::abs(after - before) / before;  // temperatures are positive
    m.conserved = m.drift < k_rounding;
    return m;
}

/// 1, 2, 5 times powers of ten (short: 1 and 3) from a thousand up to one partition per worker.
std::vector<std::size_t> sweep_sizes(std::size_t points, std::size_t workers, bool is_short) {
    const std::vector<std::size_t> leading =
        is_short ? std::vector<std::size_t>{1, 3} : std::vector<std::size_t>{1, 2, 5};
    const std::size_t largest = std::max<std::size_t>(1, points / workers);
    std::vector<std::size_t> sizes;
    for (std::size_t power = 1000; power < largest; power *= 10) {
        for (const std::size_t digit : leading) {
            if (digit * power < largest) {
                sizes.push_back(digit * power);
            }
        }
    }
    sizes.push_back(largest);
    return sizes;
}

struct arguments {
    problem p;
    std::string sweep;  ///< empty, full or short
    std::string csv;    ///< empty or a file
};

/// False when only help was requested.
bool read_arguments(arguments& a, int argc, char** argv) {
    cli::command_line app("Diffusion of heat along a ring: one task per partition and step.",
                          "heat");
    problem& p = a.p;
    constexpr std::int64_t k_many = 1'000'000'000'000;
    apps::add_count(app, "--points", p.points, 1, k_many, "points of the ring");
    apps::add_count(app, "--steps", p.steps, 1, k_many, "time steps");
    const cli::option size =
        apps::add_count(app, "--partition", p.partition_size, 1, k_many, "points per task");
    apps::add_count(app, "--ahead", p.ahead, 0, k_many, "steps described in advance; 0: chosen");
    apps::add_runtime_options(app);
    app.add_flag("--check", p.check, "compare with a serial sweep, bit by bit");
    app.add_flag("--sweep{full}", a.sweep, "run many sizes of partition; --sweep=short fewer");
    app.add("--csv", a.csv, "write the measurements to this file").type("FILE");
    app.footer(k_examples);
    if (!apps::parse(app, argc, argv)) {
        return false;
    }
    if (!a.sweep.empty()) {
        apps::checked_word("--sweep", a.sweep, {"full", "short"});
    }
    if (!size.given()) {
        p.partition_size = std::min(p.partition_size, p.points);
    }
    if (p.partition_size > p.points) {
        throw apps::usage_error(fmt::format("--partition is '{}'; accepted: at most --points, {}",
                                            p.partition_size, p.points));
    }
    return true;
}

int run(int argc, char** argv) {
    arguments a;
    if (!read_arguments(a, argc, argv)) {
        return apps::k_success;
    }
    problem& p = a.p;
    csv_file csv(a.csv);
    const quern::runtime rt;
    const bool is_sweep = !a.sweep.empty();
    grids both(p.points);
    std::optional<serial_result> serial;
    if (p.check) {
        serial.emplace(p, rt);
    }
    print_setting(p.points, p.steps, rt.default_pool());
    std::vector<measured> runs;
    for (const std::size_t size : is_sweep ? sweep_sizes(p.points, rt.workers(), a.sweep == "short")
                                           : std::vector<std::size_t>{p.partition_size}) {
        p.partition_size = size;
        measured m = run_once(p, both, rt);
        if (serial) {
            m.same_as_serial = same_bits(p, both.after(p.steps), serial->both.after(p.steps));
            m.serial_seconds = serial->seconds;
        }
        is_sweep ? print_row(m, runs.empty()) : print_run(m);
        csv.write(csv_row(m));
        runs.push_back(m);
    }
    if (is_sweep) {
        print_sweep(runs);
    }
    print_memory(p.points);
    const bool right = std::all_of(runs.begin(), runs.end(), [](auto& m) { return m.right(); });
    return right ? apps::k_success : apps::k_wrong_answer;
}

}  // namespace

}  // namespace heat

int main(int argc, char** argv) {
    return apps::guarded_main("heat", [&] { return heat::run(argc, argv); });
}
