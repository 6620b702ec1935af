// SPDX-License-Identifier: BSL-1.0
// Random programs of dependent tasks in nested domains, of which some throw or cancel, at any
// depth, against an oracle of what may happen. A task begins only after all that it depends on have
// done their work, and sees what it would see in the serial program. Each exception has a number
// and reaches one receiver. Other domains, and the same one afterwards, do not notice.
#include "foreign_thread.hpp"
#include "random_mishaps.hpp"
#include "run_dependences.hpp"

#include <quern/task/async.hpp>
#include <quern/task/exceptions.hpp>
#include <quern/task/stop.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace quern_test::dependents {
namespace {

// -- exceptions with a number ------------------------------------------------------------------

struct mishap_error {
    std::size_t number;
};

/// How often each exception has been received.
class receipts {
public:
    static constexpr std::size_t k_most = 512;

    std::size_t next() noexcept { return m_thrown.fetch_add(1) % k_most; }
    void received(std::size_t number) noexcept { m_times[number].fetch_add(1); }
    bool each_once() const noexcept {
        for (std::size_t i = 0; i < m_thrown.load(); ++i) {
            if (m_times[i].load() != 1) {
                return false;
            }
        }
        return true;
    }
    std::size_t thrown() const noexcept { return m_thrown.load(); }
    void reset() noexcept {
        m_thrown = 0;
        for (auto& each : m_times) {
            each = 0;
        }
    }

private:
    std::atomic<std::size_t> m_thrown{0};
    std::array<std::atomic<int>, k_most> m_times{};
};

receipts g_receipts;

struct handler_of_errors {
    handler_of_errors() {
        before = quern::set_exception_handler(
            [](std::exception_ptr error, quern::exception_origin) noexcept {
                try {
                    std::rethrow_exception(std::move(error));
                } catch (const mishap_error& e) {
                    g_receipts.received(e.number);
                }  // another one: a bug, which ends the test
            });
    }
    ~handler_of_errors() { quern::set_exception_handler(before); }
    quern::exception_handler before;
};

// -- one run -----------------------------------------------------------------------------------

enum class outcome : std::uint8_t { none, error, cancelled };

class run_with_mishaps {
public:
    run_with_mishaps(quern::domain& domain, instance& objects, const plan& of)
        : m_domain(domain), m_objects(objects), m_plan(of), m_marks(of.all.size()) {}

    /// `cancel_before`: a step of the outermost domain before which the creator cancels it.
    void run(const std::vector<step>& steps, std::uint32_t cancel_before) {
        m_objects.now.reset();
        for (std::uint32_t i = 0; i < steps.size(); ++i) {
            if (i == cancel_before) {
                m_domain.cancel();
                m_is_cancelled = true;
                m_first_after_cancel = m_plan.number_of(steps[i]);
            }
            spawn_outermost(steps[i]);
        }
        try {
            m_domain.taskwait();
        } catch (const mishap_error& e) {
            g_receipts.received(e.number);
            m_outcome = outcome::error;
        } catch (const quern::task_cancelled&) {
            m_outcome = outcome::cancelled;
        }
    }

    /// What has gone wrong, or null.
    const char* fault() const {
        if (m_fault.load() != nullptr) {
            return m_fault.load();
        }
        const bool may_fail = !m_plan.is_harmless || m_is_cancelled;
        bool all_began = true;
        for (const mark& each : m_marks) {
            all_began = all_began && each.has_begun;
        }
        if (m_outcome == outcome::none && !m_has_caught && !all_began) {
            return "a task did not run, and no error says so";
        }
        if (m_outcome != outcome::none && !may_fail) {
            return "an error from nowhere";
        }
        if (m_outcome == outcome::none && (m_is_cancelled || m_threw_outermost)) {
            return "taskwait() has not thrown";
        }
        if (m_outcome == outcome::cancelled && !m_is_cancelled) {
            return "task_cancelled in the place of an exception";
        }
        if (m_bodies.use_count() != 1) {
            return "a body was not destroyed";
        }
        return g_receipts.each_once() ? nullptr : "an exception had no receiver, or several";
    }
    bool has_run_all() const { return m_outcome == outcome::none && !m_has_caught; }

private:
    struct mark {
        std::atomic<bool> has_begun{false};
        std::atomic<bool> has_ended{false};  ///< its work is done, and all holds are dropped
        std::atomic<bool> must_not_begin{false};
    };

    void spawn_outermost(const step& s) {
        m_objects.spawn(
            s, [this](const auto&... parts) { m_domain.spawn(parts...); },
            [this, &s, kept = m_bodies](const views& got) { call(s, got, false, true); });
    }

    void note_fault(const char* what) {
        const char* none = nullptr;
        m_fault.compare_exchange_strong(none, what);
    }

    void begins(std::uint32_t number) {
        const planned_step& its = m_plan.all[number];
        if (m_marks[number].has_begun.exchange(true)) {
            note_fault("a task ran twice");
        }
        if (number >= m_first_after_cancel || m_marks[number].must_not_begin) {
            note_fault("a task began after the domain was cancelled");
        }
        for (const std::uint32_t x : its.needs) {
            if (!m_marks[x].has_ended) {
                note_fault("a task began before what it depends on had done its work");
            }
            if (m_plan.all[x].happens == mishap::cancels) {
                note_fault("a task began after one that has cancelled the domain");
            }
        }
    }

    void saw(std::uint32_t number, int piece, std::uint64_t value) {
        const std::uint64_t expected = m_plan.all[number].seen[static_cast<std::size_t>(piece)];
        if (!m_has_caught && value != expected) {
            note_fault("a task saw other values than in the serial program");
        }
    }

    [[noreturn]] void throw_one(bool outermost) {
        m_threw_outermost = m_threw_outermost || outermost;
        throw mishap_error{g_receipts.next()};
    }

    /// `in_place`: within a final task; `outermost`: no task is around it.
    void call(const step& s, const views& got, bool in_place, bool outermost) {
        const std::uint32_t number = m_plan.number_of(s);
        const mishap happens = m_plan.all[number].happens;
        begins(number);
        if (happens == mishap::throws_first) {
            throw_one(outermost);
        }
        saw(number, 0, work(s, m_objects.now.plain, 0, got.sum, got.version));
        std::optional<quern::access_hold> hold;
        if (happens == mishap::is_held || happens == mishap::throws_held) {
            hold = quern::this_task::hold_accesses();
        }
        if (happens == mishap::cancels) {
            m_is_cancelled = true;
            m_domain.cancel();
            for (std::uint32_t i = number + 1; i <= m_plan.all[number].last_inside; ++i) {
                m_marks[i].must_not_begin = true;
            }
        }
        if (s.releases) {
            release_first(s, m_objects.now.plain);
            quern::this_task::yield();
            saw(number, 1, work_on_the_rest(s, m_objects.now.plain));
        }
        spawn_children(s, in_place);
        if (s.releases_after_children) {
            release_first(s, m_objects.now.plain);
            quern::this_task::yield();
        }
        if (happens == mishap::throws_last || happens == mishap::throws_held) {
            throw_one(outermost);
        }
        if (s.waits) {
            wait_for_children(happens);
            saw(number, 1, work(s, m_objects.now.plain, 1, got.sum, got.version));
        }
        if (happens == mishap::is_held) {
            drop_later(number, *std::move(hold));
        } else {
            m_marks[number].has_ended = true;
        }
    }

    void spawn_children(const step& s, bool in_place) {
        for (const step& each : s.children) {
            spawn_on_cells(
                each, m_objects.now.plain, [](const auto&... parts) { quern::spawn(parts...); },
                [this, &each, inner = in_place || s.how.final, kept = m_bodies] {
                    call(each, views(), inner, false);
                });
        }
    }

    void wait_for_children(mishap happens) {
        if (happens != mishap::catches) {
            quern::taskwait();
            return;
        }
        try {
            quern::taskwait();
        } catch (const mishap_error& e) {
            m_has_caught = true;
            g_receipts.received(e.number);
        }
    }

    /// By another task, which is none of the domain, or by a thread that is no worker.
    void drop_later(std::uint32_t number, quern::access_hold hold) {
        auto drop = [this, number, kept = std::make_shared<quern::access_hold>(std::move(hold))] {
            m_marks[number].has_ended = true;
            kept->drop();  // from here on this object may be gone
        };
        if (number % 2 == 0) {
            foreign_thread::of_test().call(std::move(drop));
            return;
        }
        quern::post([drop = std::move(drop)] {
            quern::this_task::yield();
            drop();
        });
    }

    quern::domain& m_domain;
    instance& m_objects;
    const plan& m_plan;
    std::vector<mark> m_marks;
    std::shared_ptr<int> m_bodies = std::make_shared<int>(0);  ///< each body has a copy
    std::atomic<const char*> m_fault{nullptr};
    std::atomic<bool> m_is_cancelled{false};
    std::atomic<bool> m_has_caught{false};
    std::atomic<bool> m_threw_outermost{false};
    std::atomic<std::uint32_t> m_first_after_cancel{~std::uint32_t{0}};
    outcome m_outcome = outcome::none;
};

// -- the tests ---------------------------------------------------------------------------------

struct program_with_mishaps {
    explicit program_with_mishaps(std::uint64_t seed)
        : random(seed),
          steps(random_steps(1 + random.below(12), 3, random)),
          expected(expected_of(steps)),
          wrong(steps, 2 + random.below(12), random),
          right(steps, 0, random) {
        cancel_before = random.below(6) == 0
                            ? random.below(static_cast<std::uint32_t>(steps.size()))
                            : ~std::uint32_t{0};
    }

    dice random;
    std::vector<step> steps;
    data expected;
    plan wrong;
    plan right;
    std::uint32_t cancel_before;
};

/// With errors, beside another domain without; then once more without, in the same domain. Null:
/// all is right.
const char* fault_of(const program_with_mishaps& p, quern::domain& work, quern::domain& other) {
    g_receipts.reset();
    instance objects;
    instance others;
    others.now.reset();
    for (const step& each : p.steps) {
        others.spawn(
            each, [&other](const auto&... parts) { other.spawn(parts...); },
            [&each, &others](const views& got) { run_as_task(each, others.now.plain, got); });
    }
    run_with_mishaps wrong(work, objects, p.wrong);
    wrong.run(p.steps, p.cancel_before);
    const char* fault = wrong.fault();
    if (fault == nullptr && wrong.has_run_all() && !(objects.now == p.expected)) {
        fault = "the result is wrong although no error was thrown";
    }
    if (fault == nullptr) {
        run_with_mishaps again(work, objects, p.right);
        again.run(p.steps, ~std::uint32_t{0});
        fault = again.fault();
        if (fault == nullptr && !(objects.now == p.expected)) {
            fault = "the domain computes something else after an error";
        }
    }
    other.taskwait();
    if (fault == nullptr && !(others.now == p.expected)) {
        fault = "another domain has noticed the error";
    }
    return fault;
}

class dependences_errors_stress : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(dependences_errors_stress);

TEST_P(dependences_errors_stress, do_not_let_what_depends_on_them_begin) {
    const handler_of_errors handler;
    std::uint64_t thrown = 0;
    quern_test::program_loop programs(20);
    while (programs.next() && !HasFailure()) {
        const program_with_mishaps p(programs.seed());
        const char* fault = nullptr;
        if (programs.seed() % 4 == 0) {
            quern::domain work(rt.default_pool());
            quern::domain other(rt.default_pool());
            fault = fault_of(p, work, other);
        } else {
            inside([&] {
                quern::domain work;
                quern::domain other;
                fault = fault_of(p, work, other);
            });
        }
        thrown += g_receipts.thrown();
        ASSERT_EQ(fault, nullptr) << fault << ", seed " << programs.seed();
    }
    EXPECT_EQ(quern::detail::read_renaming().bytes, 0U);
    std::printf("[ stress   ] %llu exceptions\n", static_cast<unsigned long long>(thrown));
}

}  // namespace
}  // namespace quern_test::dependents
