// SPDX-License-Identifier: BSL-1.0
// Everything that a program needs to use Quern. Each header below is one concept and can be
// included alone.
#pragma once

#include <quern/algorithms/parallel_for.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/scheduler/settings.hpp>
#include <quern/sync/and_gate.hpp>
#include <quern/sync/barrier.hpp>
#include <quern/sync/call_once.hpp>
#include <quern/sync/channel.hpp>
#include <quern/sync/condition_variable.hpp>
#include <quern/sync/condition_variable_any.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/full_empty.hpp>
#include <quern/sync/guard.hpp>
#include <quern/sync/latch.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/sync/recursive_mutex.hpp>
#include <quern/sync/semaphore.hpp>
#include <quern/sync/shared_mutex.hpp>
#include <quern/sync/sliding_semaphore.hpp>
#include <quern/sync/trigger.hpp>
#include <quern/task/async.hpp>
#include <quern/task/await.hpp>
#include <quern/task/coroutine.hpp>
#include <quern/task/dataflow.hpp>
#include <quern/task/exceptions.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/future.hpp>
#include <quern/task/main.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/ready_at.hpp>
#include <quern/task/scope.hpp>
#include <quern/task/split_future.hpp>
#include <quern/task/stop.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/this_task.hpp>
#include <quern/task/unwrapping.hpp>
#include <quern/task/when.hpp>
#include <quern/task/when_each.hpp>
#include <quern/version.hpp>
