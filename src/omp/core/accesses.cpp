// SPDX-License-Identifier: BSL-1.0
// The clause `depend`. Each task that makes tasks with dependences has a table: for each address
// the last task that writes there, and those that read since. One lock for each table.
#include "core/accesses.hpp"

#include "core/waiting.hpp"
#include "tools/tools.hpp"

#include <quern/base/detail/spin_lock.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace quern::omp {

/// A task in the table. Lives while the task does, or while some address names it.
struct access_node {
    access_table* table = nullptr;
    deferred_task* owner = nullptr;
    unsigned missing = 0;  ///< tasks that must end before; under the lock
    unsigned uses = 1;     ///< addresses that name it, its task, and those that wait for it
    std::atomic<bool> has_ended{false};
    std::vector<access_node*> followers;
};

namespace {

/// The kinds of omp_depend_t, as the header omp.h of gcc numbers them.
constexpr std::intptr_t k_kind_in = 1;
constexpr std::intptr_t k_kind_set = 5;

struct depend_object {
    void* address;
    std::intptr_t kind;
};

struct address_record {
    access_node* writer = nullptr;
    std::vector<access_node*> readers;
};

/// Calls `each(address, writes)` for what gcc has written down.
template <class Each>
void for_each_access(void** from, Each&& each) {
    const auto number = [from](std::size_t at) {
        return reinterpret_cast<std::uintptr_t>(from[at]);
    };
    if (number(0) != 0) {
        for (std::uintptr_t i = 0; i < number(0); ++i) {
            each(from[2 + i], i < number(1));
        }
        return;
    }
    const std::uintptr_t writes = number(2) + number(3);
    const std::uintptr_t plain = writes + number(4);
    for (std::uintptr_t i = 0; i < number(1); ++i) {
        if (i < plain) {
            each(from[5 + i], i < writes);
            continue;
        }
        const auto& object = *static_cast<const depend_object*>(from[5 + i]);
        if (object.kind < k_kind_in || object.kind > k_kind_set) {
            fatal(
                "a depend object of kind %ld; accepted are 1 (in) to 5 (inoutset): it has not "
                "been initialized, or has been destroyed",
                static_cast<long>(object.kind));
        }
        each(object.address, object.kind != k_kind_in);
    }
}

QUERN_COLD void tell_dependences(deferred_task& made, void** accesses) {
    constexpr int k_in = 1;
    constexpr int k_inout = 3;
    std::vector<tools::tool_dependence> told;
    for_each_access(accesses, [&told](void* address, bool writes) {
        tools::tool_data variable{};
        variable.pointer = address;
        told.push_back({variable, writes ? k_inout : k_in});
    });
    tools::task_depends(made, told.data(), static_cast<int>(told.size()));
}

void drop(access_node* node) noexcept {
    if (--node->uses == 0) {
        delete node;
    }
}

}  // namespace

class access_table {
public:
    access_table() = default;
    access_table(const access_table&) = delete;
    access_table& operator=(const access_table&) = delete;
    ~access_table() {
        for (auto& [address, record] : m_records) {
            forget(record);
        }
    }

    /// Enters a node, which is new. True: nothing is missing, its task is ready.
    bool enter(access_node& node, void** accesses) {
        const std::lock_guard<detail::spin_lock> held(m_lock);
        node.table = this;
        for_each_access(accesses, [&](void* address, bool writes) {
            address_record& record = m_records[address];
            if (record.writer != nullptr) {
                follow(*record.writer, node);
            }
            if (!writes) {
                ++node.uses;
                record.readers.push_back(&node);
                return;
            }
            for (access_node* const reader : record.readers) {
                follow(*reader, node);
            }
            forget(record);
            ++node.uses;
            record.writer = &node;
        });
        return node.missing == 0;
    }

    /// The tasks that one with these accesses would wait for. drop_all() afterwards.
    std::vector<access_node*> before(void** accesses) {
        std::vector<access_node*> found;
        const std::lock_guard<detail::spin_lock> held(m_lock);
        const auto add = [&found](access_node* node) {
            if (!node->has_ended.load(std::memory_order_relaxed)) {
                ++node->uses;
                found.push_back(node);
            }
        };
        for_each_access(accesses, [&](void* address, bool writes) {
            const auto at = m_records.find(address);
            if (at == m_records.end()) {
                return;
            }
            if (at->second.writer != nullptr) {
                add(at->second.writer);
            }
            for (std::size_t i = 0; writes && i < at->second.readers.size(); ++i) {
                add(at->second.readers[i]);
            }
        });
        return found;
    }
    void drop_all(const std::vector<access_node*>& nodes) noexcept {
        const std::lock_guard<detail::spin_lock> held(m_lock);
        for (access_node* const each : nodes) {
            drop(each);
        }
    }

    /// The node's task has ended. Returns the tasks that are ready now.
    std::vector<deferred_task*> leave(access_node& node) {
        std::vector<deferred_task*> ready;
        const std::lock_guard<detail::spin_lock> held(m_lock);
        node.has_ended.store(true, std::memory_order_release);
        for (access_node* const follower : std::exchange(node.followers, {})) {
            if (--follower->missing == 0) {
                ready.push_back(follower->owner);
            }
            drop(follower);
        }
        drop(&node);
        return ready;
    }

private:
    static void follow(access_node& first, access_node& second) {
        if (&first == &second || first.has_ended.load(std::memory_order_relaxed)) {
            return;
        }
        ++second.missing;
        ++second.uses;
        first.followers.push_back(&second);
    }
    static void forget(address_record& record) noexcept {
        for (access_node* const reader : record.readers) {
            drop(reader);
        }
        record.readers.clear();
        if (record.writer != nullptr) {
            drop(std::exchange(record.writer, nullptr));
        }
    }

    detail::spin_lock m_lock;
    std::unordered_map<void*, address_record> m_records;
};

void create_dependent_task(member& here, const task_request& what) {
    deferred_task* const made = prepare_deferred(here, what.size, what.alignment);
    fill_deferred(*made, what);
    add_dependent(here, *made, what.dependences);
}

void add_dependent(member& here, deferred_task& made, void** dependences) {
    if (tools::is_active()) [[unlikely]] {
        tell_dependences(made, dependences);
    }
    count(made);
    task& parent = *here.current;
    if (parent.accesses == nullptr) {
        parent.accesses = new access_table;
    }
    made.node = new access_node;
    made.node->owner = &made;
    if (!parent.accesses->enter(*made.node, dependences)) {
        return;  // the last one before it makes it ready
    }
    if (has_enough_ready(here)) {
        run_deferred(here, made);
    } else {
        make_ready(here, made);
    }
}

void wait_for_accesses(member& here, void** dependences) noexcept {
    access_table* const table = here.current->accesses;
    if (table == nullptr) {
        return;
    }
    const std::vector<access_node*> before = table->before(dependences);
    for (const access_node* const each : before) {
        wait_until(here, eligible::descendants, k_depend_wait,
                   [each] { return each->has_ended.load(std::memory_order_acquire); });
    }
    table->drop_all(before);
}

void release_followers(member& here, deferred_task& ended) noexcept {
    access_node& node = *std::exchange(ended.node, nullptr);
    const std::vector<deferred_task*> ready = node.table->leave(node);
    for (deferred_task* const each : ready) {
        make_ready(here, *each);
    }
    wake_sleepers(*here.of);
}

void delete_accesses(task& ended) noexcept { delete std::exchange(ended.accesses, nullptr); }

}  // namespace quern::omp
