// SPDX-License-Identifier: BSL-1.0
// Events of workers' threads, by a fake kernel: scaling, pairs, errors, threads that end. And what
// this computer's kernel counts.
#include "system_readings.hpp"

#include "unit/scheduler/on_runtime.hpp"

#include <quern/counters/system_events.hpp>

#include <linux/perf_event.h>

#include <cerrno>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

namespace {

using quern::topology::event_kernel;
using quern::topology::event_kind;
using quern_test::expect_none;
using quern_test::expect_value;
using quern_test::place;
using quern_test::read_counter;
using quern_test::source_state;

constexpr std::uint64_t k_ms = 1'000'000;

std::string counter_of(const event_kind& event) {
    return event.type != PERF_TYPE_SOFTWARE ? "/hw/" + event.name
           : event.name == "cpu-migrations" ? "/os/schedule/migrations"
                                            : "/os/schedule/" + event.name;
}

/// Counts what the test says. Descriptors are fake.
class invented_kernel final : public event_kernel {
public:
    int open(const event_kind& event, pid_t thread, int leader) override {
        const std::scoped_lock lock(m_mutex);
        ++opened;
        const std::string name = counter_of(event);
        if (errors.contains(name) && (leader >= 0 || errors[name] != EINVAL)) {
            return -errors[name];
        }
        m_open[m_next] = {name, thread, leader};
        return m_next++;
    }
    int open_leader(const event_kind&, pid_t) override { return -ENOSYS; }
    int read_group(int, group_count&) override { return ENOSYS; }
    int read(int descriptor, count& into) override {
        const std::scoped_lock lock(m_mutex);
        into = shown[m_open.at(descriptor).name];
        return read_error;
    }
    void close(int descriptor) noexcept override {
        const std::scoped_lock lock(m_mutex);
        m_open.erase(descriptor);
    }

    struct open_event {
        std::string name;
        pid_t thread = 0;
        int leader = -1;
    };
    const std::map<int, open_event>& open_ones() const { return m_open; }

    std::map<std::string, count> shown;
    std::map<std::string, int> errors;  ///< of opening; EINVAL only for a group member
    int read_error = 0;
    int opened = 0;

private:
    std::mutex m_mutex;
    int m_next = 100;
    std::map<int, open_event> m_open;
};

class events_test : public quern_test::on_lone_runtime {
protected:
    quern::counters::source& of(std::string_view name) const {
        for (const auto& one : all) {
            for (const auto& info : one->counters()) {
                if (info.name == name) {
                    return *one;
                }
            }
        }
        throw std::out_of_range(std::string(name));
    }
    quern_test::raw_reading read(std::string_view name) {
        return read_counter(of(name), name, place{rt.default_pool(), {}});
    }
    double n() const { return workers(); }

    std::shared_ptr<invented_kernel> kernel = std::make_shared<invented_kernel>();
    std::vector<std::unique_ptr<quern::counters::source>> all =
        quern::counters::event_sources({}, kernel);
};

TEST_P(events_test, are_opened_when_they_are_read_one_for_each_worker) {
    EXPECT_EQ(kernel->opened, 0);
    read("/hw/cycles");
    EXPECT_EQ(kernel->open_ones().size(), 2 * workers());  // instructions with them
    read("/hw/cycles");
    EXPECT_EQ(kernel->open_ones().size(), 2 * workers());
    std::set<pid_t> threads;
    for (const auto& [descriptor, what] : kernel->open_ones()) {
        EXPECT_GT(what.thread, 0);  // 0 would be the calling thread
        threads.insert(what.thread);
        if (what.name == "/hw/instructions") {
            EXPECT_EQ(kernel->open_ones().at(what.leader).name, "/hw/cycles");
            EXPECT_EQ(kernel->open_ones().at(what.leader).thread, what.thread);
        }
    }
    EXPECT_EQ(threads.size(), workers());
    EXPECT_FALSE(threads.contains(quern_test::os_thread()));
}

TEST_P(events_test, say_that_they_begin_when_they_are_first_read) {
    const place worker{rt.default_pool(), 0};
    EXPECT_TRUE(read_counter(of("/hw/cycles"), "/hw/cycles", worker).begins);
    EXPECT_FALSE(read_counter(of("/hw/cycles"), "/hw/cycles", worker).begins);
    EXPECT_FALSE(read("/hw/cycles").begins) << "a part of it is counted already";
    EXPECT_TRUE(read("/hw/branches").begins);
}

TEST_P(events_test, are_those_of_a_worker_a_pool_and_the_process) {
    kernel->shown["/hw/cycles"] = {1000, k_ms, k_ms};
    expect_value(read("/hw/cycles"), 1000 * n());
    place where{rt.default_pool(), 0};
    expect_value(read_counter(of("/hw/cycles"), "/hw/cycles", where), 1000);
    expect_value(read_counter(of("/hw/cycles"), "/hw/cycles"), 1000 * n());
    where.worker = workers();
    expect_none(read_counter(of("/hw/cycles"), "/hw/cycles", where), source_state::absent,
                "the pool 'default' has " + std::to_string(workers()) + " workers");
}

TEST_P(events_test, of_this_processor_have_numbers) {
    const auto one = quern::counters::raw_event_source({}, kernel, "/hw/r1a2");
    ASSERT_NE(one, nullptr);
    kernel->shown["/hw/r1a2"] = {5, k_ms, k_ms};
    expect_value(read_counter(*one, "/hw/r1a2", place{rt.default_pool(), {}}), 5 * n());
    for (const char* const other : {"/hw/r", "/hw/r1g", "/hw/cycles", "/os/r1a2", "/hw/*"}) {
        EXPECT_EQ(quern::counters::raw_event_source({}, kernel, other), nullptr) << other;
    }
}

TEST_P(events_test, that_are_counted_part_of_the_time_are_scaled) {
    kernel->shown["/hw/branches"] = {1000, 4 * k_ms, k_ms};
    expect_value(read("/hw/branches"), 4000 * n());
    kernel->shown["/hw/branches"] = {1500, 6 * k_ms, 3 * k_ms};  // 500 more in all of 2 ms of 2
    expect_value(read("/hw/branches"), 4500 * n());
    kernel->shown["/hw/branches"] = {1500, 8 * k_ms, 3 * k_ms};  // not counted in this interval
    expect_value(read("/hw/branches"), 4500 * n());
    kernel->shown["/hw/branches"] = {1600, 10 * k_ms, 4 * k_ms};  // 100 in 1 ms, of 4
    expect_value(read("/hw/branches"), 4900 * n());
}

TEST_P(events_test, that_cannot_be_counted_beside_their_pair_are_counted_alone) {
    kernel->errors["/hw/cache-misses"] = EINVAL;
    kernel->shown["/hw/cache-misses"] = {7, k_ms, k_ms};
    expect_value(read("/hw/cache-misses"), 7 * n());
}

TEST_P(events_test, that_the_machine_does_not_have_are_absent) {
    for (const int error : {ENOENT, EOPNOTSUPP}) {
        kernel->errors["/hw/stalled-cycles-frontend"] = error;
        const auto fresh = quern::counters::event_sources({}, kernel);
        for (const auto& one : fresh) {
            if (one->counters()[0].name == "/hw/stalled-cycles-frontend") {
                expect_none(one->read(place{rt.default_pool(), {}})[0], source_state::absent,
                            "perf_event_open: " + quern::topology::errno_text(error));
            }
        }
    }
    kernel->shown["/hw/stalled-cycles-backend"] = {7, k_ms, k_ms};
    expect_value(read("/hw/stalled-cycles-backend"), 7 * n());  // the other event is not affected
}

TEST_P(events_test, that_the_process_may_not_count_are_denied_with_the_setting) {
    fake::tree tree;
    tree.file("/proc/sys/kernel/perf_event_paranoid", "4\n");
    kernel->errors["/hw/cycles"] = EACCES;
    const auto sources = quern::counters::event_sources(tree.root(), kernel);
    const auto reading = sources[0]->read(place{rt.default_pool(), {}})[0];
    expect_none(reading, source_state::denied, "EACCES (Permission denied)");
    expect_none(reading, source_state::denied, "perf_event_paranoid is 4");
    kernel->errors["/hw/branches"] = EPERM;
    expect_none(read("/hw/branches"), source_state::denied, "EPERM");
}

TEST_P(events_test, whose_reading_fails_have_a_reason) {
    read("/hw/cycles");
    kernel->read_error = EIO;
    expect_none(read("/hw/cycles"), source_state::denied, "reading the event: EIO");
}

TEST_P(events_test, that_are_accepted_and_never_counted_are_stuck) {
    expect_value(read("/hw/instructions"), 0);  // just begun
    kernel->shown["/hw/instructions"] = {0, k_ms, 0};
    expect_none(read("/hw/instructions"), source_state::stuck, "other events");
    kernel->shown["/hw/instructions"] = {0, k_ms, k_ms};
    expect_none(read("/hw/instructions"), source_state::stuck, "counts none");
    kernel->shown["/hw/cache-misses"] = {0, 10 * k_ms, 10 * k_ms};
    expect_value(read("/hw/cache-misses"), 0);  // zero is possible
    kernel->shown["/os/schedule/migrations"] = {0, 1000 * k_ms, 1000 * k_ms};
    expect_value(read("/os/schedule/migrations"), 0);
}

TEST_P(events_test, stay_in_the_sum_of_the_process_when_a_runtime_ends) {
    kernel->shown["/hw/cycles"] = {1000, k_ms, k_ms};
    {
        quern::runtime other(quern::runtime_options::with_workers(2));
        expect_value(read_counter(of("/hw/cycles"), "/hw/cycles"), 1000 * (n() + 2));
    }
    expect_value(read_counter(of("/hw/cycles"), "/hw/cycles"), 1000 * (n() + 2));
    EXPECT_EQ(kernel->open_ones().size(), 2 * workers());
}

TEST_P(events_test, may_be_read_by_several_threads_while_runtimes_come_and_go) {
    kernel->shown["/hw/cycles"] = {1, k_ms, k_ms};
    std::vector<std::thread> readers;
    for (int i = 0; i < 2; ++i) {
        readers.emplace_back([this] {
            double before = 0;
            for (int turn = 0; turn < 50; ++turn) {
                const auto reading = read_counter(of("/hw/cycles"), "/hw/cycles");
                EXPECT_EQ(reading.state, source_state::ok) << reading.why;
                EXPECT_GE(reading.above, before);
                before = reading.above;
            }
        });
    }
    for (int turn = 0; turn < 5; ++turn) {
        const quern::runtime other(quern::runtime_options::with_workers(2));
    }
    for (std::thread& reader : readers) {
        reader.join();
    }
}

QUERN_ON_1_2_8_WORKERS(events_test);

TEST(events_absent, without_a_kernel_to_ask) {
    const quern::runtime rt(quern::runtime_options::with_workers(1));
    const fake::tree tree;
    const quern_test::sources all(tree.root());
    expect_none(all.read("/hw/cycles"), source_state::absent, "perf_event_open");
}

class live_test : public quern_test::on_lone_runtime {
protected:
    /// How much a task of 20 ms adds to the counter.
    quern_test::raw_reading measure(std::string_view name) {
        all.read(name);
        inside([] { quern_test::spin_for(std::chrono::milliseconds(20)); });
        return all.read(name);
    }

    quern_test::sources all;
};

TEST_P(live_test, task_clock_of_this_computer) {
    const auto reading = measure("/os/schedule/task-clock");
    if (reading.state != source_state::ok) {
        EXPECT_FALSE(reading.why.empty());
        GTEST_SKIP() << reading.why;
    }
    EXPECT_GT(reading.above, 0);
}

TEST_P(live_test, hardware_events_of_this_computer) {
    for (const char* const name : {"/hw/instructions", "/hw/cycles", "/hw/branches"}) {
        const auto reading = measure(name);
        if (reading.state != source_state::ok) {
            EXPECT_FALSE(reading.why.empty());
            GTEST_SKIP() << name << ": " << reading.why;
        }
        EXPECT_GT(reading.above, 0) << name;
    }
}

QUERN_ON_1_2_8_WORKERS(live_test);

}  // namespace
