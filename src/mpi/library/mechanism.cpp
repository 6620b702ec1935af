// SPDX-License-Identifier: BSL-1.0
// The table of settings of this layer, and what was chosen.
#include "library/mechanism.hpp"

#include <quern/scheduler/detail/communication.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/settings/settings.hpp>

#include <mpi.h>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <string_view>
#include <vector>

namespace quern::mpi::detail {

namespace {

using accepted_words = std::vector<std::string_view>;

constexpr setting k_mpi_settings[] = {
    {.name = "mpi-mechanism",
     .owner = "mpi",
     .type = setting_type::word,
     .words =
         [] {
             return accepted_words{"library", "thread", "restart"};
         },
     .fallback = "library",
     .help = "how tasks wait for messages: suspended; those marked .communication on a thread "
             "above the workers; abandoned by mpi::wait_or_restart and queued again"},
    {.name = "mpi-serialise",
     .owner = "mpi",
     .type = setting_type::word,
     .words =
         [] {
             return accepted_words{"on", "off", "auto"};
         },
     .fallback = "auto",
     .help = "whether tasks of a domain marked .communication run one after the other, in the "
             "order of their creation; auto: with mpi-mechanism=thread"},
    {.name = "mpi-threads",
     .owner = "mpi",
     .type = setting_type::word,
     .words =
         [] {
             return accepted_words{"serialized", "multiple"};
         },
     .fallback = "serialized",
     .help = "thread level asked of MPI, if the program asks for less; multiple: calls without a "
             "non-blocking form do not keep others out"},
    {.name = "mpi-poll-us",
     .owner = "mpi",
     .type = setting_type::number,
     .least = 0,
     .most = 1'000'000,
     .fallback = "1000",  // messages of a megabyte arrive within it (guessed)
     .help = "microseconds for which idle workers look without pause whether messages have come, "
             "after an operation has begun or ended; then at intervals"}};

constinit std::atomic<mechanism> g_mechanism{mechanism::library};
constinit std::atomic<bool> g_beside{false};

mechanism mechanism_of(const settings& chosen) {
    const std::string_view text = chosen.at("mpi-mechanism").text;
    return text == "thread"    ? mechanism::thread
           : text == "restart" ? mechanism::restart
                               : mechanism::library;
}

quern::detail::communication_plan plan_of(const settings& chosen) {
    const bool has_thread = mechanism_of(chosen) == mechanism::thread;
    const std::string_view order = chosen.at("mpi-serialise").text;
    return {.has_thread = has_thread,
            .is_ordered = order == "on" || (order == "auto" && has_thread)};
}

}  // namespace

mechanism chosen_mechanism() noexcept { return g_mechanism.load(std::memory_order_relaxed); }

void add_mechanisms() {
    static constinit std::once_flag added;
    quern::detail::add_scheduler_settings();  // first in the help
    std::call_once(added, [] {
        register_settings(k_mpi_settings);
        quern::detail::plan_communication_by(plan_of);
    });
}

void obey_mechanism(const settings& chosen) noexcept {
    g_mechanism.store(mechanism_of(chosen), std::memory_order_relaxed);
}

std::chrono::microseconds eager_time(const settings& chosen) {
    return std::chrono::microseconds(chosen.number("mpi-poll-us").value_or(0));
}

int wanted_level() {
    return current_settings().at("mpi-threads").text == "multiple" ? MPI_THREAD_MULTIPLE
                                                                   : MPI_THREAD_SERIALIZED;
}

bool may_call_beside() noexcept { return g_beside.load(std::memory_order_relaxed); }

int note_level(int wanted, int obtained) noexcept {
    g_beside.store(wanted >= MPI_THREAD_MULTIPLE && obtained >= MPI_THREAD_MULTIPLE,
                   std::memory_order_relaxed);
    return promised_level(obtained);
}

int promised_level(int of_library) noexcept {
    return may_call_beside() ? of_library : std::min<int>(of_library, MPI_THREAD_SERIALIZED);
}

}  // namespace quern::mpi::detail
