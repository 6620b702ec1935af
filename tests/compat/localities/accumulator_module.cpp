// SPDX-License-Identifier: BSL-1.0
// What HPX registers of a component, in the source that owns it.
#include "accumulator.hpp"

HPX_REGISTER_COMPONENT_MODULE()

using accumulator_type = hpx::components::component<server::accumulator>;
HPX_REGISTER_COMPONENT(accumulator_type, accumulator)

HPX_REGISTER_ACTION(server::accumulator::reset_action, accumulator_reset_action)
HPX_REGISTER_ACTION(server::accumulator::add_action, accumulator_add_action)
HPX_REGISTER_ACTION(server::accumulator::query_action, accumulator_query_action)
