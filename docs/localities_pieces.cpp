// SPDX-License-Identifier: BSL-1.0
// Pieces of docs/localities.md. They are compiled and not run.
#include <quern/adaptation/global_value.hpp>
#include <quern/adaptation/policy.hpp>
#include <quern/localities/attempts.hpp>
#include <quern/localities/balance.hpp>
#include <quern/localities/channel.hpp>
#include <quern/localities/checkpoint.hpp>
#include <quern/localities/communicator.hpp>
#include <quern/localities/counters.hpp>
#include <quern/localities/global_policy.hpp>
#include <quern/localities/halo.hpp>
#include <quern/localities/names.hpp>
#include <quern/localities/object.hpp>
#include <quern/localities/partitioned_vector.hpp>
#include <quern/localities/run_at.hpp>
#include <quern/quern.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace pieces {

using namespace std::chrono_literals;

// [types]
struct cell {  // an aggregate: nothing to write
    double value = 0;
    std::vector<int> neighbours;
};

class table {
public:
    void add(cell row) { m_rows.push_back(std::move(row)); }
    std::size_t rows() const { return m_rows.size(); }

private:
    friend class cereal::access;
    template <class Archive>
    void serialize(Archive& archive) {
        archive(m_name, m_rows);
    }
    std::string m_name;
    std::vector<cell> m_rows;
};

std::size_t count_rows(const table& of) { return of.rows(); }
// [types]

struct particles {
    std::vector<double> at;
    void move(double by) {
        for (double& each : at) {
            each += by;
        }
    }
    double mean() const;
};

double total(const std::vector<double>& of);
int search(int part, std::stop_token stop);
int next(int x);
void compute_rows(const std::vector<double>& now, std::vector<double>& next, std::size_t first,
                  std::size_t end);

void example(int where) {
    table cells;
    std::vector<double> numbers(1'000'000);

    // [calls]
    // A function, and a lambda without captures: what it needs are arguments.
    quern::future<std::size_t> rows = quern::localities::run_at(where, &count_rows, cells);
    quern::future<int> sum = quern::localities::run_at(
        where, [](int a, int b) { return a + b; }, 3, 4);
    // As with every future.
    quern::future<int> more = sum.then([](quern::future<int> got) { return got.get() + 1; });
    // Without an answer.
    quern::localities::post_to(
        where, [](int from) { std::printf("from %d\n", from); }, quern::localities::here());
    // [calls]

    // [large]
    // 8 MB go from the storage of `numbers` into that of the vector that total() gets.
    quern::future<double> all = quern::localities::run_at(where, &total, std::move(numbers));
    // [large]

    // [stop]
    // Each locality searches its part, until one of them has found something.
    std::stop_source enough;
    std::vector<quern::future<int>> searches;
    for (const int each : quern::localities::all()) {
        searches.push_back(quern::localities::run_at(each, &search, each, enough.get_token()));
    }
    auto winner = quern::when_any(std::move(searches)).get();
    enough.request_stop();  // also wakes those that wait with the token
    std::printf("found %d\n", winner.futures[winner.index].get());
    // [stop]

    // [errors]
    try {
        quern::localities::run_at(where, [] { throw std::invalid_argument("no such cell"); }).get();
    } catch (const quern::localities::remote_error& e) {
        std::puts(e.what());                    // locality 1: std::invalid_argument: no such cell
        std::puts(e.report().type.c_str());     // std::invalid_argument
        std::puts(e.report().message.c_str());  // no such cell
    }
    // [errors]

    // [objects]
    quern::localities::object<particles> box =
        quern::localities::make_at<particles>(where, std::vector<double>(1000, 0.5));
    box.post(&particles::move, 0.25);  // without an answer
    quern::future<double> mean = box.call(&particles::mean);
    // A function or a lambda without captures gets the object first.
    quern::future<std::size_t> size = box.call([](const particles& of) { return of.at.size(); });
    // The same name, another place. Calls that come meanwhile follow it.
    quern::localities::migrate(box, 0).get();
    // [objects]

    // [names]
    quern::localities::publish("box", box).get();
    // Anywhere, also before it is published: the future is ready when it is.
    quern::future<quern::localities::object<particles>> found =
        quern::localities::find<particles>("box");
    found.get().post(&particles::move, 0.25);
    quern::localities::unpublish("box").get();
    // [names]

    // [collectives]
    // At every locality. The key says which communicators belong together.
    const quern::localities::communicator everywhere("residual");
    quern::future<double> residual = everywhere.all_reduce(0.5, std::plus<>());
    quern::future<std::vector<int>> here_first =
        everywhere.all_gather(quern::localities::here());  // meanwhile
    if (residual.get() > 1e-6) {
        everywhere.barrier().get();
    }
    // [collectives]

    // [control]
    const quern::localities::channel<std::string> lines(0, 8);  // at the root, 8 lines at most
    quern::localities::post_to(
        where,
        [](const quern::localities::channel<std::string>& to) {
            to.send("from " + std::to_string(quern::localities::here())).get();
            to.close();
        },
        lines);
    while (std::optional<std::string> line = lines.receive().get()) {
        std::puts(line->c_str());
    }
    // [control]

    // [vector]
    const quern::localities::partitioned_vector<double> x(1'000'000, 1.0);  // a part at each
    x.for_each([](double& each, double by) { each *= by; }, 2.0).get();
    const double norm =
        std::sqrt(x.reduce(0.0, std::plus<>(), [](double each) { return each * each; }).get());
    x.set(17, norm).get();
    x.sort().get();
    // [vector]

    // [halo]
    // At every locality. 1000 rows of 500 points, in blocks with a row of ghosts on each side.
    const quern::localities::halo<double> borders(everywhere, 1000, {.row_length = 500});
    std::vector<double> now = borders.make_block(), later = now;
    const std::size_t last = borders.own_rows();  // own rows are 1 to last
    for (int step = 0; step < 100; ++step) {
        quern::future<void> ghosts = borders.exchange(now);
        compute_rows(now, later, 2, last);  // the inside needs no ghosts
        ghosts.get();
        compute_rows(now, later, 1, 2);
        compute_rows(now, later, last, last + 1);
        std::swap(now, later);
    }
    // [halo]

    // [balance]
    std::vector<quern::localities::object<particles>> boxes;
    for (const int each : quern::localities::all()) {
        boxes.push_back(quern::localities::make_at<particles>(each));
    }
    const quern::localities::balancer<particles> balance(boxes);
    // After some calls: those that make the largest load smaller move.
    const quern::localities::rebalanced done = balance.rebalance().get();
    std::printf("%d boxes moved: %s\n", static_cast<int>(done.moved), done.why.c_str());
    // [balance]

    // [checkpoint]
    quern::localities::checkpoint(boxes, "results/step-100").get();
    // In another run, on any number of localities:
    const auto restored = quern::localities::restore<particles>("results/step-100");
    // [checkpoint]

    const std::vector<double> xs(100, 0.01);
    // [attempts]
    const auto is_normalised = [](double value) { return std::abs(value - 1) < 1e-9; };
    quern::future<double> checked =
        quern::localities::retry_if(3, quern::localities::all(), is_normalised, &total, xs);
    quern::future<int> sure = quern::localities::replicate(
        quern::localities::all(), quern::localities::majority(), [] { return 42; });
    // [attempts]

    // [counters]
    quern::localities::counter_set job;
    job.add("/threads{locality#*/total}/idle-rate");  // of each locality
    job.add("/agas{locality#1/total}/count/migrations");
    for (const auto& each : job.evaluate().get()) {
        std::printf("%s %g\n", each.name.c_str(), each.value);
    }
    // [counters]

    // [policy]
    const quern::adaptation::global_value idle("idle");  // in percent
    const auto publish = quern::adaptation::every(
        10ms, "idle", [idle](auto& of) { idle.publish(of.counter("/threads/idle-rate") / 100); });
    const quern::localities::global_policy<unsigned> kept(
        100ms, "same-width",
        [idle](auto& of) -> std::optional<unsigned> {  // called at the root alone
            const auto least = idle.reduce(quern::adaptation::reduction::least);
            const unsigned workers = of.get("active-workers");
            return least > 50 && workers > 1 ? std::optional(workers - 1) : std::nullopt;
        },
        [](auto& of, unsigned workers) {  // called at each locality
            of.set("active-workers", workers, "each locality is half idle");
        });
    // [policy]

    // [order]
    quern::future<int> second =
        quern::localities::run_at(where, &next, 1).then([where](quern::future<int> first) {
            return quern::localities::run_at(where, &next, first.get());  // begins after the first
        });
    // [order]
}

double total(const std::vector<double>& of) {
    double sum = 0;
    for (const double each : of) {
        sum += each;
    }
    return sum;
}

int next(int x) { return x + 1; }

int search(int part, std::stop_token stop) { return stop.stop_requested() ? 0 : part; }

void compute_rows(const std::vector<double>& now, std::vector<double>& next, std::size_t first,
                  std::size_t end) {
    for (std::size_t i = first * 500; i < end * 500; ++i) {
        next[i] = 0.5 * (now[i - 500] + now[i + 500]);
    }
}

double particles::mean() const { return total(at) / static_cast<double>(at.size()); }

}  // namespace pieces
