// SPDX-License-Identifier: BSL-1.0
// HPX's names on Quern, in namespace hpx: programs written for HPX's local API compile with this
// header set and run on Quern. What it contains, and what is missing: docs/porting/hpx.md.
//
// Programs need no change: the CMake target hpx_compat (quern::hpx_compat) adds a folder of headers
// hpx/*.hpp, all of which include this one. New programs should use Quern's own names, which are
// fewer and check more. Not part of quern/quern.hpp.
#pragma once

#include <quern/compat/hpx/algorithm.hpp>
#include <quern/compat/hpx/async.hpp>
#include <quern/compat/hpx/bounded_channel.hpp>
#include <quern/compat/hpx/channel.hpp>
#include <quern/compat/hpx/errors.hpp>
#include <quern/compat/hpx/executors.hpp>
#include <quern/compat/hpx/for_loop.hpp>
#include <quern/compat/hpx/format.hpp>
#include <quern/compat/hpx/functional.hpp>
#include <quern/compat/hpx/future.hpp>
#include <quern/compat/hpx/gates.hpp>
#include <quern/compat/hpx/guards.hpp>
#include <quern/compat/hpx/init.hpp>
#include <quern/compat/hpx/latches.hpp>
#include <quern/compat/hpx/numeric.hpp>
#include <quern/compat/hpx/promise.hpp>
#include <quern/compat/hpx/ready_futures.hpp>
#include <quern/compat/hpx/resource.hpp>
#include <quern/compat/hpx/shared_mutex.hpp>
#include <quern/compat/hpx/sort.hpp>
#include <quern/compat/hpx/synchronization.hpp>
#include <quern/compat/hpx/thread.hpp>
#include <quern/compat/hpx/thread_specific_ptr.hpp>
#include <quern/compat/hpx/threads.hpp>
#include <quern/compat/hpx/timing.hpp>
#include <quern/compat/hpx/unwrap.hpp>
#include <quern/compat/hpx/wait.hpp>
#include <quern/compat/hpx/when.hpp>

#if defined(QUERN_HPX_LOCALITIES)
#    include <quern/compat/hpx/localities/all.hpp>
#else
#    include <quern/compat/hpx/actions.hpp>
#endif
