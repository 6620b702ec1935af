// SPDX-License-Identifier: BSL-1.0
// Heat in one dimension: a partition of the ring at each locality, which sends its ends to its
// neighbours through channels. The result is compared with that of one loop.
#include "checks.hpp"

#include <hpx/hpx.hpp>
#include <hpx/modules/testing.hpp>

#include <cstddef>
#include <string>
#include <vector>

HPX_REGISTER_CHANNEL_DECLARATION(double, stencil_channel)
HPX_REGISTER_CHANNEL(double, stencil_channel)

namespace {

double heat(double left, double middle, double right) {
    return middle + 0.25 * (left - 2 * middle + right);
}
double first_value(std::size_t i) { return static_cast<double>((7 * i) % 11); }

constexpr std::size_t partition_size = 20;
constexpr std::size_t steps = 30;

}  // namespace

struct partition : hpx::components::component_base<partition> {
    explicit partition(std::size_t own) : number(own), values(partition_size) {
        for (std::size_t i = 0; i < partition_size; ++i) {
            values[i] = first_value(own * partition_size + i);
        }
    }

    /// Channels to the own partition, which others find by name.
    void open() {
        from_left = channel(hpx::find_here());
        from_right = channel(hpx::find_here());
        from_left.register_as("stencil/left/" + std::to_string(number)).get();
        from_right.register_as("stencil/right/" + std::to_string(number)).get();
    }
    void run(std::size_t partitions) {
        channel to_left;
        channel to_right;
        to_left.connect_to("stencil/right/" +
                           std::to_string((number + partitions - 1) % partitions));
        to_right.connect_to("stencil/left/" + std::to_string((number + 1) % partitions));
        for (std::size_t step = 0; step < steps; ++step) {
            to_left.set(values.front(), step + 1);
            to_right.set(values.back(), step + 1);
            double const left = from_left.get(hpx::launch::sync, step + 1);
            double const right = from_right.get(hpx::launch::sync, step + 1);
            std::vector<double> next(values.size());
            for (std::size_t i = 0; i < values.size(); ++i) {
                next[i] = heat(i == 0 ? left : values[i - 1], values[i],
                               i + 1 == values.size() ? right : values[i + 1]);
            }
            values = next;
        }
    }
    std::vector<double> get() const { return values; }

    HPX_DEFINE_COMPONENT_ACTION(partition, open)
    HPX_DEFINE_COMPONENT_ACTION(partition, run)
    HPX_DEFINE_COMPONENT_DIRECT_ACTION(partition, get)

    using channel = hpx::distributed::channel<double>;
    std::size_t number;
    std::vector<double> values;
    channel from_left;
    channel from_right;
};
HPX_REGISTER_COMPONENT(hpx::components::component<partition>, stencil_partition)

void check_stencil() {
    std::vector<hpx::id_type> const all = hpx::find_all_localities();
    std::vector<hpx::id_type> parts;
    std::vector<hpx::future<void>> opened;
    for (std::size_t i = 0; i < all.size(); ++i) {
        parts.push_back(hpx::new_<partition>(all[i], i).get());
        opened.push_back(hpx::async<partition::open_action>(parts[i]));
    }
    hpx::wait_all(opened);
    std::vector<hpx::future<void>> running;
    for (hpx::id_type const& part : parts) {
        running.push_back(hpx::async<partition::run_action>(part, parts.size()));
    }
    for (hpx::future<void>& each : running) {
        each.get();
    }

    std::size_t const size = partition_size * parts.size();
    std::vector<double> serial(size);
    for (std::size_t i = 0; i < size; ++i) {
        serial[i] = first_value(i);
    }
    for (std::size_t step = 0; step < steps; ++step) {
        std::vector<double> next(size);
        for (std::size_t i = 0; i < size; ++i) {
            next[i] = heat(serial[(i + size - 1) % size], serial[i], serial[(i + 1) % size]);
        }
        serial = next;
    }
    std::vector<double> together;
    for (hpx::id_type const& part : parts) {
        std::vector<double> const values = hpx::async<partition::get_action>(part).get();
        together.insert(together.end(), values.begin(), values.end());
    }
    HPX_TEST(together == serial);
}
