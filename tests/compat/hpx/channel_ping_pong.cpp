// SPDX-License-Identifier: BSL-1.0
// Channels: values as futures, ends that send and ends that receive, generations, a range until the
// channel is closed, and a pipeline of bounded ones.
#include <hpx/channel.hpp>
#include <hpx/future.hpp>
#include <hpx/hpx_main.hpp>
#include <hpx/modules/synchronization.hpp>
#include <hpx/modules/testing.hpp>

#include <numeric>
#include <string>
#include <utility>
#include <vector>

void sum(std::vector<int> const& s, hpx::lcos::local::channel<int> c) {
    c.set(std::accumulate(s.begin(), s.end(), 0));
}

void halves() {
    std::vector<int> s = {7, 2, 8, -9, 4, 0};
    hpx::lcos::local::channel<int> c;
    hpx::post(&sum, std::vector<int>(s.begin(), s.begin() + 3), c);
    hpx::post(&sum, std::vector<int>(s.begin() + 3, s.end()), c);
    int const x = c.get(hpx::launch::sync);
    int const y = c.get(hpx::launch::sync);
    HPX_TEST_EQ(x + y, 12);
}

void ping(hpx::lcos::local::send_channel<std::string> pings,
          hpx::lcos::local::receive_channel<std::string> pongs, int rounds) {
    for (int i = 0; i != rounds; ++i) {
        pings.set("ping " + std::to_string(i));
        HPX_TEST_EQ(pongs.get(hpx::launch::sync), "pong " + std::to_string(i));
    }
    pings.close();
}

void ping_pong() {
    hpx::lcos::local::channel<std::string> pings;
    hpx::lcos::local::channel<std::string> pongs;
    hpx::future<void> player = hpx::async(&ping, pings, pongs, 100);
    int round = 0;
    for (std::string const& said : pings) {
        HPX_TEST_EQ(said, "ping " + std::to_string(round));
        pongs.set("pong " + std::to_string(round++));
    }
    HPX_TEST_EQ(round, 100);
    player.get();
}

void generations() {
    hpx::lcos::local::channel<int> c;
    hpx::future<int> third = c.get(3);
    hpx::future<int> first = c.get(1);
    HPX_TEST(!third.is_ready());
    for (int i = 1; i <= 3; ++i) {
        c.set(10 * i, static_cast<std::size_t>(i));
    }
    HPX_TEST_EQ(third.get(), 30);
    HPX_TEST_EQ(first.get(), 10);
    HPX_TEST_EQ(c.get(hpx::launch::sync, 2), 20);
}

void one_at_a_time() {
    hpx::lcos::local::one_element_channel<int> c;
    hpx::future<void> sender = hpx::async([c]() mutable {
        for (int i = 0; i != 10; ++i) {
            c.set(i);
        }
    });
    int total = 0;
    for (int i = 0; i != 10; ++i) {
        total += c.get(hpx::launch::sync);
    }
    HPX_TEST_EQ(total, 45);
    sender.get();
}

void closed() {
    hpx::lcos::local::channel<> done;
    hpx::error_code ec(hpx::throwmode::lightweight);
    done.close();
    done.get(hpx::launch::sync, ec);
    HPX_TEST(ec);
    HPX_TEST_THROW(done.set(), hpx::exception);

    hpx::lcos::local::channel<int> alone;
    HPX_TEST_THROW(alone.get(hpx::launch::sync), hpx::exception);  // it would wait for ever
}

void bounded() {
    hpx::lcos::local::channel_mpmc<int> c(4);
    hpx::future<void> producer = hpx::async([&c] {
        for (int i = 0; i != 1000; ++i) {
            while (!c.set(std::move(i))) {
                hpx::this_thread::yield();
            }
        }
    });
    long total = 0;
    for (int i = 0; i != 1000; ++i) {
        int value = 0;
        while (!c.get(&value)) {
            hpx::this_thread::yield();
        }
        total += value;
    }
    HPX_TEST_EQ(total, 499500);
    producer.get();
}

int main() {
    halves();
    ping_pong();
    generations();
    one_at_a_time();
    closed();
    bounded();
    return hpx::util::report_errors();
}
