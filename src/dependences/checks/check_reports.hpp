// SPDX-License-Identifier: BSL-1.0
// What check-accesses says of mistakes: which task, where, which clause is missing. On stderr, each
// distinct mistake of a domain once. Not thread safe.
#pragma once

#include "checks/body_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace quern::detail {

class dependent_task;

/// One access of all tasks of a kind.
struct access_of_kind {
    std::size_t number = 0;    ///< from 1 on, as the program names them
    std::string clause;        ///< "in(...)", "weak(inout(...))"
    std::uint64_t judged = 0;  ///< tasks of which it is known whether they touched it
    std::uint64_t touched = 0;
};

/// Tasks with the same name, made at the same place.
struct kind_of_task {
    std::string name;
    const void* site = nullptr;
    std::vector<access_of_kind> accesses;

    /// That number with that clause. Throws std::bad_alloc.
    access_of_kind& access(std::size_t number, const region& like);
};

class check_reports {
public:
    /// The number of the kind of a task. Throws std::bad_alloc.
    std::uint32_t kind_of(const dependent_task& task);
    kind_of_task& at(std::uint32_t kind) { return m_kinds[kind]; }

    /// What the body has done. Throws std::bad_alloc.
    void tell(const forbidden_use& use, const guard_plan& plan, const dependent_task& task,
              std::uint32_t kind);
    /// A child declares what its parent does not. `parent_may`: what the parent declares there.
    void tell_beyond_parent(std::uintptr_t address, std::uint32_t declared_by,
                            const access_record& access, std::uint32_t child, std::uint32_t parent,
                            std::uint8_t parent_may);
    /// The domain ends: accesses that no task has touched, and the sum.
    void tell_the_rest(std::uint64_t tasks, std::uint64_t not_checked);

private:
    std::string task_words(std::uint32_t kind) const;
    bool is_new(const std::string& key);
    static std::string place_of(const forbidden_use& use, const guard_plan& plan,
                                const dependent_task& task, const std::string& declarer);

    std::vector<kind_of_task> m_kinds;
    std::set<std::string> m_told;
    std::uint64_t m_mistakes = 0;
};

/// "inout(...)"
std::string clause_of(const region& access);

std::size_t number_of_access(const dependent_task& task, std::size_t at) noexcept;

std::uint64_t count_of_access_mistakes() noexcept;

}  // namespace quern::detail
