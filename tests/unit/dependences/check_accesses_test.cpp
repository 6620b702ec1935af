// SPDX-License-Identifier: BSL-1.0
// check-accesses: a small Cholesky factorisation is silent, and each of the mistakes that are put
// into it is reported with its task, the place, and the clause that is missing.
#include <quern/dependences/access_list.hpp>
#include <quern/dependences/block.hpp>
#include <quern/dependences/detail/access_checks.hpp>
#include <quern/dependences/domain.hpp>
#include <quern/dependences/reduction.hpp>
#include <quern/dependences/renamed.hpp>
#include <quern/dependences/replay.hpp>
#include <quern/dependences/spawn.hpp>
#include <quern/dependences/task_loop.hpp>
#include <quern/task/promise.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace {

using quern::domain;
using quern::in;
using quern::inout;
using quern::out;
using quern::weak;

constexpr std::size_t k_side = 8;                // of a tile: eight of them have a page
constexpr std::size_t k_tile = k_side * k_side;  // numbers
constexpr std::size_t k_grid = 4;                // tiles in a row

/// Whether reads are seen, and which pages were touched.
bool sees_pages() { return quern::detail::why_no_page_guard() == nullptr; }

/// Numbers of whole pages, so that no other memory lies on them.
class page_numbers {
public:
    explicit page_numbers(std::size_t count)
        : m_count(count),
          m_first(static_cast<double*>(::operator new (bytes(), std::align_val_t{k_page}))) {
        std::fill_n(m_first, bytes() / sizeof(double), 0.0);
    }
    page_numbers(const page_numbers&) = delete;
    page_numbers& operator=(const page_numbers&) = delete;
    ~page_numbers() { ::operator delete (m_first, std::align_val_t{k_page}); }

    std::span<double> part(std::size_t first, std::size_t count) const {
        return {m_first + first, count};
    }
    std::span<double> all() const { return part(0, m_count); }
    double* data() const { return m_first; }

private:
    static constexpr std::size_t k_page = 4096;
    std::size_t bytes() const { return (m_count * sizeof(double) + k_page - 1) / k_page * k_page; }

    std::size_t m_count;
    double* m_first;
};

/// Its first byte, so that a comparison finds the same place.
void change(double& x) { x = std::nextafter(x, 0.0); }

/// What may be wrong in the factorisation, one at a time.
enum class mistake {
    none,
    write_under_in,    ///< syrk changes the tile that it declares in()
    undeclared_read,   ///< gemm reads a tile that it does not declare
    undeclared_write,  ///< trsm counts its columns in a tile of another task
    past_the_end,      ///< syrk writes a number too many, into the next tile
    out_read_first,    ///< the copy of the diagonal is out(), and is added to
    never_touched,     ///< trsm declares a tile that no trsm uses
    weak_used,         ///< the update of a column touches what it declares weak()
    child_beyond,      ///< a child of the update takes the wrong tile, which its parent lacks
};

/// A = L L' by tiles, the update of each column as a task with children.
class cholesky {
public:
    cholesky() : m_numbers(k_grid * k_grid * k_tile), m_diagonals(k_grid * 2 * k_tile) {
        for (std::size_t i = 0; i < k_grid; ++i) {
            for (std::size_t j = 0; j < k_grid; ++j) {
                fill(i, j);
            }
        }
    }

    void factorise(mistake wrong) {
        domain work;
        touch_all(work);
        for (std::size_t k = 0; k < k_grid; ++k) {
            const auto kk = tile(k, k);
            const auto copy = m_diagonals.part(k * 2 * k_tile, k_tile);
            work.spawn({.name = "potrf"}, inout(kk), out(copy),
                       [kk, copy, wrong] { potrf(kk, copy, wrong); });
            for (std::size_t i = k + 1; i < k_grid; ++i) {
                spawn_trsm(work, i, k, copy, wrong);
            }
            for (std::size_t j = k + 1; j < k_grid; ++j) {
                spawn_update(work, j, k, wrong);
            }
        }
        work.taskwait();
    }

    /// Whether L L' is the matrix.
    bool is_right() const {
        double worst = 0;
        for (std::size_t r = 0; r < k_grid * k_side; ++r) {
            for (std::size_t c = 0; c <= r; ++c) {
                double sum = 0;
                for (std::size_t x = 0; x <= c; ++x) {
                    sum += at(r, x) * at(c, x);
                }
                worst = std::max(worst, std::abs(sum - element(r, c)));
            }
        }
        return worst < 1e-9;
    }

private:
    using numbers = std::span<double>;

    static double element(std::size_t r, std::size_t c) {
        return r == c ? 2.0 * k_grid * k_side : 1.0 / (1.0 + static_cast<double>(r + c));
    }
    numbers tile(std::size_t i, std::size_t j) const {
        return m_numbers.part((j * k_grid + i) * k_tile, k_tile);
    }
    double at(std::size_t r, std::size_t c) const {
        return tile(r / k_side, c / k_side)[c % k_side * k_side + r % k_side];
    }
    void fill(std::size_t i, std::size_t j) const {
        for (std::size_t c = 0; c < k_side; ++c) {
            for (std::size_t r = 0; r < k_side; ++r) {
                tile(i, j)[c * k_side + r] = element(i * k_side + r, j * k_side + c);
            }
        }
    }

    /// Tasks that name all tiles, as in a program whose tasks fill the matrix.
    void touch_all(domain& work) {
        for (std::size_t j = 0; j < k_grid; ++j) {
            for (std::size_t i = 0; i < k_grid; ++i) {
                work.spawn({.name = "fill"}, out(tile(i, j)), [this, i, j] { fill(i, j); });
            }
            work.spawn({.name = "fill"}, out(m_diagonals.part(j * 2 * k_tile, 2 * k_tile)),
                       [](auto copy) { std::fill(copy.begin(), copy.end(), 0.0); });
        }
    }

    static void potrf(numbers a, numbers copy, mistake wrong) {
        for (std::size_t c = 0; c < k_side; ++c) {
            for (std::size_t x = 0; x < c; ++x) {
                for (std::size_t r = c; r < k_side; ++r) {
                    a[c * k_side + r] -= a[x * k_side + r] * a[x * k_side + c];
                }
            }
            const double root = std::sqrt(a[c * k_side + c]);
            for (std::size_t r = c; r < k_side; ++r) {
                a[c * k_side + r] /= root;
            }
        }
        for (std::size_t i = 0; i < k_tile; ++i) {
            copy[i] = wrong == mistake::out_read_first ? a[i] + 0 * copy[i] : a[i];
        }
    }

    void spawn_trsm(domain& work, std::size_t i, std::size_t k, numbers copy, mistake wrong) {
        const auto ik = tile(i, k);
        const auto other = tile(0, k_grid - 1);
        const auto solve = [copy, ik, other, wrong] {
            for (std::size_t c = 0; c < k_side; ++c) {
                for (std::size_t x = 0; x < c; ++x) {
                    for (std::size_t r = 0; r < k_side; ++r) {
                        ik[c * k_side + r] -= ik[x * k_side + r] * copy[x * k_side + c];
                    }
                }
                for (std::size_t r = 0; r < k_side; ++r) {
                    ik[c * k_side + r] /= copy[c * k_side + c];
                }
            }
            if (wrong == mistake::undeclared_write) {
                change(other[1]);
            }
        };
        if (wrong == mistake::never_touched) {
            work.spawn({.name = "trsm"}, in(copy), inout(ik), in(other), solve);
        } else {
            work.spawn({.name = "trsm"}, in(copy), inout(ik), solve);
        }
    }

    /// a -= b c'. Each access to a tile costs a step, so they are copied.
    static void subtract(numbers b, numbers c, numbers a) {
        std::array<double, k_tile> left{};
        std::array<double, k_tile> right{};
        for (std::size_t i = 0; i < k_tile; ++i) {
            left[i] = b[i];
            right[i] = c[i];
        }
        for (std::size_t j = 0; j < k_side; ++j) {
            for (std::size_t r = 0; r < k_side; ++r) {
                double sum = 0;
                for (std::size_t x = 0; x < k_side; ++x) {
                    sum += left[x * k_side + r] * right[x * k_side + j];
                }
                a[j * k_side + r] -= sum;
            }
        }
    }

    /// Column j, when column k has been computed.
    void spawn_update(domain& work, std::size_t j, std::size_t k, mistake wrong) {
        quern::access_list used;
        for (std::size_t i = j; i < k_grid; ++i) {
            used.add(weak(in(tile(i, k))));
            used.add(weak(inout(tile(i, j))));
        }
        work.spawn({.name = "update"}, used, [this, j, k, wrong] {
            const auto jk = tile(j, k);
            quern::spawn({.name = "syrk"}, in(jk), inout(tile(j, j)), [this, j, k, wrong] {
                subtract(tile(j, k), tile(j, k), tile(j, j));
                if (wrong == mistake::write_under_in) {
                    change(tile(j, k)[3]);
                }
                if (wrong == mistake::past_the_end && j + 1 < k_grid) {
                    change(*(tile(j, j).data() + k_tile));
                }
            });
            for (std::size_t i = j + 1; i < k_grid; ++i) {
                const auto ij = wrong == mistake::child_beyond ? tile(0, k_grid - 1) : tile(i, j);
                quern::spawn({.name = "gemm"}, in(tile(i, k)), in(jk), inout(ij),
                             [this, i, j, k, ij, wrong] {
                                 const auto first =
                                     wrong == mistake::undeclared_read ? tile(0, 0) : tile(i, k);
                                 subtract(first, tile(j, k), ij);
                             });
            }
            quern::taskwait();
            if (wrong == mistake::weak_used) {
                change(tile(j, j)[0]);
            }
        });
    }

    page_numbers m_numbers;
    page_numbers m_diagonals;
};

class check_accesses : public quern_test::on_runtime {
protected:
    void SetUp() override { quern::detail::check_accesses(true); }
    void TearDown() override { quern::detail::check_accesses(false); }

    /// What is said while f() runs as a task.
    template <class F>
    std::string said_by(F&& f) {
        testing::internal::CaptureStderr();
        inside(f);
        return testing::internal::GetCapturedStderr();
    }
    /// Once more if the system has stopped a worker for so long that a task was taken for one that
    /// waits for the next one.
    template <class F>
    std::string said_when_checked(F&& f) {
        std::string said = "not checked";
        for (int run = 0; run < 5 && said.find("not checked") != std::string::npos; ++run) {
            m_mistakes_before = quern::detail::access_mistakes();
            said = said_by(f);
        }
        return said;
    }
    std::string said_by_cholesky(mistake wrong) {
        return said_when_checked([wrong] {
            cholesky one;
            one.factorise(wrong);
        });
    }
    /// In the last run.
    std::uint64_t mistakes() const { return quern::detail::access_mistakes() - m_mistakes_before; }

private:
    std::uint64_t m_mistakes_before = 0;
};
QUERN_ON_1_2_8_WORKERS(check_accesses);

/// Each takes seconds where a fault of a page is slow.
class access_mistakes : public check_accesses {};
INSTANTIATE_TEST_SUITE_P(on, access_mistakes,
                         testing::Values(quern_test::setting{2, "work-stealing"}),
                         quern_test::name_of_setting);

void expect_all(const std::string& said, const std::vector<std::string>& parts) {
    for (const std::string& each : parts) {
        EXPECT_NE(said.find(each), std::string::npos) << each << " is not in\n" << said;
    }
}

// Holds: domain: With check-accesses a program that declares its accesses is silent, and right.
TEST_P(check_accesses, are_silent_and_right_without_a_mistake) {
    const std::string said = said_by([] {
        cholesky one;
        one.factorise(mistake::none);
        EXPECT_TRUE(one.is_right());
    });
    EXPECT_EQ(said, "");
}

// Holds: domain: With check-accesses a write under in() is reported.
TEST_P(access_mistakes, have_a_name_for_a_write_under_in) {
    const std::string said = said_by_cholesky(mistake::write_under_in);
    expect_all(said, {"task 'syrk' (", "spawn_update", " writes 0x",
                      ", byte 24 of 512 of its access 1, in(...)",
                      "missing: inout(...) in the place of in(...)", "1 mistake in "});
}

// Holds: domain: With check-accesses a read of what the task does not declare is reported.
TEST_P(access_mistakes, have_a_name_for_an_undeclared_read) {
    if (!sees_pages()) {
        GTEST_SKIP() << "reads are not seen here";
    }
    const std::string said = said_by_cholesky(mistake::undeclared_read);
    expect_all(said, {"task 'gemm' (", " reads 0x", ", byte 0 of 512 that task 'fill' (",
                      "missing: in(...)\n", "by ", "subtract"});
}

// Holds: domain: With check-accesses a write to what the task does not declare is reported.
TEST_P(access_mistakes, have_a_name_for_an_undeclared_write) {
    const std::string said = said_by_cholesky(mistake::undeclared_write);
    expect_all(said, {"task 'trsm' (", " writes 0x", ", byte 8 of 512 that task 'fill' (",
                      "missing: out(...) or inout(...)\n"});
}

// Holds: domain: With check-accesses a write past the end of an access is reported as that.
TEST_P(access_mistakes, have_a_name_for_a_write_past_the_end) {
    const std::string said = said_by_cholesky(mistake::past_the_end);
    expect_all(said,
               {"task 'syrk' (", " writes 0x", ", right behind the end of its access 2, inout(...)",
                "missing: out(...) or inout(...)\n"});
}

// Holds: domain: With check-accesses out() that is read before it is written is reported.
TEST_P(access_mistakes, have_a_name_for_an_out_that_is_read_first) {
    if (!sees_pages()) {
        GTEST_SKIP() << "reads are not seen here";
    }
    const std::string said = said_by_cholesky(mistake::out_read_first);
    expect_all(said, {"task 'potrf' (", " reads 0x", ", byte 0 of 512 of its access 2, out(...)",
                      "before it has written there; missing: inout(...) in the place of out(...)"});
}

// Holds: domain: With check-accesses an access that no task of a kind touches is reported.
TEST_P(access_mistakes, have_a_name_for_an_access_that_is_never_touched) {
    if (!sees_pages()) {
        GTEST_SKIP() << "touches are not seen here";
    }
    const std::string said = said_by_cholesky(mistake::never_touched);
    expect_all(said, {"task 'trsm' (", " never touches its access 3, in(...), in 6 tasks",
                      "1 mistake in "});
}

// Holds: domain: With check-accesses a task that uses what it declares weak() is reported.
TEST_P(access_mistakes, have_a_name_for_a_weak_access_that_the_task_uses) {
    const std::string said = said_by_cholesky(mistake::weak_used);
    expect_all(said, {"task 'update' (", " writes 0x",
                      " of its access 2, weak(inout(...)), which is for its children; missing: "
                      "out(...) or inout(...) without weak"});
}

// Holds: domain: With check-accesses a child with an access that its parent lacks is reported.
TEST_P(access_mistakes, have_a_name_for_a_child_beyond_its_parent) {
    const std::string said = said_by_cholesky(mistake::child_beyond);
    expect_all(said, {"task 'gemm' (", " declares inout(...) at 0x", ", where task 'fill' (",
                      "its parent, task 'update' (", "missing in the parent: weak(inout(...))"});
}

// Holds: domain: With check-accesses a crash is the crash that it is without it.
TEST_P(access_mistakes, leave_crashes_to_others) {
    if (quern_test::k_sanitized) {
        GTEST_SKIP() << "the sanitizer reports it";
    }
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(inside([] {
                    domain work;
                    page_numbers data(512);
                    work.spawn(inout(data.all()), [](auto x) {
                        x[0] = 1;
                        *reinterpret_cast<volatile double*>(x.size()) = 1;
                    });
                    work.taskwait();
                }),
                testing::KilledBySignal(SIGSEGV), "");
}

// -- memory without whole pages ----------------------------------------------------------------

// Holds: domain: With check-accesses writes to small objects are found by comparison.
TEST_P(check_accesses, find_writes_to_small_objects) {
    const std::string said = said_when_checked([] {
        domain work;
        int a = 1;
        int b = 2;
        work.spawn({.name = "a"}, inout(a), [](int& x) { ++x; });
        work.spawn({.name = "b"}, inout(b), [&a](int& x) {
            ++x;
            a = 7;
        });
        work.spawn({.name = "c"}, in(b), [&b] { b = 8; });
        work.taskwait();
    });
    expect_all(said,
               {"task 'b' (", "byte 0 of 4 that task 'a' (", "missing: out(...) or inout(...)",
                "task 'c' (", "byte 0 of 4 of its access 1, in(...)",
                "missing: inout(...) in the place of in(...)", "found by comparison",
                "2 mistakes in 3 tasks"});
}

// Holds: domain: With check-accesses small objects are no reason for a report.
TEST_P(check_accesses, are_silent_about_small_objects) {
    const std::string said = said_by([] {
        domain work;
        int a = 0;
        std::vector<int> v(100);
        for (int i = 0; i < 20; ++i) {
            work.spawn(inout(a), [](int& x) { ++x; });
            work.spawn(in(a), inout(v), [](int x, auto part) { part[3] += x; });
        }
        work.taskwait();
        EXPECT_EQ(a, 20);
        EXPECT_EQ(v[3], 210);
    });
    EXPECT_EQ(said, "");
}

// Holds: domain: With check-accesses memory that is used for something else after taskwait() is
// forgotten.
TEST_P(check_accesses, forget_memory_after_taskwait) {
    const std::string said = said_by([] {
        domain work;
        page_numbers first(4096);
        work.spawn({.name = "first"}, out(first.all()), [&](auto x) { x[0] = 1; });
        work.taskwait();
        int other = 0;
        work.spawn({.name = "second"}, inout(other),
                   [&](int& x) { x = static_cast<int>(first.all()[1]); });
        work.taskwait();
    });
    EXPECT_EQ(said, "");
}

// -- the other constructs ----------------------------------------------------------------------

// Holds: domain: With check-accesses tasks run one at a time in the order of their creation.
TEST_P(check_accesses, run_tasks_one_at_a_time) {
    std::vector<int> order;
    inside([&] {
        domain work;
        std::vector<int> data(100);
        for (std::size_t i = 0; i < data.size(); ++i) {
            work.spawn(out(data[i]), [&order, i] { order.push_back(static_cast<int>(i)); });
        }
        work.taskwait();
    });
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    EXPECT_EQ(order.size(), 100U);
}

// Holds: domain: With check-accesses a task may wait for what its creator does next.
TEST_P(check_accesses, give_way_to_a_creator_for_which_a_task_waits) {
    const std::string said = said_by([] {
        quern::promise<void> gate;
        auto opened = gate.get_future();
        domain work;
        int a = 0;
        int b = 0;
        work.spawn(out(a), [&opened](int& x) {
            opened.get();
            x = 1;
        });
        work.spawn(out(b), [](int& x) { x = 1; });
        gate.set_value();
        work.taskwait();
        EXPECT_EQ(a + b, 2);
    });
    EXPECT_EQ(said, "");
}

// Holds: domain: With check-accesses reductions, loops, replay, renamed objects, blocks and
// futures are right, and silent.
TEST_P(check_accesses, are_silent_about_every_construct) {
    const std::string said = said_by([] {
        domain work;
        page_numbers data(2048);
        const auto x = data.all();
        quern::task_loop(
            work, 0, 2048, 512,
            [&](std::ptrdiff_t from, std::ptrdiff_t to) {
                return quern::accesses(out(data.data() + from, to - from));
            },
            [](std::ptrdiff_t from, std::ptrdiff_t to, auto part) {
                for (std::ptrdiff_t i = from; i < to; ++i) {
                    part[static_cast<std::size_t>(i - from)] = static_cast<double>(i);
                }
            });
        double sum = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            work.spawn(in(x.subspan(i * 512, 512)), quern::reduction(sum, std::plus<>()),
                       [](auto part, double& mine) {
                           for (const double each : part) {
                               mine += each;
                           }
                       });
        }
        auto twice = work.async(in(sum), [](const double& all) { return 2 * all; });
        EXPECT_EQ(twice.get(), 2047.0 * 2048.0);
        quern::replay(work, 5, [&](std::int64_t) {
            work.spawn(inout(x.first(512)), [](auto part) { part[0] += 1; });
            work.spawn(in(x.first(512)), inout(x.last(512)),
                       [](auto from, auto to) { to[0] += from[0]; });
        });
        quern::renamed copy{std::vector<double>(1024)};
        for (int i = 0; i < 3; ++i) {
            work.spawn(out(copy), [i](auto to) { std::fill(to.begin(), to.end(), i); });
            work.spawn(in(copy), quern::commutative(x.first(512)),
                       [](auto from, auto to) { to[1] += from[1]; });
        }
        work.spawn(inout(quern::block(data.data(), 64, 8, 64)), [](auto b) { b(7, 63) = 1; });
        work.taskwait();
        EXPECT_EQ(x[0], 5);
        EXPECT_EQ(x[1536], 1536 + 1 + 2 + 3 + 4 + 5);
        EXPECT_EQ(x[1], 1 + 0 + 1 + 2);
        EXPECT_EQ(x[511], 1);
    });
    EXPECT_EQ(said, "");
}

// Holds: domain: With check-accesses the error of a task is that of taskwait().
TEST_P(check_accesses, pass_errors_on) {
    const std::string said = said_by([] {
        domain work;
        page_numbers data(512);
        work.spawn(inout(data.all()), [] { throw std::runtime_error("wrong"); });
        work.spawn(in(data.all()), [](auto) { FAIL() << "a successor of an error"; });
        EXPECT_THROW(work.taskwait(), std::runtime_error);
    });
    EXPECT_EQ(said, "");
}

// Holds: domain: With check-accesses mistakes are counted.
TEST_P(check_accesses, count_mistakes) {
    said_by_cholesky(mistake::write_under_in);
    EXPECT_EQ(mistakes(), 1U);
}

}  // namespace
