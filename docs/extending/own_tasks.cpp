// Tasks of an own front end: each begins when those before it are complete.
#include <quern/quern.hpp>
#include <quern/scheduler/detail/queued_task.hpp>

#include <atomic>
#include <cstdio>
#include <vector>

struct step final : quern::detail::queued_task<step> {
    step(quern::detail::pool& where, const char* what) : queued_task(where) { name = what; }

    void before(step& later) {
        later.missing.fetch_add(1);
        followers.push_back(&later);
    }
    void call() noexcept {
        std::printf("%s\n", name);
        if (begin != nullptr) begin(quern::this_task::hold());
    }
    void completed(quern::detail::ready_batch& batch) noexcept {
        for (step* each : followers) {
            if (each->missing.fetch_sub(1) == 1) batch.add(*each);
        }
        if (all_done != nullptr) all_done->count_down();
    }

    std::vector<step*> followers;
    std::atomic<int> missing{0};
    void (*begin)(quern::task_hold until_it_ends) = nullptr;
    quern::latch* all_done = nullptr;
};

/// Something outside that answers later, on its own thread.
void ask_device(quern::task_hold until_it_ends) {
    quern::thread([hold = std::move(until_it_ends)]() mutable {
        std::puts("the device answers");
        hold.drop();
    }).detach();
}

int main(int argc, char** argv) {
    return quern::main(argc, argv, [] {
        quern::detail::pool& here = quern::current_pool().get();
        quern::latch all_done(1);
        step read(here, "read"), transfer(here, "transfer"), compute(here, "compute");
        read.before(transfer);
        transfer.before(compute);
        transfer.begin = ask_device;
        compute.all_done = &all_done;
        read.make_ready();
        all_done.wait();
    });
}
