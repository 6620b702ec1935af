// SPDX-License-Identifier: BSL-1.0
// The ways in which a program calls back into its own code through the runtime, on the same stack:
// each a type with a name and call(f), which returns the result of f. descend() recurses through
// one of them.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/quern.hpp>

#include "unit/task/foreign.hpp"

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

namespace quern_test::deeper {

struct fork_join_second {
    static constexpr const char* k_name = "fork_join_second";
    template <class F>
    static long call(F f) {
        return quern::fork_join([] { return 0L; }, f).second;
    }
};

struct fork_join_first {
    static constexpr const char* k_name = "fork_join_first";
    template <class F>
    static long call(F f) {
        return quern::fork_join(f, [] { return 0L; }).first;
    }
};

/// The middle one of three, which runs after the last; and the function of the first context.
struct fork_join_of_three {
    static constexpr const char* k_name = "fork_join_of_three";
    template <class F>
    static long call(F f) {
        return quern::with_fork_context([&f](quern::fork_context c) {
            return quern::fork_join(
                c, [] {}, f, [] {});
        });
    }
};

struct scope_body {
    static constexpr const char* k_name = "scope_body";
    template <class F>
    static long call(F f) {
        long result = 0;
        quern::scope([&](quern::fork_scope&) { result = f(); });
        return result;
    }
};

struct scope_child {
    static constexpr const char* k_name = "scope_child";
    template <class F>
    static long call(F f) {
        long result = 0;
        quern::scope([&](quern::fork_scope& s) { s.spawn([&] { result = f(); }); });
        return result;
    }
};

struct parallel_for {
    static constexpr const char* k_name = "parallel_for";
    template <class F>
    static long call(F f) {
        long result = 0;
        quern::parallel_for(0, 2, [&](int i) { i == 1 ? void(result = f()) : void(); });
        return result;
    }
};

struct parallel_reduce {
    static constexpr const char* k_name = "parallel_reduce";
    template <class F>
    static long call(F f) {
        return quern::parallel_reduce(
            0, 2, 0L, [&](int i) { return i == 0 ? f() : 0L; }, std::plus<>{});
    }
};

struct pipeline {
    static constexpr const char* k_name = "pipeline";
    template <class F>
    static long call(F f) {
        long result = 0;
        bool is_begun = false;
        const auto one = [&is_begun] {
            return std::exchange(is_begun, true) ? std::nullopt : std::optional(0);
        };
        quern::pipeline(1, one, quern::in_order([&](int) { result = f(); }));
        return result;
    }
};

struct cutoff {
    static constexpr const char* k_name = "cutoff";
    template <class F>
    static long call(F f) {
        static quern::cutoff small("deeper");
        return small(1, f, f);
    }
};

struct task_group {
    static constexpr const char* k_name = "task_group";
    template <class F>
    static long call(F f) {
        long result = 0;
        quern::task_group group;
        group.run([&] { result = f(); });
        group.wait();
        return result;
    }
};

/// The second task runs while its creator is aside, and from some depth on in wait().
struct bounded_group {
    static constexpr const char* k_name = "bounded_group";
    template <class F>
    static long call(F f) {
        long result = 0;
        quern::task_group group(quern::bounded(1));
        group.run([] {});
        group.run([&] { result = f(); });
        group.wait();
        return result;
    }
};

struct async {
    static constexpr const char* k_name = "async";
    template <class F>
    static long call(F f) {
        return quern::async(f).get();
    }
};

struct sync {
    static constexpr const char* k_name = "sync";
    template <class F>
    static long call(F f) {
        return quern::async(quern::launch::sync, f).get();
    }
};

struct deferred {
    static constexpr const char* k_name = "deferred";
    template <class F>
    static long call(F f) {
        return quern::async(quern::launch::deferred, f).get();
    }
};

struct adaptive {
    static constexpr const char* k_name = "adaptive";
    template <class F>
    static long call(F f) {
        return quern::async(quern::launch::adaptive, f).get();
    }
};

struct continuation {
    static constexpr const char* k_name = "continuation";
    template <class F>
    static long call(F f) {
        return quern::make_ready_future()
            .then(quern::launch::sync, [f](auto) { return f(); })
            .get();
    }
};

struct promise {
    static constexpr const char* k_name = "promise";
    template <class F>
    static long call(F f) {
        quern::promise<void> p;
        auto result = p.get_future().then(quern::launch::sync, [f](auto) { return f(); });
        p.set_value();
        return result.get();
    }
};

struct dataflow {
    static constexpr const char* k_name = "dataflow";
    template <class F>
    static long call(F f) {
        return quern::dataflow(
                   quern::launch::sync, [f](auto) { return f(); }, quern::make_ready_future())
            .get();
    }
};

struct packaged_task {
    static constexpr const char* k_name = "packaged_task";
    template <class F>
    static long call(F f) {
        quern::packaged_task<long()> task(f);
        task();
        return task.get_future().get();
    }
};

struct call_once {
    static constexpr const char* k_name = "call_once";
    template <class F>
    static long call(F f) {
        long result = 0;
        quern::once_flag once;
        quern::call_once(once, [&] { result = f(); });
        return result;
    }
};

struct blocking {
    static constexpr const char* k_name = "blocking";
    template <class F>
    static long call(F f) {
        return quern::blocking(f);
    }
};

struct foreign_coroutine {
    static constexpr const char* k_name = "foreign_coroutine";
    template <class F>
    static long call(F f) {
        long result = 0;
        std::exception_ptr error;
        await_here(f, result, error);  // ends before it returns, because nothing in it waits
        if (error != nullptr) {
            std::rethrow_exception(error);
        }
        return result;
    }

private:
    template <class F>
    static quern::task<long> as_task(F f) {
        co_return f();
    }
    template <class F>
    static foreign await_here(F f, long& result, std::exception_ptr& error) {
        try {
            result = co_await as_task(f);
        } catch (...) {
            error = std::current_exception();
        }
    }
};

/// Children of a final task run in the place of their creation.
struct final_child {
    static constexpr const char* k_name = "final_child";
    template <class F>
    static long call(F f) {
        long result = 0;
        const auto body = [&] { result = f(); };
        if (quern::detail::dependent_task::current() != nullptr) {
            quern::spawn(body);
            quern::taskwait();
        } else {
            quern::domain work;
            work.spawn({.final = true}, quern::inout(result), body);
            work.taskwait();
        }
        return result;
    }
};

struct barrier_completion {
    static constexpr const char* k_name = "barrier_completion";
    template <class F>
    static long call(F f) {
        long result = 0;
        std::exception_ptr error;  // a completion function must not throw
        quern::barrier one(1, [&]() noexcept {
            try {
                result = f();
            } catch (...) {
                error = std::current_exception();
            }
        });
        one.arrive_and_wait();
        if (error != nullptr) {
            std::rethrow_exception(error);
        }
        return result;
    }
};

/// A function with a frame of at least `frame_bytes` bytes, all pages of which are touched; it
/// calls itself through `Way`. Returns the depth.
template <class Way>
QUERN_NOINLINE long descend(long depth, std::size_t frame_bytes) {
    constexpr std::size_t k_page = 4096;
    auto* const frame = static_cast<volatile char*>(__builtin_alloca(frame_bytes));
    for (std::size_t i = 0; i < frame_bytes; i += k_page) {
        frame[i] = 1;
    }
    frame[frame_bytes - 1] = 1;
    const long below =
        depth == 0 ? 0 : Way::call([=] { return descend<Way>(depth - 1, frame_bytes) + 1; });
    return frame[0] == 1 && frame[frame_bytes - 1] == 1 ? below : -1;
}

}  // namespace quern_test::deeper
