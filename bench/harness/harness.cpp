// SPDX-License-Identifier: BSL-1.0
#include "harness.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string_view>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

namespace bench {

namespace {

std::vector<contender>& registered() {
    static std::vector<contender> all;
    return all;
}

double processor_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// A line of /proc/self/status, in KiB.
long status_kib(const std::string& key) {
    std::ifstream status("/proc/self/status");
    std::string line;
    while (std::getline(status, line)) {
        if (line.starts_with(key + ":")) {
            return std::strtol(line.c_str() + key.size() + 1, nullptr, 10);
        }
    }
    return 0;
}

/// Resets VmHWM, the peak of the memory.
void forget_peak_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

/// One repetition as a line of JSON. The memory is the peak of the repetition above what the
/// process held at its begin.
void print_repetition(const job& repeat) {
    forget_peak_memory();
    const long held = status_kib("VmRSS");
    const double processor = processor_seconds();
    const double start = now();
    const measurement m = repeat();
    const double wall = now() - start;
    std::printf(
        "{\"value\": %.9g, \"runs\": %d, \"wall\": %.6g, \"cpu\": %.6g, \"growth_kib\": %ld",
        m.value, m.runs, wall, processor_seconds() - processor,
        std::max(0L, status_kib("VmHWM") - held));
    for (const auto& [name, value] : m.more) {
        std::printf(", \"%s\": %.9g", name.c_str(), value);
    }
    std::printf("}\n");
    std::fflush(stdout);
}

int usage(const char* runtime) {
    std::fprintf(
        stderr,
        "usage: bench-%s --list\n"
        "       bench-%s <problem> <variant> [--workers N] [--size N] [--repetitions N | --serve]\n"
        "--serve: a repetition for each line that comes in on standard input.\n",
        runtime, runtime);
    return 2;
}

/// A whole number from `least` on; exits with a message otherwise.
long number(const char* option, const char* text, long least) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < least) {
        std::fprintf(stderr, "%s is '%s'; accepted: a whole number from %ld\n", option, text,
                     least);
        std::exit(2);
    }
    return value;
}

int failed(const std::exception& e) {
    const bool is_wrong = dynamic_cast<const wrong_answer*>(&e) != nullptr;
    std::fprintf(stderr, "%s: %s\n", is_wrong ? "wrong answer" : "failed", e.what());
    return 1;
}

struct request {
    const contender* who = nullptr;
    arguments args;
    long repetitions = 3;
    bool serves = false;
};

/// The least size of a problem, 1 unless said. 0: it counts nothing, or what comes besides.
constexpr std::array<std::pair<std::string_view, long>, 3> k_least_sizes{
    {{"dependent_accesses", 0}, {"parcel_round_trip", sizeof(long)}, {"start_stop", 0}}};

/// Exits with a message if the problem cannot have that size, or needs one.
void require_size(const request& r) {
    long least = 1;
    for (const auto& [problem, its] : k_least_sizes) {
        least = r.who->problem == problem ? its : least;
    }
    if (r.args.size < least) {
        std::fprintf(stderr,
                     "%s with --size %ld; accepted: a whole number from %ld. bench/problems.toml "
                     "says which sizes are measured\n",
                     r.who->problem.c_str(), r.args.size, least);
        std::exit(2);
    }
}

bool parse(request& r, int argc, char** argv) {
    r.who = contender::named(argc, argv);
    for (int i = 3; i < argc; ++i) {
        const std::string option = argv[i];
        if (option == "--serve") {
            r.serves = true;
        } else if (i + 1 < argc && option == "--workers") {
            r.args.workers = static_cast<int>(number("--workers", argv[++i], 1));
        } else if (i + 1 < argc && option == "--size") {
            r.args.size = number("--size", argv[++i], 0);
        } else if (i + 1 < argc && option == "--repetitions") {
            r.repetitions = number("--repetitions", argv[++i], 1);
        } else {
            return false;
        }
    }
    if (r.who != nullptr) {
        require_size(r);
    }
    return r.who != nullptr;
}

}  // namespace

contender::contender(std::string p, std::string v, std::function<job(const arguments&)> m,
                     std::map<std::string, std::string> e)
    : problem(std::move(p)), variant(std::move(v)), make(std::move(m)), environment(std::move(e)) {
    registered().push_back(*this);
}

const std::vector<contender>& contender::all() { return registered(); }

const contender* contender::named(int argc, char** argv) {
    const auto is_wanted = [&](const contender& c) {
        return argc > 2 && c.problem == argv[1] && c.variant == argv[2];
    };
    const auto found = std::find_if(all().begin(), all().end(), is_wanted);
    return found != all().end() ? &*found : nullptr;
}

double now() noexcept {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(since).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

measurement timed_runs(const std::function<double()>& one_run) {
    constexpr double k_enough = 0.02;  // seconds
    constexpr std::size_t k_most_runs = 1000;
    std::vector<double> seconds;
    double total = 0;
    do {
        seconds.push_back(one_run());
        total += seconds.back();
    } while (total < k_enough && seconds.size() < k_most_runs);
    return {median(seconds), static_cast<int>(seconds.size()), {}};
}

void leave_helper_threads_of_blas(const char* runtime, char** argv) {
    constexpr const char* k_variable = "OPENBLAS_NUM_THREADS";
    if (std::string_view(runtime) == "openblas" || std::getenv(k_variable) != nullptr) {
        return;
    }
    setenv(k_variable, "1", 1);
    execv("/proc/self/exe", argv);
    std::perror(
        "bench: cannot start again without OpenBLAS's helper threads, which disturb figures");
}

void check_request(const char* runtime, int argc, char** argv) {
    request wanted;
    if (!parse(wanted, argc, argv)) {
        std::exit(usage(runtime));
    }
}

int serve(const char* runtime, int argc, char** argv) try {
    leave_helper_threads_of_blas(runtime, argv);
    if (argc == 2 && std::string(argv[1]) == "--list") {
        for (const contender& c : contender::all()) {
            std::printf("%s %s\n", c.problem.c_str(), c.variant.c_str());
        }
        return 0;
    }
    request wanted;
    if (!parse(wanted, argc, argv)) {
        return usage(runtime);
    }
    const job repeat = wanted.who->make(wanted.args);
    std::string line;
    for (long i = 0; wanted.serves ? !!std::getline(std::cin, line) : i < wanted.repetitions; ++i) {
        print_repetition(repeat);
    }
    return 0;
} catch (const std::exception& e) {
    return failed(e);
}

int follow(const char* runtime, int argc, char** argv, const std::function<bool()>& next) try {
    request wanted;
    if (!parse(wanted, argc, argv)) {
        return usage(runtime);
    }
    const job repeat = wanted.who->make(wanted.args);
    while (next()) {
        repeat();
    }
    return 0;
} catch (const std::exception& e) {
    return failed(e);
}

}  // namespace bench
