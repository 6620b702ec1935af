// SPDX-License-Identifier: BSL-1.0
// Random programs with communicators and control objects: several tasks of each locality, each with
// a key and members that all localities derive from one seed, begin operations of random kinds and
// wait for some of them later; and agree on channels and promises, which move meanwhile. What each
// gets is compared with what the definition gives. TEST_STRESS_SEED sets the first seed,
// TEST_STRESS_PROGRAMS the number.
#include "on_job.hpp"
#include "random_seeds.hpp"

#include <quern/localities/channel.hpp>
#include <quern/localities/communicator.hpp>
#include <quern/localities/latch.hpp>
#include <quern/localities/promise.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/this_task.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace quern_test;
using quern::localities::channel;
using quern::localities::communicator;
using quern::localities::count;
using quern::localities::here;
using quern::localities::latch;
using quern::localities::migrate;
using quern::localities::promise;
using quern::localities::remote_error;

constexpr std::uint32_t k_tasks = 4;  ///< of each locality

std::atomic<std::uint64_t> g_wrong{0};

void expect(bool is_right) { g_wrong += is_right ? 0 : 1; }

/// What the operation `number` gets from a member: a text, mostly short.
std::string text_of(std::uint64_t seed, std::uint64_t number, int member) {
    dice from(seed * 1'000'003 + number * 1009 + static_cast<std::uint64_t>(member));
    std::string text(from.below(10) == 0 ? 20'000 : from.below(20), 'a');
    for (std::size_t i = 0; i < text.size(); i += 1 + text.size() / 20) {
        text[i] = static_cast<char>('a' + from.below(26));
    }
    return text;
}

/// Futures that are compared later, in any order.
class comparisons {
public:
    template <class T>
    void add(quern::future<T>&& given, T expected) {
        m_all.push_back(given.then([expected = std::move(expected)](quern::future<T> of) {
            expect(of.get() == expected);
        }));
    }
    void add_failing(quern::future<std::string>&& given) {
        m_all.push_back(given.then([](quern::future<std::string> of) {
            try {
                of.get();
                expect(false);
            } catch (const remote_error& error) {
                expect(error.report().type == "std::range_error");
            }
        }));
    }
    void wait() {
        for (auto& each : m_all) {
            each.get();
        }
        m_all.clear();
    }

private:
    std::vector<quern::future<void>> m_all;
};

/// One task's part, the same plan at all members.
class part {
public:
    part(const communicator& of, std::uint64_t seed)
        : m_all(of),
          m_seed(seed),
          m_place(static_cast<std::size_t>(
              std::find(of.members().begin(), of.members().end(), here()) - of.members().begin())) {
    }

    void run() {
        dice plan(m_seed);
        for (std::uint32_t left = 5 + plan.below(25); left != 0; --left) {
            ++m_number;
            const int root =
                m_all.members()[plan.below(static_cast<std::uint32_t>(m_all.members().size()))];
            const auto kind = plan.below(14);
            kind < 10 ? begin(kind, root) : agree(kind, root, plan.below(1U << 20U));
            const dice own(m_seed * 31 + m_number * 7 + static_cast<std::uint64_t>(here()));
            if (dice(own).below(4) == 0) {
                quern::this_task::yield();
            }
            if (dice(own).below(5) == 0) {
                m_results.wait();
            }
        }
        m_results.wait();
    }

private:
    std::string own() const { return text_of(m_seed, m_number, here()); }
    std::string of_place(std::size_t place) const {
        return text_of(m_seed, m_number, m_all.members()[place]);
    }
    /// Of the members up to that place.
    std::string joined(std::size_t end) const {
        std::string all;
        for (std::size_t i = 0; i < end; ++i) {
            all += of_place(i);
        }
        return all;
    }
    std::vector<std::string> list() const {
        std::vector<std::string> all;
        for (std::size_t i = 0; i < size(); ++i) {
            all.push_back(of_place(i));
        }
        return all;
    }
    std::size_t size() const { return m_all.members().size(); }

    void begin(std::uint32_t kind, int root) {
        const bool is_root = root == here();
        switch (kind) {
            case 0:
                m_results.add(m_all.broadcast(own(), root), text_of(m_seed, m_number, root));
                break;
            case 1:
                m_results.add(m_all.reduce(own(), std::plus<>(), root),
                              is_root ? std::optional(joined(size())) : std::nullopt);
                break;
            case 2:
                m_results.add(m_all.all_reduce(own(), std::plus<>()), joined(size()));
                break;
            case 3:
                m_results.add(m_all.gather(own(), root),
                              is_root ? list() : std::vector<std::string>());
                break;
            case 4:
                m_results.add(m_all.all_gather(own()), list());
                break;
            case 5:
                m_results.add(m_all.scatter(is_root ? list() : std::vector<std::string>(), root),
                              own());
                break;
            case 6:
                m_results.add(m_all.all_to_all(std::vector<std::string>(size(), own())), list());
                break;
            case 7:
                m_results.add(m_all.inclusive_scan(own(), std::plus<>()), joined(m_place + 1));
                break;
            case 8:
                m_results.add(m_all.exclusive_scan(own(), std::string("<"), std::plus<>()),
                              "<" + joined(m_place));
                break;
            default:
                if (size() > 1) {
                    m_results.add_failing(m_all.all_reduce(
                        own(), [](const std::string&, const std::string&) -> std::string {
                            throw std::range_error("no sum");
                        }));
                }
        }
    }

    /// A control object of the root, which the others get by a broadcast.
    void agree(std::uint32_t kind, int root, std::uint32_t value) {
        const bool is_root = root == here();
        const auto members = static_cast<std::uint32_t>(size());
        if (kind == 10) {
            const promise<std::uint32_t> one =
                m_all
                    .broadcast(is_root ? promise<std::uint32_t>(next_locality())
                                       : promise<std::uint32_t>(),
                               root)
                    .get();
            m_results.add(one.get_future(), value);
            if (m_place == value % members) {
                one.set_value(value);
            } else if (m_place == (value + 1) % members) {
                migrate(one.as_object(), root).get();
            }
        } else if (kind == 11) {
            const latch one =
                m_all.broadcast(is_root ? latch(here(), members) : latch(), root).get();
            one.count_down();
            one.wait().get();
        } else {
            pass_values(root, value);
        }
    }

    /// Each sends some values, and receives as many.
    void pass_values(int root, std::uint32_t value) {
        const channel<std::string> one =
            m_all
                .broadcast(root == here() ? channel<std::string>(next_locality(), 1 + value % 5)
                                          : channel<std::string>(),
                           root)
                .get();
        const std::uint32_t values = value % 7;
        quern::task_group senders;
        senders.run([&] {
            for (std::uint32_t i = 0; i < values; ++i) {
                one.send(own() + std::to_string(i)).get();
            }
        });
        std::uint64_t sizes = 0;
        for (std::uint32_t i = 0; i < values; ++i) {
            const std::optional<std::string> got = one.receive().get();
            expect(got.has_value());
            sizes += got.value_or("").size();
            if (i == 2 && m_place == value % size()) {
                migrate(one.as_object(), root).get();
            }
        }
        senders.wait();
        const std::uint64_t received = m_all.all_reduce(sizes, std::plus<>()).get();
        std::uint64_t sent = 0;
        for (std::size_t i = 0; i < size(); ++i) {
            sent += values * (of_place(i).size() + 1);
        }
        expect(received == sent);
    }

    communicator m_all;
    std::uint64_t m_seed;
    std::size_t m_place;  ///< among the members
    std::uint64_t m_number = 0;
    comparisons m_results{};
};

/// Those of a task: all, or some in any order.
std::vector<int> members_of(dice& plan) {
    std::vector<int> all = quern::localities::all();
    if (plan.below(2) == 0) {
        for (std::size_t i = all.size(); i > 1; --i) {
            std::swap(all[i - 1], all[plan.below(static_cast<std::uint32_t>(i))]);
        }
        all.resize(1 + plan.below(static_cast<std::uint32_t>(all.size())));
    }
    return all;
}

void run_program(std::uint64_t seed) {
    quern::task_group tasks;
    for (std::uint32_t i = 0; i < k_tasks; ++i) {
        const std::uint64_t own = seed * 1009 + (i + static_cast<std::uint32_t>(here())) % k_tasks;
        tasks.run([own] {
            dice plan(own);
            const std::vector<int> members = members_of(plan);
            if (std::find(members.begin(), members.end(), here()) != members.end()) {
                part(communicator("task " + std::to_string(own), members), own).run();
            }
        });
    }
    tasks.wait();
}

TEST(localities_random_collectives, each_gets_what_the_definition_gives) {
    for (const std::uint64_t one : seeds_of_job(scaled(60, 10))) {
        g_wrong = 0;
        own_job job(1 + dice(one + 1000 * number_of_ranks()).below(3));
        run_program(one);
        job.end();
        ASSERT_EQ(sum_of_ranks(g_wrong), 0U)
            << "TEST_STRESS_SEED=" << one << " TEST_STRESS_PROGRAMS=1";
    }
}

}  // namespace
