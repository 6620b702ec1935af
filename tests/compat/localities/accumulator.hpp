// SPDX-License-Identifier: BSL-1.0
// A component that sums, its actions, and the client that programs use.
#pragma once

#include <hpx/include/actions.hpp>
#include <hpx/include/components.hpp>
#include <hpx/include/lcos.hpp>

#include <cstdint>
#include <utility>

namespace server {

class accumulator
    : public hpx::components::locking_hook<hpx::components::component_base<accumulator>> {
public:
    accumulator() = default;
    explicit accumulator(std::int64_t first) : value_(first) {}

    void reset() { value_ = 0; }
    void add(std::int64_t number) {
        std::int64_t const before = value_;
        hpx::this_thread::yield();  // another action would run here without the hook
        value_ = before + number;
    }
    std::int64_t query() const { return value_; }
    hpx::id_type self() const { return this->get_id(); }

    HPX_DEFINE_COMPONENT_ACTION(accumulator, reset);
    HPX_DEFINE_COMPONENT_ACTION(accumulator, add);
    HPX_DEFINE_COMPONENT_ACTION(accumulator, query);
    HPX_DEFINE_COMPONENT_DIRECT_ACTION(accumulator, self, whoami_action)

private:
    std::int64_t value_ = 0;
};

}  // namespace server

HPX_REGISTER_ACTION_DECLARATION(server::accumulator::reset_action, accumulator_reset_action)
HPX_REGISTER_ACTION_DECLARATION(server::accumulator::add_action, accumulator_add_action)
HPX_REGISTER_ACTION_DECLARATION(server::accumulator::query_action, accumulator_query_action)

class accumulator : public hpx::components::client_base<accumulator, server::accumulator> {
    using base_type = hpx::components::client_base<accumulator, server::accumulator>;

public:
    accumulator() = default;
    accumulator(hpx::future<hpx::id_type>&& id) : base_type(std::move(id)) {}
    accumulator(hpx::id_type&& id) : base_type(std::move(id)) {}

    void reset() { server::accumulator::reset_action()(this->get_id()); }
    hpx::future<void> add_later(std::int64_t number) {
        return hpx::async<server::accumulator::add_action>(this->get_id(), number);
    }
    void add(std::int64_t number) {
        hpx::async<server::accumulator::add_action>(hpx::launch::async, this->get_id(), number)
            .get();
    }
    hpx::future<std::int64_t> query_later() const {
        return hpx::async(server::accumulator::query_action(), this->get_id());
    }
    std::int64_t query() const {
        return hpx::sync<server::accumulator::query_action>(this->get_id());
    }
};
