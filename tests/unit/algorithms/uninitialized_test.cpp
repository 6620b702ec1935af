// SPDX-License-Identifier: BSL-1.0
// The algorithms on raw memory construct every element once, and destroy what they have constructed
// when a constructor throws.
#include <quern/algorithms/uninitialized.hpp>

#include "unit/algorithms/policies.hpp"

#include <atomic>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

class raw_memory : public quern_test::on_policies {};
QUERN_ON_1_2_8_WORKERS(raw_memory);

/// Counts the living objects; a given number of constructions may fail.
struct counted {
    static inline std::atomic<int> living{0};
    static inline std::atomic<int> until_failure{-1};

    explicit counted(int v = 42) : value(v) {
        if (until_failure.fetch_sub(1) == 0) {
            throw std::runtime_error("constructor");
        }
        ++living;
    }
    counted(const counted& other) : counted(other.value) {}
    counted(counted&& other) : counted(other.value) { other.value = -1; }
    counted& operator=(const counted&) = default;
    ~counted() { --living; }

    int value;
};

/// Memory for n objects without objects.
template <class T>
class memory {
public:
    explicit memory(std::size_t n) : m_size(n), m_begin(std::allocator<T>().allocate(n)) {}
    memory(const memory&) = delete;
    memory& operator=(const memory&) = delete;
    ~memory() { std::allocator<T>().deallocate(m_begin, m_size); }
    T* begin() { return m_begin; }
    T* end() { return m_begin + m_size; }

private:
    std::size_t m_size;
    T* m_begin;
};

template <class Run>
void check_fill(const Run& run, std::size_t n, int expected, auto construct) {
    memory<counted> x(n);
    run([&](auto how) { return construct(how, x); });
    ASSERT_EQ(counted::living.load(), static_cast<int>(n));
    for (const counted& each : x) {
        ASSERT_EQ(each.value, expected);
    }
    run([&](auto how) { return quern::destroy(how, x.begin(), x.end()); });
    ASSERT_EQ(counted::living.load(), 0);
}

TEST_P(raw_memory, is_filled_with_objects) {
    compare([](const auto& run, const std::vector<int>& data) {
        const std::size_t n = data.size();
        const counted value(7);
        counted::living = 0;  // leaves out `value`
        check_fill(run, n, 7, [&](auto how, auto& x) {
            return quern::uninitialized_fill(how, x.begin(), x.end(), 7);
        });
        check_fill(run, n, 7, [&](auto how, auto& x) {
            return quern::uninitialized_fill_n(how, x.begin(), n, 7);
        });
        check_fill(run, n, 42, [&](auto how, auto& x) {
            return quern::uninitialized_default_construct(how, x.begin(), x.end());
        });
        check_fill(run, n, 42, [&](auto how, auto& x) {
            return quern::uninitialized_default_construct_n(how, x.begin(), n);
        });
        check_fill(run, n, 42, [&](auto how, auto& x) {
            return quern::uninitialized_value_construct(how, x.begin(), x.end());
        });
        check_fill(run, n, 42, [&](auto how, auto& x) {
            return quern::uninitialized_value_construct_n(how, x.begin(), n);
        });
        counted::living = 1;
        memory<int> zeros(n);
        std::fill(zeros.begin(), zeros.end(), -1);
        EXPECT_TRUE(zeros.end() == run([&](auto how) {
                        return quern::uninitialized_value_construct_n(how, zeros.begin(), n);
                    }));
        EXPECT_TRUE(std::all_of(zeros.begin(), zeros.end(), [](int e) { return e == 0; }));
    });
    counted::living = 0;
}

TEST_P(raw_memory, gets_copies_and_moved_objects) {
    compare([](const auto& run, const std::vector<int>& data) {
        const std::size_t n = data.size();
        const auto check = [&](memory<std::string>& out) {
            for (std::size_t i = 0; i < n; ++i) {
                ASSERT_EQ(out.begin()[i], std::to_string(data[i]));
            }
            EXPECT_TRUE(out.end() ==
                        run([&](auto how) { return quern::destroy_n(how, out.begin(), n); }));
        };
        std::vector<std::string> x;
        for (const int each : data) {
            x.push_back(std::to_string(each));
        }
        const std::list<std::string> list(x.begin(), x.end());
        memory<std::string> out(n);
        EXPECT_TRUE(out.end() == run([&](auto how) {
                        return quern::uninitialized_copy(how, x.begin(), x.end(), out.begin());
                    }));
        check(out);
        EXPECT_TRUE(out.end() == run([&](auto how) {
                        return quern::uninitialized_copy_n(how, list.begin(), n, out.begin());
                    }));
        check(out);
        std::vector<std::string> y = x;
        EXPECT_TRUE(out.end() == run([&](auto how) {
                        return quern::uninitialized_move(how, x.begin(), x.end(), out.begin());
                    }));
        check(out);
        const auto ends = run(
            [&](auto how) { return quern::uninitialized_move_n(how, y.begin(), n, out.begin()); });
        EXPECT_TRUE(ends.first == y.end() && ends.second == out.end());
        check(out);
    });
}

TEST_P(raw_memory, keeps_no_object_when_a_constructor_throws) {
    inside([] {
        quern_test::for_every_policy([&](const auto& run) {
            for (const int failure : {0, 1, 5'000, 99'999}) {
                memory<counted> x(100'000);
                counted::living = 0;
                counted::until_failure = failure;
                EXPECT_THROW(run([&](auto how) {
                                 return quern::uninitialized_default_construct(how, x.begin(),
                                                                               x.end());
                             }),
                             std::runtime_error);
                counted::until_failure = -1;
                EXPECT_EQ(counted::living.load(), 0);
            }
        });
    });
}

}  // namespace
