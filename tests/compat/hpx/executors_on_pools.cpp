// SPDX-License-Identifier: BSL-1.0
// A separate pool for work that must not occupy the other workers, executors that use it, and
// executors of the program's own.
#include <hpx/execution.hpp>
#include <hpx/future.hpp>
#include <hpx/init.hpp>
#include <hpx/modules/resource_partitioner.hpp>
#include <hpx/modules/testing.hpp>
#include <hpx/thread.hpp>

#include <atomic>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// Counts the tasks that it starts, and passes them to another executor.
struct counting_executor {
    std::atomic<int>* count;
    hpx::execution::parallel_executor inner;

    template <class F, class... Ts>
    auto async_execute(F&& f, Ts&&... ts) const {
        ++*count;
        return hpx::async(inner, std::forward<F>(f), std::forward<Ts>(ts)...);
    }
    template <class F, class... Ts>
    void post(F&& f, Ts&&... ts) const {
        ++*count;
        hpx::post(inner, std::forward<F>(f), std::forward<Ts>(ts)...);
    }
};

template <>
struct hpx::execution::experimental::is_two_way_executor<counting_executor> : std::true_type {};

int twice(int i) { return 2 * i; }

void on_the_pool() {
    hpx::execution::parallel_executor io(&hpx::resource::get_thread_pool("io"));
    HPX_TEST_EQ(hpx::resource::get_thread_pool("io").get_os_thread_count(), std::size_t(1));

    // One worker: no two of them at once, and all on one thread.
    int calls = 0;
    std::vector<hpx::future<std::size_t>> where;
    for (int i = 0; i != 100; ++i) {
        where.push_back(hpx::async(io, [&calls] {
            ++calls;
            return hpx::get_worker_thread_num();
        }));
    }
    hpx::wait_all(where);
    HPX_TEST_EQ(calls, 100);
    for (auto& each : where) {
        HPX_TEST_EQ(each.get(), std::size_t(0));
    }

    hpx::promise<int> posted;
    hpx::future<int> answer = posted.get_future();
    hpx::post(
        io, [](hpx::promise<int> p, int i) { p.set_value(i); }, std::move(posted), 42);
    hpx::future<int> chained = answer.then(io, [](hpx::future<int> f) { return twice(f.get()); });
    hpx::future<int> joined = hpx::dataflow(io, hpx::unwrapping([](int a, int b) { return a + b; }),
                                            chained.share(), hpx::async(twice, 8));
    HPX_TEST_EQ(joined.get(), 100);
    HPX_TEST_EQ(hpx::sync(io, twice, 3), 6);

    std::vector<int> v(1000, 1);
    hpx::for_each(hpx::execution::par.on(io), v.begin(), v.end(), [](int& i) { i = 2; });
    HPX_TEST_EQ(hpx::reduce(hpx::execution::par, v.begin(), v.end()), 2000);
}

void by_a_foreign_executor() {
    std::atomic<int> count{0};
    counting_executor exec{&count, {}};
    HPX_TEST_EQ(hpx::async(exec, &twice, 4).get(), 8);
    hpx::promise<void> done;
    hpx::future<void> is_done = done.get_future();
    hpx::post(exec, [&done] { done.set_value(); });
    is_done.get();
    HPX_TEST_EQ(hpx::async(twice, 1).then(exec, [](auto f) { return f.get(); }).get(), 2);
    HPX_TEST_EQ(count.load(), 3);
}

void wishes() {
    hpx::execution::sequenced_executor here;
    hpx::thread::id const me = hpx::this_thread::get_id();
    HPX_TEST(hpx::sync(here, [] { return hpx::this_thread::get_id(); }) == me);
    HPX_TEST_EQ(hpx::async(here, twice, 2).get(), 4);
    hpx::future<hpx::threads::thread_priority> urgent =
        hpx::async(hpx::launch::async(hpx::threads::thread_priority::high,
                                      hpx::threads::thread_stacksize::large),
                   [] { return hpx::this_thread::get_priority(); });
    HPX_TEST(urgent.get() == hpx::threads::thread_priority::high);
}

int hpx_main() {
    on_the_pool();
    by_a_foreign_executor();
    wishes();
    return hpx::local::finalize();
}

int main(int argc, char* argv[]) {
    hpx::local::init_params params;
    params.rp_callback = [](hpx::resource::partitioner& rp,
                            hpx::program_options::variables_map const&) {
        rp.create_thread_pool("io");
        rp.add_resource(rp.numa_domains()[0].cores()[0].pus()[0], "io");
    };
    HPX_TEST_EQ(hpx::local::init(hpx_main, argc, argv, params), 0);
    return hpx::util::report_errors();
}
