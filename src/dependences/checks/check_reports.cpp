// SPDX-License-Identifier: BSL-1.0
// Writes mistakes in accesses in words, each distinct one once.
#include "checks/check_reports.hpp"

#include <quern/base/detail/symbols.hpp>
#include <quern/dependences/detail/dependent_task.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <utility>

namespace quern::detail {

namespace {

constinit std::atomic<std::uint64_t> g_mistakes{0};

/// Near enough to say which access it may have been meant for.
constexpr std::uintptr_t k_near = 4096;

void say_line(const std::string& line) {
    const std::string whole = "quern: check-accesses: " + line + "\n";
    std::fwrite(whole.data(), 1, whole.size(), stderr);
    std::fflush(stderr);
}

std::string hexadecimal(std::uintptr_t address) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "0x%zx", static_cast<std::size_t>(address));
    return text.data();
}

std::string number(std::uint64_t n) { return std::to_string(n); }

std::string bytes_words(std::uintptr_t n) { return number(n) + (n == 1 ? " byte" : " bytes"); }

/// "its access 2, in(...)"
std::string access_words(const dependent_task& task, std::int32_t access) {
    const auto at = static_cast<std::size_t>(access);
    return "its access " + number(number_of_access(task, at)) + ", " +
           clause_of(task.accesses()[at]);
}

/// Behind or before the nearest access of the task, or nothing.
std::string nearest_words(const dependent_task& task, std::uintptr_t address) {
    const std::vector<declared_row> rows = detail::declared_rows(task.accesses(), false);
    std::uintptr_t least = k_near;
    std::string words;
    for (const declared_row& each : rows) {
        if (address >= each.bytes.end && address - each.bytes.end < least) {
            least = address - each.bytes.end;
            words = ", " + (least == 0 ? "right" : bytes_words(least)) + " behind the end of " +
                    access_words(task, each.access);
        } else if (address < each.bytes.begin && each.bytes.begin - address < least) {
            least = each.bytes.begin - address;
            words = ", " + bytes_words(least) + " before " + access_words(task, each.access);
        }
    }
    return words;
}

/// "by f(double*) at main.cpp:12"
std::string instruction_words(const void* instruction) {
    if (instruction == nullptr) {
        return "found by comparison when the task had ended";
    }
    return "by " + describe_site(instruction);
}

std::string needed_clause(const forbidden_use& use, const region* declared) {
    const bool is_read_too = declared != nullptr && declared->kind == access_kind::read;
    if (!use.is_write) {
        return "in(...)";
    }
    return is_read_too ? "inout(...)" : "out(...) or inout(...)";
}

}  // namespace

std::uint64_t count_of_access_mistakes() noexcept {
    return g_mistakes.load(std::memory_order_relaxed);
}

std::string clause_of(const region& access) {
    constexpr std::array k_names = {"in", "inout", "concurrent", "commutative", "reduction"};
    const bool is_out = access.kind == access_kind::write && access.is_out;
    std::string words = is_out ? "out" : k_names[static_cast<std::size_t>(access.kind)];
    words += "(...)";
    return access.is_weak ? "weak(" + words + ")" : words;
}

access_of_kind& kind_of_task::access(std::size_t number, const region& like) {
    const std::string clause = clause_of(like);
    for (access_of_kind& each : accesses) {
        if (each.number == number && each.clause == clause) {
            return each;
        }
    }
    access_of_kind& made = accesses.emplace_back();
    made.number = number;
    made.clause = clause;
    return made;
}

/// An access_list stands before its members as an access to nothing.
std::size_t number_of_access(const dependent_task& task, std::size_t at) noexcept {
    const auto before = task.accesses().first(at);
    return 1 + static_cast<std::size_t>(std::count_if(before.begin(), before.end(), [](auto& each) {
               return !each.is_empty || each.begin != 0;
           }));
}

std::uint32_t check_reports::kind_of(const dependent_task& task) {
    const std::string name = task.name != nullptr ? static_cast<const char*>(task.name) : "";
    for (std::size_t i = 0; i < m_kinds.size(); ++i) {
        if (m_kinds[i].site == task.site && m_kinds[i].name == name) {
            return static_cast<std::uint32_t>(i);
        }
    }
    kind_of_task& made = m_kinds.emplace_back();
    made.name = name;
    made.site = task.site;
    return static_cast<std::uint32_t>(m_kinds.size() - 1);
}

/// "task 'gemm' (factorise(...) at main.cpp:88)"
std::string check_reports::task_words(std::uint32_t kind) const {
    const kind_of_task& one = m_kinds[kind];
    std::string words = one.name.empty() ? "a task" : "task '" + one.name + "'";
    if (one.site != nullptr) {
        words += " (" + describe_site(one.site) + ")";
    }
    return words;
}

bool check_reports::is_new(const std::string& key) {
    if (!m_told.insert(key).second) {
        return false;
    }
    ++m_mistakes;
    g_mistakes.fetch_add(1, std::memory_order_relaxed);
    return true;
}

/// Which bytes, and whose.
std::string check_reports::place_of(const forbidden_use& use, const guard_plan& plan,
                                    const dependent_task& task, const std::string& declarer) {
    const guarded_part& part = plan.parts[use.part];
    std::string words = hexadecimal(use.address);
    if (part.access != guarded_part::k_undeclared) {
        const access_record& own = task.accesses()[static_cast<std::size_t>(part.access)];
        if (own.shape == nullptr) {
            words +=
                ", byte " + number(use.address - own.begin) + " of " + number(own.bytes) + " of ";
        } else {
            words += " in ";
        }
        return words + access_words(task, part.access);
    }
    return words + ", byte " + number(use.address - part.begin) + " of " +
           number(part.end - part.begin) + " that " + declarer + " declares" +
           nearest_words(task, use.address);
}

void check_reports::tell(const forbidden_use& use, const guard_plan& plan,
                         const dependent_task& task, std::uint32_t kind) {
    const guarded_part& part = plan.parts[use.part];
    const std::string key = number(kind) + "/" + number(part.kind) + "/" +
                            std::to_string(part.access) + "/" +
                            number(static_cast<unsigned>(use.what)) + (use.is_write ? "w" : "r");
    if (!is_new(key)) {
        return;
    }
    const region* const own = part.access == guarded_part::k_undeclared
                                  ? nullptr
                                  : &task.accesses()[static_cast<std::size_t>(part.access)];
    std::string words = task_words(kind) + (use.is_write ? " writes " : " reads ") +
                        place_of(use, plan, task, task_words(part.kind));
    switch (use.what) {
        case mistake_kind::undeclared:
            words += "; missing: " + needed_clause(use, own);
            break;
        case mistake_kind::only_read:
            words += "; missing: inout(...) in the place of in(...)";
            break;
        case mistake_kind::reads_first:
            words += ", before it has written there; missing: inout(...) in the place of out(...)";
            break;
        case mistake_kind::weak:
            words += ", which is for its children; missing: " + needed_clause(use, own) +
                     " without weak";
            break;
        case mistake_kind::reduction:
            words +=
                ", in the place of the part that it gets; missing: a function that takes the "
                "part";
            break;
    }
    say_line(words);
    say_line("    " + instruction_words(use.instruction));
}

void check_reports::tell_beyond_parent(std::uintptr_t address, std::uint32_t declared_by,
                                       const access_record& access, std::uint32_t child,
                                       std::uint32_t parent, std::uint8_t parent_may) {
    const std::string key = "beyond/" + number(child) + "/" + number(parent) + "/" +
                            number(declared_by) + "/" + clause_of(access);
    if (!is_new(key)) {
        return;
    }
    region wanted = access;
    wanted.is_weak = true;
    say_line(task_words(child) + " declares " + clause_of(access) + " at " + hexadecimal(address) +
             ", where " + task_words(declared_by) + " has an access, and its parent, " +
             task_words(parent) + (parent_may != 0 ? ", declares only in(...)" : ", has none") +
             "; missing in the parent: " + clause_of(wanted));
}

void check_reports::tell_the_rest(std::uint64_t tasks, std::uint64_t not_checked) {
    for (std::size_t k = 0; k < m_kinds.size(); ++k) {
        for (std::size_t i = 0; i < m_kinds[k].accesses.size(); ++i) {
            const access_of_kind& each = m_kinds[k].accesses[i];
            if (each.judged != 0 && each.touched == 0 &&
                is_new("never/" + number(k) + "/" + number(i))) {
                say_line(task_words(static_cast<std::uint32_t>(k)) + " never touches its access " +
                         number(each.number) + ", " + each.clause + ", in " + number(each.judged) +
                         (each.judged == 1 ? " task" : " tasks") +
                         "; it is not needed, or other memory is used than is declared");
            }
        }
    }
    if (m_mistakes != 0) {
        say_line(number(m_mistakes) + (m_mistakes == 1 ? " mistake in " : " mistakes in ") +
                 number(tasks) + (tasks == 1 ? " task" : " tasks") + " of a domain" +
                 (not_checked != 0 ? ", of which " + number(not_checked) +
                                         " ran beside a suspended one and were not checked"
                                   : ""));
    }
}

}  // namespace quern::detail
