// SPDX-License-Identifier: BSL-1.0
// Series that another layer reads, with a fake source: when it is read, which samples are kept, and
// on what kind of thread.
#include <quern/scheduler/detail/series_source.hpp>
#include <quern/scheduler/observers.hpp>
#include <quern/trace/recorder.hpp>

#include "record/sampler.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <algorithm>

namespace {

using quern::detail::series_value;
using quern::trace::series;
using quern::trace::detail::sampler;

bool is_harmless() {
    const auto& all = quern::detail::process_registry::of_process();
    const std::scoped_lock guard(quern::detail::process_registry::lock());
    for (auto* each = all.harmless.front(); each != nullptr; each = all.harmless.after(*each)) {
        if (each->thread == quern_test::os_thread()) {
            return true;
        }
    }
    return false;
}

/// The behaviour of the source, and what it has seen.
struct invention {
    int unknown = 0;  ///< readings for which the runtime is unknown
    bool calls_program = false;
    std::string names{};
    std::atomic<const quern::runtime*> of{nullptr};
    std::atomic<int> reads{0};
    std::atomic<int> made_while_harmless{0};
    std::atomic<int> read_while_harmless{0};
};

invention* g_invention = nullptr;

class invented_reader final : public quern::detail::series_reader {
public:
    std::vector<series_value> read() override {
        const int count = ++g_invention->reads;
        g_invention->read_while_harmless += is_harmless() ? 1 : 0;
        series_value gap{.name = "gap", .unit = "B"};
        if (count == 1) {
            gap.value = 7.0;
        } else {
            gap.why = "gone";
        }
        return {{.name = "count", .unit = "1/s", .value = count},
                gap,
                {.name = "denied", .unit = "J", .why = "not for you"}};
    }
    bool calls_program() const noexcept override { return g_invention->calls_program; }
};

std::unique_ptr<quern::detail::series_reader> invented(const quern::runtime& of,
                                                       std::string_view names) {
    g_invention->names = names;
    g_invention->of = &of;
    g_invention->made_while_harmless += is_harmless() ? 1 : 0;
    return g_invention->unknown-- > 0 ? nullptr : std::make_unique<invented_reader>();
}

class sampler_test : public quern_test::on_runtime {
protected:
    sampler_test() {
        g_invention = &source;
        quern::detail::set_series_source(invented);
    }
    ~sampler_test() override {
        quern::detail::set_series_source(nullptr);
        g_invention = nullptr;
    }

    std::vector<series> sampled(int reads) {
        sampler one(rt, "/a;/b*");
        EXPECT_TRUE(quern_test::eventually([&] { return source.reads >= reads; }));
        return one.stop();
    }

    static series named(const std::vector<series>& all, std::string_view name) {
        const auto at =
            std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.name == name; });
        return at == all.end() ? series{"nothing", "", {}, "nothing"} : *at;
    }

    invention source;
};

TEST_P(sampler_test, keeps_what_the_reader_gives) {
    source.unknown = 3;
    const std::vector<series> all = sampled(4);
    EXPECT_EQ(source.names, "/a;/b*");
    EXPECT_EQ(source.of, &rt);
    const series count = named(all, "count");
    EXPECT_EQ(count.unit, "1/s");
    EXPECT_EQ(count.why, "");
    ASSERT_GE(count.points.size(), 4U);
    for (std::size_t i = 0; i < count.points.size(); ++i) {
        EXPECT_EQ(count.points[i].second, static_cast<double>(i + 1));
        EXPECT_LE(i == 0 ? 0 : count.points[i - 1].first, count.points[i].first);
    }
    EXPECT_FALSE(named(all, "resident memory").points.empty());
}

TEST_P(sampler_test, a_series_without_a_point_has_a_reason_and_one_with_a_point_has_none) {
    const std::vector<series> all = sampled(3);
    EXPECT_TRUE(named(all, "denied").points.empty());
    EXPECT_EQ(named(all, "denied").why, "not for you");
    EXPECT_EQ(named(all, "gap").points.size(), 1U);
    EXPECT_EQ(named(all, "gap").why, "");
}

TEST_P(sampler_test, a_reader_that_is_there_is_read_before_the_end) {
    sampler one(rt, "/a");
    ASSERT_TRUE(quern_test::eventually([&] { return source.of != nullptr; }));
    const series count = named(one.stop(), "count");
    EXPECT_EQ(count.points.size(), static_cast<std::size_t>(source.reads));
    EXPECT_GE(source.reads, 1);
}

TEST_P(sampler_test, its_thread_is_harmless_unless_it_calls_the_program) {
    sampled(3);
    EXPECT_EQ(source.made_while_harmless, 0);
    EXPECT_GE(source.read_while_harmless, source.reads - 1);  // the last is read by this thread
    source.reads = source.read_while_harmless = 0;
    source.calls_program = true;
    sampled(3);
    EXPECT_EQ(source.made_while_harmless, 0);
    EXPECT_EQ(source.read_while_harmless, 0);
}

TEST_P(sampler_test, says_when_there_was_no_reader) {
    source.unknown = 1'000'000;
    EXPECT_EQ(named(sampled(0), "/a;/b*").why, "the recording ended before it could be read");
    quern::detail::set_series_source(nullptr);
    EXPECT_EQ(named(sampled(0), "/a;/b*").why, "the program has no performance counters");
}

TEST_P(sampler_test, has_four_series_where_none_are_named) {
    EXPECT_EQ(sampler(rt).stop().size(), 4U);
    EXPECT_EQ(source.of, nullptr);
}

TEST_P(sampler_test, a_recorder_passes_names_on) {
    quern::trace::recorder_options options;
    options.counters = "/a";
    quern::trace::recorder recorder(rt, options);
    EXPECT_TRUE(quern_test::eventually([&] { return source.reads > 0; }));
    EXPECT_FALSE(named(recorder.stop().counters, "count").points.empty());
    EXPECT_EQ(source.names, "/a");
}

/// Like a layer that forgets a runtime at its end, before the trace is notified.
class forgetful final : public quern::runtime_observer {
public:
    void check(const quern::settings&) override {}
    void started(quern::runtime&, const quern::settings&) noexcept override {}
    void ends(quern::runtime&) noexcept override {
        reads = g_invention != nullptr ? g_invention->reads.load() : 0;
    }

    int reads = 0;
};

TEST_P(sampler_test, nothing_is_read_when_the_first_observer_is_told_of_the_end) {
    static forgetful observer;
    static const bool added = (quern::add_observer(observer), true);
    ASSERT_TRUE(added);
    quern::trace::recorder_options options;
    options.counters = "/a";
    auto short_lived =
        std::make_unique<quern::runtime>(quern::runtime_options::with_workers(GetParam().workers));
    quern::trace::recorder recorder(*short_lived, options);
    ASSERT_TRUE(quern_test::eventually([&] { return source.of != nullptr; }));
    short_lived.reset();
    EXPECT_GE(observer.reads, 1);
    EXPECT_EQ(source.reads, observer.reads);
    EXPECT_EQ(named(recorder.stop().counters, "count").points.size(),
              static_cast<std::size_t>(observer.reads));
}

QUERN_ON_1_2_8_WORKERS(sampler_test);

}  // namespace
