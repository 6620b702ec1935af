// SPDX-License-Identifier: BSL-1.0
// What a job of MPI ranks may leave behind: processes, and shared memory that their library would
// have removed at its end. Used by `quern run -n`, which ends only what the job has made.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace quern::tool {

/// From now on, processes whose parents end become children of this one, so that they are found.
void adopt_orphans();

/// Kills the children of this process, and theirs, until there are none or the patience is over;
/// `spared` and its descendants live on. Returns how many it found.
unsigned end_children(std::chrono::milliseconds patience, pid_t spared = 0);

/// A folder for files of one job, in /dev/shm where that can be written, removed with its content.
/// Those of earlier jobs of this user that were killed are removed when one is made.
class job_folder {
public:
    job_folder();
    ~job_folder();
    job_folder(const job_folder&) = delete;
    job_folder& operator=(const job_folder&) = delete;
    const std::string& path() const noexcept { return m_path; }

private:
    std::string m_path;
    int m_lock = -1;  ///< held while the job runs
};

/// Removes what ranks of a job that was killed have left: files that MPICH makes in /dev/shm and
/// removes at once, if they are this user's, as young as the job, and mapped by no process; and
/// segments of System V that these processes made and no process uses.
void remove_segments(const std::vector<pid_t>& ranks, std::chrono::system_clock::time_point begin);

}  // namespace quern::tool
