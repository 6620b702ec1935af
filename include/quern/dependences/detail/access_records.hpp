// SPDX-License-Identifier: BSL-1.0
// Where the accesses of a task lie in it: as many as its type says, or with lists as many as are in
// them.
#pragma once

#include <quern/dependences/detail/dependent_task.hpp>

#include <array>
#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern::detail {

template <class A>
concept an_access_list = requires(const A& list) {
    list.regions();
};

/// The regions of a task's accesses, in records or bare, for what makes its views.
class regions_at {
public:
    template <class Record>
    explicit regions_at(std::span<const Record> all) noexcept
        : regions_at(all.data(), sizeof(Record)) {}

    const strided_region& operator[](std::size_t i) const noexcept {
        return *reinterpret_cast<const strided_region*>(m_first + i * m_distance);
    }

private:
    regions_at(const strided_region* first, std::size_t distance) noexcept
        : m_first(reinterpret_cast<const std::byte*>(first)), m_distance(distance) {}

    const std::byte* m_first;
    std::size_t m_distance;  ///< bytes
};

/// One for each access. A class, and no array, for it is initialised element by element.
template <class... Accesses>
class fixed_records {
    static constexpr std::size_t k_count = sizeof...(Accesses);

public:
    fixed_records(dependent_task& by, const std::array<strided_region, k_count>& where,
                  const Accesses&...) noexcept
        : fixed_records(by, where, std::make_index_sequence<k_count>()) {}

    const access_record& operator[](std::size_t i) const noexcept { return m_records[i]; }
    std::span<access_record> all() noexcept { return m_records; }
    regions_at regions() const noexcept {
        return regions_at(std::span<const access_record>(m_records));
    }

private:
    template <std::size_t... I>
    fixed_records(dependent_task& by, const std::array<strided_region, k_count>& where,
                  std::index_sequence<I...>) noexcept
        : m_records{access_record(where[I], by)...} {}

    std::array<access_record, k_count> m_records;
};

/// The same, followed by those of the lists.
template <class... Accesses>
class listed_records {
public:
    listed_records(dependent_task& by, const std::array<strided_region, sizeof...(Accesses)>& where,
                   const Accesses&... accesses) {
        std::size_t most = where.size();
        (add_size(most, accesses), ...);
        m_shapes.reserve(most);
        m_records.reserve(most);
        for (const strided_region& each : where) {
            m_records.emplace(each, by);
        }
        (add(by, accesses), ...);
    }

    const access_record& operator[](std::size_t i) const noexcept { return m_records.begin()[i]; }
    std::span<access_record> all() noexcept { return {m_records.begin(), m_records.size()}; }
    regions_at regions() const noexcept {
        return regions_at(std::span<const access_record>(m_records.begin(), m_records.size()));
    }

private:
    /// Records can neither be copied nor moved.
    class fixed_vector {
    public:
        ~fixed_vector() { ::operator delete(m_begin); }
        void reserve(std::size_t most) {
            m_begin = static_cast<access_record*>(::operator new(most * sizeof(access_record)));
        }
        void emplace(const strided_region& where, dependent_task& by) noexcept {
            ::new (m_begin + m_size) access_record(where, by);
            ++m_size;
        }
        access_record* begin() const noexcept { return m_begin; }
        std::size_t size() const noexcept { return m_size; }

    private:
        access_record* m_begin = nullptr;
        std::size_t m_size = 0;
    };
    static_assert(std::is_trivially_destructible_v<access_record>);

    template <class A>
    static void add_size(std::size_t& most, const A& access) noexcept {
        if constexpr (an_access_list<A>) {
            most += access.size();
        }
    }
    template <class A>
    void add(dependent_task& by, const A& access) {
        if constexpr (an_access_list<A>) {
            for (const wanted_region& each : access.regions()) {
                const strides* shape = nullptr;
                if (each.shape.is_used()) {
                    shape = &m_shapes.emplace_back(each.shape);
                }
                m_records.emplace({each.row, shape}, by);
            }
        }
    }

    fixed_vector m_records;
    std::vector<strides> m_shapes;
};

template <class... Accesses>
using records_of = std::conditional_t<(an_access_list<Accesses> || ...),
                                      listed_records<Accesses...>, fixed_records<Accesses...>>;

}  // namespace quern::detail
