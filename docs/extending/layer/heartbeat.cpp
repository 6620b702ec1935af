// SPDX-License-Identifier: BSL-1.0
#include <quern/heartbeat/heartbeat.hpp>
#include <quern/task/async.hpp>
#include <quern/task/this_task.hpp>

#include <utility>

namespace quern {

heartbeat::heartbeat(std::chrono::milliseconds period, std::function<void()> beat)
    : m_task(quern::async({.name = "heartbeat"}, [this, period, beat = std::move(beat)] {
          while (!m_ends.load(std::memory_order_relaxed)) {
              this_task::sleep_for(period);
              beat();
          }
      })) {}

heartbeat::~heartbeat() {
    m_ends.store(true, std::memory_order_relaxed);
    m_task.wait();
}

}  // namespace quern
