// SPDX-License-Identifier: BSL-1.0
// The C interface of translated sources, called as they call it.
#include <quern/omp/task_functions.h>

#include <quern/scheduler/sites.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <vector>

namespace {

/// A task whose arguments are one pointer.
struct pointer_task : quern_task {
    pointer_task(quern_task_site& place, void (*function)(void*), void* pointer,
                 const std::vector<quern_task_region>& accesses)
        : quern_task{}, packed(pointer) {
        site = &place;
        regions = accesses.data();
        count = static_cast<unsigned>(accesses.size());
        run = function;
        arguments = &packed;
        size = sizeof(packed);
    }
    void add() const { quern_task_add(this); }

    void* packed;
};

template <class T>
T& pointee(void* packed) {
    return **static_cast<T**>(packed);
}

quern_task_region elements(quern_task_kind kind, const int* first, std::ptrdiff_t n) {
    return {kind, 1, first, sizeof(int), {n, 0, 0, 0}, {sizeof(int), 0, 0, 0}, 0, 0, 0};
}

quern_task_site make_site(const char* function) { return {function, "prog.c", 12, nullptr}; }

void triple(void* packed) { pointee<int>(packed) *= 3; }
void increment(void* packed) { ++pointee<int>(packed); }

// Holds: task_functions: tasks run in the order of their accesses; quern_task_wait() returns when
//     the caller's tasks are complete, and errno is what it was.
TEST(task_functions, run_in_the_order_of_their_accesses) {
    quern_task_site site = make_site("f");
    int value = 1;
    errno = 7;
    for (int i = 0; i < 5; ++i) {
        pointer_task(site, triple, &value, {elements(quern_task_inout, &value, 1)}).add();
        pointer_task(site, increment, &value, {elements(quern_task_inout, &value, 1)}).add();
    }
    EXPECT_EQ(errno, 7);
    quern_task_wait();
    int expected = 1;
    for (int i = 0; i < 5; ++i) {
        expected = expected * 3 + 1;
    }
    EXPECT_EQ(value, expected);
}

// Holds: task_functions: quern_task_wait_on() returns when a task with these accesses could begin.
TEST(task_functions, are_waited_for_by_their_data) {
    quern_task_site site = make_site("f");
    int value = 1;
    pointer_task(site, triple, &value, {elements(quern_task_inout, &value, 1)}).add();
    const quern_task_region wanted = elements(quern_task_in, &value, 1);
    quern_task_wait_on(&wanted, 1);
    EXPECT_EQ(value, 3);
    quern_task_wait();
}

void with_children(void* packed) {
    int* const value = *static_cast<int**>(packed);
    quern_task_site site = make_site("child");
    for (int i = 0; i < 4; ++i) {
        pointer_task(site, increment, value + i, {elements(quern_task_inout, value + i, 1)}).add();
    }
    quern_task_wait();
    *value += value[3];
}

// Holds: task_functions: a task that is added in a task belongs to the running task's domain.
TEST(task_functions, have_children) {
    quern_task_site site = make_site("parent");
    std::array<int, 4> values{};
    pointer_task(site, with_children, values.data(), {elements(quern_task_inout, values.data(), 4)})
        .add();
    quern_task_wait();
    EXPECT_EQ(values[0], 2);
    EXPECT_EQ(values[2], 1);
}

// Holds: task_functions: a region has up to four dimensions, and orders by the bytes it has.
TEST(task_functions, have_blocks_of_matrices) {
    quern_task_site site = make_site("block");
    std::array<int, 16> matrix{};
    const quern_task_region corner{quern_task_inout,
                                   2,
                                   &matrix[0],
                                   sizeof(int),
                                   {2, 2, 0, 0},
                                   {4 * sizeof(int), sizeof(int), 0, 0},
                                   0,
                                   0,
                                   0};
    pointer_task(site, increment, &matrix[5], {corner}).add();
    pointer_task(site, triple, &matrix[5], {elements(quern_task_inout, &matrix[5], 1)}).add();
    quern_task_wait();
    EXPECT_EQ(matrix[5], 3);
}

void add_hundred(void* packed) {
    for (int i = 0; i < 100; ++i) {
        ++pointee<int>(packed);
    }
}

// Holds: task_functions: a reduction gives each task a part of its own in the place of the pointer,
//     and combines the parts with the object.
TEST(task_functions, reduce) {
    quern_task_site site = make_site("sum");
    int total = 5;
    quern_task_region region = elements(quern_task_reduction, &total, 1);
    region.op = '+';
    region.type = 'i';
    for (int i = 0; i < 50; ++i) {
        pointer_task(site, add_hundred, &total, {region}).add();
    }
    quern_task_wait();
    EXPECT_EQ(total, 5005);
}

// Holds: task_functions: statistics and reports name the place "task <function>" at file and line.
TEST(task_functions, are_named_by_their_place) {
    if (!quern::counts_sites()) {
        GTEST_SKIP() << "this library counts no sites";
    }
    quern_task_site site = make_site("named_site");
    int value = 0;
    for (int i = 0; i < 2000; ++i) {
        pointer_task(site, increment, &value, {elements(quern_task_inout, &value, 1)}).add();
    }
    quern_task_wait();
    const auto all = quern::all_sites();
    const auto found = std::find_if(
        all.begin(), all.end(), [](const auto& each) { return each.name == "task named_site"; });
    ASSERT_NE(found, all.end());
    EXPECT_EQ(found->location, "prog.c:12");
}

// Holds: task_functions: a region that cannot be ends the process with a message that names the
//     task and its place.
TEST(task_functions_death_test, a_negative_size_ends_the_process) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    quern_task_site site = make_site("f");
    int value = 0;
    EXPECT_DEATH(pointer_task(site, increment, &value, {elements(quern_task_in, &value, -1)}).add(),
                 "quern: task f at prog.c:12: a region of -1 elements in dimension 1 of 1; "
                 "accepted: 0 or more");
}

}  // namespace
