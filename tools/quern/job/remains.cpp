// SPDX-License-Identifier: BSL-1.0
// Finds and removes what a job has left behind.
#include "job/remains.hpp"

#include <quern/topology/detail/text.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>

namespace quern::tool {

namespace {

namespace fs = std::filesystem;

constexpr const char* k_shared_memory = "/dev/shm";
constexpr std::string_view k_folder_begin = "quern-run-";  // then process and random letters

/// This process has one thread when it waits for a job.
std::vector<pid_t> children() {
    std::ifstream file(fmt::format("/proc/self/task/{}/children", ::getpid()));
    std::vector<pid_t> all;
    for (pid_t each = 0; file >> each;) {
        all.push_back(each);
    }
    return all;
}

/// It is this user's, its process has ended, and none in another container has locked it.
bool is_left_over(const fs::path& folder) {
    const std::string name = folder.filename().string();
    struct stat about {};
    if (!name.starts_with(k_folder_begin) || ::lstat(folder.c_str(), &about) != 0 ||
        about.st_uid != ::geteuid() || !S_ISDIR(about.st_mode)) {
        return false;
    }
    std::string_view number = name;
    number.remove_prefix(k_folder_begin.size());
    const auto process = topology::detail::parse_number<pid_t>(number.substr(0, number.find('-')));
    if (!process || *process <= 0 || ::kill(*process, 0) == 0 || errno != ESRCH) {
        return false;
    }
    const int lock = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool is_free = lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) == 0;
    ::close(lock);
    return is_free;
}

void remove_left_over(const fs::path& in) {
    std::error_code failed;
    for (fs::directory_iterator each(in, failed), end; !failed && each != end;
         each.increment(failed)) {
        if (is_left_over(each->path())) {
            std::error_code ignored;
            fs::remove_all(each->path(), ignored);
        }
    }
}

/// Whether a process that this user may look at maps the file.
bool is_mapped(const std::string& path) {
    std::error_code failed;
    for (fs::directory_iterator each("/proc", failed), end; !failed && each != end;
         each.increment(failed)) {
        const std::string name = each->path().filename().string();
        if (!topology::detail::parse_number<pid_t>(name)) {
            continue;
        }
        std::ifstream maps(each->path() / "maps");
        for (std::string line; std::getline(maps, line);) {
            if (line.find(path) != std::string::npos) {
                return true;
            }
        }
    }
    return false;
}

void remove_files(std::chrono::system_clock::time_point begin) {
    constexpr std::string_view k_of_mpich = "mpich_shar_tmp";
    std::error_code failed;
    for (fs::directory_iterator each(k_shared_memory, failed), end; !failed && each != end;
         each.increment(failed)) {
        const std::string path = each->path().string();
        struct stat about {};
        if (each->path().filename().string().starts_with(k_of_mpich) &&
            ::lstat(path.c_str(), &about) == 0 && about.st_uid == ::geteuid() &&
            about.st_ctim.tv_sec >= std::chrono::system_clock::to_time_t(begin) &&
            !is_mapped(path)) {
            ::unlink(path.c_str());
        }
    }
}

}  // namespace

void adopt_orphans() {
    if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
        throw std::system_error(errno, std::generic_category(), "PR_SET_CHILD_SUBREAPER");
    }
}

unsigned end_children(std::chrono::milliseconds patience, pid_t spared) {
    const auto end = std::chrono::steady_clock::now() + patience;
    std::vector<pid_t> seen;
    while (std::chrono::steady_clock::now() < end) {
        std::vector<pid_t> left = children();
        std::erase(left, spared);
        if (left.empty()) {
            break;
        }
        for (const pid_t each : left) {
            if (::waitpid(each, nullptr, WNOHANG) != 0) {  // it had ended
                continue;
            }
            if (std::find(seen.begin(), seen.end(), each) == seen.end()) {
                seen.push_back(each);
            }
            ::kill(each, SIGKILL);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return static_cast<unsigned>(seen.size());
}

job_folder::job_folder() {
    std::error_code failed;
    const fs::path temporary = fs::temp_directory_path(failed);
    for (const fs::path& in : {fs::path(k_shared_memory), failed ? fs::path("/tmp") : temporary}) {
        remove_left_over(in);
        m_path = fmt::format("{}/{}{}-XXXXXX", in.string(), k_folder_begin, ::getpid());
        if (::mkdtemp(m_path.data()) != nullptr) {
            m_lock = ::open(m_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            ::flock(m_lock, LOCK_EX);
            return;
        }
    }
    throw std::runtime_error(
        fmt::format("'{}': no folder for the job: {}", m_path, std::strerror(errno)));
}

job_folder::~job_folder() {
    std::error_code ignored;
    fs::remove_all(m_path, ignored);
    ::close(m_lock);
}

void remove_segments(const std::vector<pid_t>& ranks, std::chrono::system_clock::time_point begin) {
    remove_files(begin);
    shmid_ds about{};
    shm_info all{};
    const int last = ::shmctl(0, SHM_INFO, reinterpret_cast<shmid_ds*>(&all));
    for (int i = 0; i <= last; ++i) {
        const int segment = ::shmctl(i, SHM_STAT, &about);
        if (segment >= 0 && about.shm_nattch == 0 &&
            about.shm_ctime >= std::chrono::system_clock::to_time_t(begin) &&
            std::find(ranks.begin(), ranks.end(), about.shm_cpid) != ranks.end()) {
            ::shmctl(segment, IPC_RMID, nullptr);
        }
    }
}

}  // namespace quern::tool
