// SPDX-License-Identifier: BSL-1.0
// Everything that a program needs to use Quern. Each header below is one concept and can be
// included alone.
#pragma once

#include <quern/algorithms/parallel_for.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/scheduler/settings.hpp>
#include <quern/sync/condition_variable.hpp>
#include <quern/sync/latch.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/sync/semaphore.hpp>
#include <quern/task/async.hpp>
#include <quern/task/dataflow.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/future.hpp>
#include <quern/task/main.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/scope.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/this_task.hpp>
#include <quern/task/when.hpp>
#include <quern/version.hpp>
