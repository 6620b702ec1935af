// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/threads.hpp"

#include <semaphore>
#include <thread>
#include <vector>

namespace bench::block_resume {

namespace {

struct semaphore_place {
    void wait() { m_semaphore.acquire(); }
    void signal() { m_semaphore.release(); }

private:
    std::binary_semaphore m_semaphore{0};
};

const contender semaphore{"block_resume", "semaphore", [](const arguments& a) {
                              return threads_job(a, [size = a.size] {
                                  ring<semaphore_place> tasks(size);
                                  {
                                      std::vector<std::jthread> threads;
                                      for (long i = 0; i < size; ++i) {
                                          threads.emplace_back([&tasks, i] { tasks.take_part(i); });
                                      }
                                      tasks.put_token();
                                  }
                                  return tasks.result();
                              });
                          }};

}  // namespace

}  // namespace bench::block_resume
