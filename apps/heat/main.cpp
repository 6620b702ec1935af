// SPDX-License-Identifier: BSL-1.0
// heat: diffusion of heat along a ring that is divided into partitions. One task per partition and
// step starts when the three nearest partitions of the previous step are done; there is no barrier
// between steps. The benchmark of Grubel 2016, section 5.1.1; shows the effect of task size.
#include "report.hpp"
#include "steps.hpp"
#include "tuning.hpp"

#include "../common/cli.hpp"
#include "../common/measure.hpp"
#include "../common/table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heat {

namespace {

constexpr const char* k_examples = R"(Examples:
  heat                                        a million points, as many workers as there are cores
  heat --points 100000000 --steps 50 --partition 50000
  heat --points 100000 --steps 20 --partition 1000 --check
  heat --points 100000000 --steps 500 --partition auto
  heat --points 100000000 --steps 50 --threads 2 --sweep=short --csv sweep.csv)";

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

/// One run from fresh temperatures, on the workers of `rt`, with one size of partition or with one
/// that is tuned.
measured run_once(const problem& p, grids& both, const quern::runtime& rt,
                  const std::optional<tuning_request>& tuning) {
    measured m;
    m.partition_size = p.partition_size;
    m.tasks = p.partitions() * p.steps;
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
            quern::async(named("describe all steps"), [&] {
                if (tuning) {
                    m.tuning = run_tuned(p, both, *tuning);
                    m.describing = m.tuning->describing;
                } else {
                    apps::progress_bar bar("heat");
                    m.describing = run_steps(p, both, 0, p.steps, bar);
                }
            }).get();
        });
        m.processor = apps::processor_seconds() - processor;
    });
    if (m.tuning) {
        m.partition_size = m.tuning->partition_size;
        m.tasks = m.tuning->tasks;
    }
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
    std::optional<tuning_request> tuning;  ///< none: one size
    std::string sweep;                     ///< empty, full or short
    std::string csv;                       ///< empty or a file
};

std::size_t checked_size(const std::string& text, std::size_t points) {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc{} || end != text.data() + text.size() || size == 0 || size > points) {
        throw apps::usage_error(
            fmt::format("--partition is '{}'; accepted: a whole number from 1 to --points, {}, or "
                        "auto{}",
                        text, points,
                        apps::accepted_text(text, {"auto"}).find('?') == std::string::npos
                            ? ""
                            : "; did you mean 'auto'?"));
    }
    return size;
}

/// The range depends on the number of workers.
void check_start(const tuning_request& wanted, const quern::tuned_range<std::size_t>& range) {
    if (wanted.start && (*wanted.start < range.least || *wanted.start > range.most)) {
        throw apps::usage_error(
            fmt::format("--start is '{}'; accepted: a whole number from {} to {}, the points for "
                        "each worker",
                        *wanted.start, range.least, range.most));
    }
}

/// False when only help was requested.
bool read_arguments(arguments& a, int argc, char** argv) {
    cli::command_line app("Diffusion of heat along a ring: one task per partition and step.",
                          "heat");
    problem& p = a.p;
    constexpr std::int64_t k_many = 1'000'000'000'000;
    apps::add_count(app, "--points", p.points, 1, k_many, "points of the ring");
    apps::add_count(app, "--steps", p.steps, 1, k_many, "time steps");
    std::string size;
    app.add("--partition", size, "points per task, or auto: chosen while the program runs")
        .type("N|auto")
        .shows_default(std::to_string(p.partition_size));
    std::size_t start = 0;
    const cli::option has_start =
        apps::add_count(app, "--start", start, 1, k_many, "the first size of --partition auto");
    std::string tune;
    app.add("--tune", tune,
            "as --partition auto, by the model or by one number: idle-rate, cumulative, overhead, "
            "overall (default with auto: model)")
        .type("METRIC");
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
    if (size == "auto" || !tune.empty()) {
        a.tuning = {.by = tune.empty() ? "model" : apps::checked_word("--tune", tune, k_tunings)};
    }
    if (has_start.given()) {
        if (!a.tuning) {
            throw apps::usage_error(
                fmt::format("--start is '{}' without --partition auto or --tune", start));
        }
        a.tuning->start = start;
    }
    if (!size.empty() && size != "auto") {
        if (a.tuning) {
            throw apps::usage_error(
                fmt::format("--partition is '{}' beside --tune; accepted: auto", size));
        }
        p.partition_size = checked_size(size, p.points);
    }
    p.partition_size = std::min(p.partition_size, p.points);
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
    if (a.tuning) {
        check_start(*a.tuning, sizes_for(p, rt.workers()));
    }
    print_setting(p.points, p.steps, rt.default_pool());
    std::vector<measured> runs;
    const auto measure = [&](const std::optional<tuning_request>& tuning) {
        measured m = run_once(p, both, rt, tuning);
        if (serial) {
            m.same_as_serial = same_bits(p, both.after(p.steps), serial->both.after(p.steps));
            m.serial_seconds = serial->seconds;
        }
        csv.write(csv_row(m));
        return m;
    };
    if (is_sweep) {
        for (const std::size_t size : sweep_sizes(p.points, rt.workers(), a.sweep == "short")) {
            p.partition_size = size;
            runs.push_back(measure({}));
            print_row(runs.back(), runs.size() == 1);
        }
        print_sweep(runs);
    }
    if (a.tuning || !is_sweep) {
        const measured m = measure(a.tuning);
        if (m.tuning) {
            print_tuning(m, runs);
        }
        print_run(m);
        runs.push_back(m);
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
