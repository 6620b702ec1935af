// SPDX-License-Identifier: BSL-1.0
// What spawn() takes back when it throws, for instance because copying the function throws: the
// versions that renamed objects have got for the task. Nothing for tasks without such objects.
#pragma once

#include <quern/dependences/detail/domain_core.hpp>

#include <cstdint>
#include <tuple>

namespace quern::detail {

template <class A>
concept can_be_undone = requires(const A& access, domain_core& home) {
    access.undo(home, home.next_task());
};

/// A spawn() that throws leaves renamed objects as they were before it.
template <class... Accesses>
class undo_unless_done {
public:
    explicit undo_unless_done(domain_core& home, const Accesses&... accesses) noexcept
        : m_home(&home), m_task(home.next_task()), m_accesses(accesses...) {}
    undo_unless_done(const undo_unless_done&) = delete;
    undo_unless_done& operator=(const undo_unless_done&) = delete;
    ~undo_unless_done() {
        if (m_home != nullptr) [[unlikely]] {
            std::apply([this](const auto&... each) { (undo(each), ...); }, m_accesses);
        }
    }
    void done() noexcept { m_home = nullptr; }

private:
    template <class A>
    void undo(const A& access) const noexcept {
        if constexpr (can_be_undone<A>) {
            access.undo(*m_home, m_task);
        }
    }

    domain_core* m_home;
    const std::int64_t m_task;
    const std::tuple<const Accesses&...> m_accesses;
};
template <class... Accesses>
    requires(!(can_be_undone<Accesses> || ...))
class undo_unless_done<Accesses...> {
public:
    explicit undo_unless_done(domain_core&, const Accesses&...) noexcept {}
    void done() noexcept {}
};

}  // namespace quern::detail
