// SPDX-License-Identifier: BSL-1.0
// Versions of a renamed object (src/dependences/README.md, "Renaming"): its owner asks whether a
// version is in use, and has it written again or frees it, while its last readers end on other
// threads. Each reader sees the value of its writer, never a later one, nor freed memory.
#include "protocol.hpp"

#include <quern/dependences/detail/access_word.hpp>

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace {

using model::atomic;
using model::check;
using model::run;
using model::var;

struct version_access;

struct version_link {
    var<version_link*> next = nullptr;
    var<version_access*> to = nullptr;
};

enum class version_fault { none, asks_one_of_the_readers, asks_without_order, never_asks };

/// The task of one access: a reader, or a writer.
struct version_access {
    static constexpr int k_most = 4;

    using stack = quern::detail::successor_stack<model::protocol_atomics, version_link>;

    stack successors;
    quern::detail::predecessor_count<model::protocol_atomics> missing;
    var<std::optional<var<int>>*> cell = nullptr;  ///< of the version that it gets
    var<int> value = 0;                            ///< what it reads, or writes
    var<bool> is_writer = false;
    version_link links[k_most];
    atomic<int> ready = 0;  ///< the queue from which another thread takes it
};

/// Storage, and what the map of the owner knows of it: the last accesses.
struct stored_version {
    std::optional<var<int>> cell{std::in_place, 0};
    std::vector<version_access*> current;
};

/// An object with two versions; its owner spawns readers and writers by the rule of
/// renamed_core::rename(): in place, else another version that is not in use, else the oldest one,
/// whose users the writer then waits for.
struct renamed_object {
    explicit renamed_object(version_fault f) : fault(f) { *versions[0].cell = 1; }

    // -- the owner -----------------------------------------------------------------------------

    bool is_in_use(const stored_version& one) const {
        switch (fault) {
            case version_fault::never_asks:
                return false;
            case version_fault::asks_without_order:
                return unread.load(std::memory_order_relaxed) != 0;
            case version_fault::asks_one_of_the_readers:
                return !one.current.empty() && !one.current.front()->successors.is_released();
            case version_fault::none:
                break;
        }
        return quern::detail::has_unreleased(one.current);
    }

    /// Links the access to those that it must wait for; true: it is ready.
    bool register_access(version_access& access) {
        std::uint32_t made = 0;
        if (access.is_writer || is_changed(*now)) {
            for (version_access* const each : now->current) {
                if (fault != version_fault::none) {
                    break;  // it trusts its answer
                }
                version_link& to = access.links[made];
                to.to = &access;
                made += each->successors.push(to) ? 1 : 0;
            }
            now->current.clear();
        }
        access.cell = &now->cell;
        now->current.push_back(&access);
        return access.missing.registered(made);
    }
    static bool is_changed(const stored_version& one) {
        return !one.current.empty() && one.current.back()->is_writer;
    }

    bool read(version_access& by) {
        if (fault == version_fault::asks_without_order) {
            unread.fetch_add(1, std::memory_order_relaxed);
        }
        by.value = value;
        return register_access(by);
    }
    bool write(version_access& by) {
        if (is_in_use(*now)) {
            now = &versions[now == &versions[0] ? 1 : 0];  // in use or not: there are two
        }
        value += 1;
        by.is_writer = true;
        by.value = value;
        return register_access(by);
    }

    // -- the threads that run tasks ------------------------------------------------------------

    void run_access(version_access& task) {
        var<int>& cell = **task.cell.read();
        if (task.is_writer) {
            cell = task.value;  // a race if a reader has not ended
        } else {
            check(cell == task.value, "a reader sees the value of its writer");
        }
        const auto which = static_cast<std::size_t>(&task - tasks);
        ran[which] = ran[which] + 1;
        if (fault == version_fault::asks_without_order) {
            unread.fetch_sub(1, std::memory_order_relaxed);
        }
        for (version_link* each = task.successors.release(); each != nullptr;) {
            version_access* const to = each->to;
            each = each->next;
            if (to->missing.satisfied()) {
                run_access(*to);
            }
        }
    }

    /// A task that is ready when the threads begin, or that the owner makes ready.
    void run_when_ready(version_access& task) {
        while (task.ready.load(std::memory_order_acquire) == 0) {
            model::atomics::pause();
        }
        run_access(task);
    }

    const version_fault fault;
    stored_version versions[2];
    stored_version* now = &versions[0];
    atomic<int> unread = 0;  ///< of a broken owner: readers that have not ended
    int value = 1;
    version_access tasks[5];
    std::array<var<int>, 5> ran;
};

constexpr model::options k_few_pauses{.pause = model::pause_wakes::read_set};

/// Readers of the first version end on threads of their own, while the owner spawns a writer, runs
/// it if it is ready, and so on: `writers` times.
auto against_the_last_reader(int readers, int writers, version_fault fault = version_fault::none) {
    return [=](run& r) {
        auto& object = r.make<renamed_object>(fault);
        for (int i = 0; i < readers; ++i) {
            object.read(object.tasks[i]);
            r.thread([&object, i] { object.run_access(object.tasks[i]); });
        }
        r.thread([&object, readers, writers] {
            for (int i = readers; i < readers + writers; ++i) {
                if (object.write(object.tasks[i])) {
                    object.run_access(object.tasks[i]);
                }
            }
        });
        r.at_end([&object, readers, writers] {
            for (int i = 0; i < readers + writers; ++i) {
                check(object.ran[static_cast<std::size_t>(i)] == 1, "each has run once");
            }
            check(*object.now->cell == 1 + writers, "the last value");
        });
    };
}

TEST(model_dependences_versions, a_writer_against_the_last_reader) {
    model::expect_passes_everywhere("version, 1 reader", {}, against_the_last_reader(1, 1));
}

TEST(model_dependences_versions, a_writer_against_the_last_of_two_readers) {
    model::expect_passes_everywhere("version, 2 readers", {}, against_the_last_reader(2, 1));
}

TEST(model_dependences_versions, two_writers_against_the_last_of_two_readers) {
    model::expect_passes_everywhere("version, 2 readers, 2 writers", {},
                                    against_the_last_reader(2, 2));
}

// The first writer renames, or writes in place. A reader of its version runs on another thread, and
// the owner spawns another writer, perhaps into the first version, which it waits for or not.
auto taken_again(int readers) {
    return [=](run& r) {
        auto& object = r.make<renamed_object>(version_fault::none);
        for (int i = 0; i < readers; ++i) {
            object.read(object.tasks[i]);
            r.thread([&object, i] { object.run_access(object.tasks[i]); });
        }
        version_access* const next = &object.tasks[readers];
        r.thread([&object, next] { object.run_when_ready(next[1]); });
        r.thread([&object, next] {
            check(object.write(next[0]), "a version is free");
            object.run_access(next[0]);
            check(object.read(next[1]), "its writer has ended");
            next[1].ready.store(1, std::memory_order_release);
            if (object.write(next[2])) {
                object.run_access(next[2]);
            }
        });
        r.at_end([&object, readers] {
            check(*object.now->cell == 3, "the last value");
            for (int i = 0; i < readers + 3; ++i) {
                check(object.ran[static_cast<std::size_t>(i)] == 1, "each has run once");
            }
        });
    };
}

TEST(model_dependences_versions, a_version_is_taken_again) {
    model::expect_passes_everywhere("version taken again, 1 reader", k_few_pauses, taken_again(1));
    model::expect_passes_everywhere("version taken again, 2 readers", k_few_pauses, taken_again(2));
}

/// The owner frees a version that is not in use.
auto freed(int readers, version_fault fault = version_fault::none) {
    return [=](run& r) {
        auto& object = r.make<renamed_object>(fault);
        for (int i = 0; i < readers; ++i) {
            object.read(object.tasks[i]);
            r.thread([&object, i] { object.run_access(object.tasks[i]); });
        }
        r.thread([&object] {
            if (!object.is_in_use(object.versions[0])) {
                object.versions[0].cell.reset();
            }
        });
    };
}

TEST(model_dependences_versions, a_version_is_freed_after_its_last_reader) {
    model::expect_passes_everywhere("version freed, 1 reader", {}, freed(1));
    model::expect_passes_everywhere("version freed, 2 readers", {}, freed(2));
}

TEST(model_dependences_versions, asking_one_of_two_readers_is_found) {
    const auto one = version_fault::asks_one_of_the_readers;
    model::expect_found_broken("one of two readers asked", {}, against_the_last_reader(2, 1, one));
    model::expect_found_broken("freed after one of two readers", {}, freed(2, one));
}

TEST(model_dependences_versions, asking_a_number_without_order_is_found) {
    const auto relaxed = version_fault::asks_without_order;
    model::expect_found_broken("a relaxed number of readers", {},
                               against_the_last_reader(1, 1, relaxed));
    model::expect_found_broken("freed by a relaxed number", {}, freed(1, relaxed));
}

TEST(model_dependences_versions, not_asking_is_found) {
    model::expect_found_broken("written in place at once", {},
                               against_the_last_reader(1, 1, version_fault::never_asks));
}

}  // namespace
