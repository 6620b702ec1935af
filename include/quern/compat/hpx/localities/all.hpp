// SPDX-License-Identifier: BSL-1.0
// HPX's names for several localities, which quern/compat/hpx.hpp includes where
// QUERN_HPX_LOCALITIES is defined: by the CMake targets quern::hpx_compat_openmpi and
// quern::hpx_compat_mpich. All sources of a program must agree.
#pragma once

#include <quern/compat/hpx/localities/actions.hpp>
#include <quern/compat/hpx/localities/calls.hpp>
#include <quern/compat/hpx/localities/client.hpp>
#include <quern/compat/hpx/localities/collectives.hpp>
#include <quern/compat/hpx/localities/components.hpp>
#include <quern/compat/hpx/localities/id.hpp>
#include <quern/compat/hpx/localities/lcos.hpp>
#include <quern/compat/hpx/localities/names.hpp>
#include <quern/compat/hpx/localities/serialization.hpp>
