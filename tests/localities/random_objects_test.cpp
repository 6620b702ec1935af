// SPDX-License-Identifier: BSL-1.0
// Random programs with global objects: tasks of all localities call, post, move, copy, drop and
// hand on references to a few objects, also by names, all at once. Each object notes the numbers of
// its calls by locality, so that a lost, doubled or reordered one is seen. TEST_STRESS_SEED sets
// the first seed, TEST_STRESS_PROGRAMS the number.
#include "on_job.hpp"
#include "random_seeds.hpp"

#include <quern/localities/names.hpp>
#include <quern/localities/object.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/task/task_group.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace quern_test;
using quern::localities::count;
using quern::localities::here;
using quern::localities::make_at;
using quern::localities::migrate;
using quern::localities::object;
using quern::localities::object_name;
using quern::localities::post_to;
using quern::localities::remote_error;

constexpr std::uint32_t k_objects = 3;
constexpr std::uint32_t k_tasks = 3;  ///< of each locality

std::atomic<std::uint64_t> g_posted{0};  ///< calls of this locality
std::atomic<std::uint64_t> g_noted{0};   ///< by objects that have ended here
std::atomic<std::uint64_t> g_wrong{0};
std::atomic<std::int64_t> g_living{0};  ///< made here, less those that have ended here

/// What has been noted is added up when it ends.
class journal {
public:
    journal() { ++g_living; }
    explicit journal(std::size_t size) : m_pages(size, 1) { ++g_living; }
    journal(const journal&) = delete;
    journal& operator=(const journal&) = delete;
    ~journal() {
        --g_living;
        for (const auto& [caller, last] : m_last) {
            g_noted += m_has_moved ? 0 : last;
        }
    }

    void note(int caller, std::uint64_t number) {
        std::uint64_t& last = m_last[caller];
        g_wrong += number == last + 1 ? 0 : 1;
        last = number;
    }
    /// In the middle other calls could run if they were let.
    std::uint64_t note_slowly(int caller, std::uint64_t number) {
        const auto before = m_last;
        quern::this_task::yield();
        g_wrong += before == m_last ? 0 : 1;
        note(caller, number);
        if (number % 5 == 0) {
            throw number;
        }
        return number;
    }
    std::size_t pages() const {
        quern::this_task::yield();
        return m_pages.size();
    }

    template <class Archive>
    void save(Archive& into) const {
        into(m_last, m_pages);
        m_has_moved = true;
    }
    template <class Archive>
    void load(Archive& from) {
        from(m_last, m_pages);
    }

private:
    std::map<int, std::uint64_t> m_last;
    std::vector<int> m_pages;
    mutable bool m_has_moved = false;  ///< what is here is not the object
};

/// The number of a call and the call must not be separated by another one of this locality.
quern::mutex g_numbers_lock;
std::map<object_name, std::uint64_t> g_numbers;

void note(const object<journal>& in) {
    const std::scoped_lock lock(g_numbers_lock);
    in.post(&journal::note, here(), ++g_numbers[in.name()]);
    ++g_posted;
}
quern::future<std::uint64_t> note_slowly(const object<journal>& in) {
    const std::scoped_lock lock(g_numbers_lock);
    ++g_posted;
    return in.call(&journal::note_slowly, here(), ++g_numbers[in.name()]);
}

void wander(std::vector<object<journal>> known, std::uint64_t seed, int depth);

std::atomic<std::uint64_t> g_names{0};  ///< of this locality

/// Another task looks it up, perhaps before it is published.
quern::future<void> hand_on_by_name(const object<journal>& one, int where, std::uint64_t seed,
                                    int depth) {
    const std::string name = std::to_string(here()) + "." + std::to_string(++g_names);
    post_to(
        where,
        [](const std::string& of, std::uint64_t its_seed, int its_depth) {
            std::vector<object<journal>> known{quern::localities::find<journal>(of).get()};
            g_wrong += quern::localities::unpublish(of).get() ? 0 : 1;
            wander(std::move(known), its_seed, its_depth);
        },
        name, seed, depth);
    return quern::localities::publish(name, one);
}

void wander(std::vector<object<journal>> known, std::uint64_t seed, int depth) {
    dice plan(seed);
    std::vector<quern::future<std::uint64_t>> notes;
    std::vector<quern::future<void>> moves;
    for (std::uint32_t left = 5 + plan.below(20); left != 0 && !known.empty(); --left) {
        const std::size_t which = plan.below(static_cast<std::uint32_t>(known.size()));
        const object<journal>& one = known[which];
        const int where = static_cast<int>(plan.below(static_cast<std::uint32_t>(count())));
        switch (plan.below(10)) {
            case 0:
            case 1:
                note(one);
                break;
            case 2:
                notes.push_back(note_slowly(one));
                break;
            case 3:
                static_cast<void>(one.call(&journal::pages).get());
                break;
            case 4:
                moves.push_back(migrate(one, where));
                break;
            case 5:
                known.push_back(one);
                break;
            case 6:
                known.erase(known.begin() + static_cast<std::ptrdiff_t>(which));
                break;
            case 7:
                quern::this_task::yield();
                break;
            case 8:
                if (depth < 3) {
                    moves.push_back(hand_on_by_name(one, where, seed * 31 + left, depth + 1));
                }
                break;
            default:
                if (depth < 3) {
                    post_to(where, &wander, known, seed * 31 + left, depth + 1);
                }
        }
    }
    known.clear();
    for (auto& each : notes) {
        try {
            g_wrong += each.get() % 5 == 0 ? 1 : 0;
        } catch (const remote_error& error) {
            g_wrong += error.report().type == "unsigned long" ? 0 : 1;
        }
    }
    for (auto& each : moves) {
        each.get();
    }
}

void run_program(std::uint64_t seed) {
    dice plan(seed + 1000 * static_cast<std::uint64_t>(this_world().rank));
    quern::task_group all;
    for (std::uint32_t i = 0; i < k_tasks; ++i) {
        std::vector<object<journal>> made;
        for (std::uint32_t k = plan.below(k_objects + 1); k != 0; --k) {
            made.push_back(
                make_at<journal>(static_cast<int>(plan.below(static_cast<std::uint32_t>(count()))),
                                 std::size_t{plan.below(4) == 0 ? 5000U : plan.below(10)}));
        }
        all.run([made = std::move(made), own = std::uint64_t{plan.below(1U << 30U)}]() mutable {
            wander(std::move(made), own, 0);
        });
    }
    all.wait();
}

TEST(localities_random_objects, every_call_runs_once_and_in_order) {
    for (const std::uint64_t one : seeds_of_job(scaled(100, 15))) {
        g_posted = 0;
        g_noted = 0;
        g_wrong = 0;
        g_numbers.clear();
        own_job job(1 + dice(one + 1000 * number_of_ranks()).below(3));
        run_program(one);
        job.end();
        ASSERT_EQ(sum_of_ranks(g_wrong), 0U) << "TEST_STRESS_SEED=" << one;
        ASSERT_EQ(sum_of_ranks(g_noted), sum_of_ranks(g_posted)) << "TEST_STRESS_SEED=" << one;
        ASSERT_EQ(sum_of_ranks(static_cast<std::uint64_t>(g_living.load())), 0U)
            << "TEST_STRESS_SEED=" << one;
    }
}

}  // namespace
