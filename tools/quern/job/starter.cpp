// SPDX-License-Identifier: BSL-1.0
// The variables of the two libraries, and the words of their starters.
#include "job/starter.hpp"

#include "command.hpp"
#include "job/rank_keeper.hpp"

#include <quern/settings/settings.hpp>
#include <quern/topology/limits.hpp>
#include <quern/topology/machine.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace quern::tool {

namespace {

/// A variable that a user has set is left as it is.
void set_default(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 0); }

void set_open_mpi(bool is_networked, const std::string& folder) {
    if (::geteuid() == 0) {
        set_default("OMPI_ALLOW_RUN_AS_ROOT", "1");
        set_default("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
    // Copies from another rank's memory need rights that containers do not give.
    set_default("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
    set_default("OMPI_MCA_mpi_yield_when_idle", "1");
    // Else a message without that copy is sent in steps of 96 KiB, and a rank that runs a task
    // delays the next step by the length of the task.
    set_default("OMPI_MCA_pml_ob1_send_pipeline_depth", "64");
    set_default("OMPI_MCA_btl_vader_backing_directory", folder);
    set_default("OMPI_MCA_orte_tmpdir_base", folder);
    if (is_networked) {
        ::setenv("OMPI_MCA_pml", "ob1", 1);
        ::setenv("OMPI_MCA_btl", "self,tcp", 1);
        ::setenv("OMPI_MCA_btl_tcp_if_include", "lo", 1);
        ::setenv("OMPI_MCA_oob_tcp_if_include", "lo", 1);
    }
}

void set_mpich(bool is_networked, const std::string& folder) {
    set_default("UCX_POSIX_DIR", folder);  // for shared memory
    if (is_networked) {
        ::setenv("UCX_TLS", "tcp,self", 1);
        ::setenv("UCX_NET_DEVICES", "lo", 1);
    }
}

}  // namespace

void divide_threads(unsigned ranks) {
    const settings chosen = reading_settings([] { return current_settings(); });
    if (chosen.at("threads").source == setting_source::fallback) {
        const unsigned machine = topology::machine::detect().pu_count();
        const unsigned cpus = topology::read_cpu_limits().effective_cpus(machine);
        ::setenv("QUERN_THREADS", std::to_string(std::max(1u, cpus / ranks)).c_str(), 1);
    }
}

void set_library_variables(mpi_library library, bool is_networked, const std::string& folder) {
    if (library == mpi_library::open_mpi) {
        set_open_mpi(is_networked, folder);
    } else {
        set_mpich(is_networked, folder);
    }
}

std::vector<std::string> starter_words(const mpi_choice& mpi, unsigned ranks,
                                       const std::string& folder) {
    std::vector<std::string> words{mpi.starter};
    if (mpi.library == mpi_library::open_mpi) {
        words.insert(words.end(), {"--oversubscribe", "--bind-to", "none"});
    }
    words.insert(words.end(), {"-n", std::to_string(ranks),
                               std::filesystem::read_symlink("/proc/self/exe").string(),
                               std::string(k_rank_keeper), folder});
    return words;
}

void write_command(const std::string& folder, const std::string& path,
                   const std::vector<std::string>& words) {
    std::ofstream out(fmt::format("{}/{}", folder, k_command_file), std::ios::binary);
    out << path << '\0';
    for (const std::string& each : words) {
        out << each << '\0';
    }
    out.close();
    if (!out) {
        throw std::runtime_error(fmt::format("'{}' cannot be written", folder));
    }
}

}  // namespace quern::tool
