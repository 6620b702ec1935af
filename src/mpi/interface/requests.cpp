// SPDX-License-Identifier: BSL-1.0
// async and bind: operations that tell a future, or drop a hold.
#include <quern/mpi/requests.hpp>

#include "calls/calls.hpp"
#include "messages/open_requests.hpp"
#include "progress/pools.hpp"

#include <quern/scheduler/runtime.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/task_hold.hpp>

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace quern::mpi {

namespace {

using detail::call_kind;
using detail::engine;

std::string words_of(int code) {
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    return PMPI_Error_string(code, text, &length) == MPI_SUCCESS ? std::string(text)
                                                                 : "error " + std::to_string(code);
}

/// Waits for the end of a request that it owns, and destroys itself when it has told of it.
class owned_operation : public detail::operation {
public:
    owned_operation(const detail::call_note& what, MPI_Request taken)
        : operation(what, taken), m_seen(1, &request, &m_status, 1) {
        status = &m_status;
    }
    virtual ~owned_operation() = default;

    bool begin() final {
        int is_done = 0;
        code = detail::next::Test(&request, &is_done, &m_status);
        return is_done != 0 || code != MPI_SUCCESS;
    }

protected:
    /// With its error in it. Tells traces. The request has ended, also with an error.
    MPI_Status result() noexcept {
        m_seen.end_all(code);
        request = MPI_REQUEST_NULL;
        m_status.MPI_ERROR = code;
        return m_status;
    }

private:
    MPI_Status m_status{};
    detail::ended_requests m_seen;
};

class promised_operation final : public owned_operation {
public:
    using owned_operation::owned_operation;
    future<MPI_Status> get_future() { return m_promise.get_future(); }

    void tell() noexcept override {
        const std::unique_ptr<promised_operation> self(this);
        const MPI_Status ended = result();
        if (code == MPI_SUCCESS) {
            m_promise.set_value(ended);
        } else {
            m_promise.set_exception(std::make_exception_ptr(error(code)));
        }
    }

private:
    promise<MPI_Status> m_promise;
};

class bound_operation final : public owned_operation {
public:
    bound_operation(const detail::call_note& what, MPI_Request taken, MPI_Status* to)
        : owned_operation(what, taken), m_to(to) {}
    void hold(task_hold until_told) noexcept { m_hold = std::move(until_told); }

    void tell() noexcept override {
        const std::unique_ptr<bound_operation> self(this);
        const MPI_Status ended = result();
        if (m_to != nullptr) {
            *m_to = ended;
        }
        m_hold.drop();
    }

private:
    MPI_Status* m_to;
    task_hold m_hold;
};

}  // namespace

error::error(int code) : std::runtime_error("quern: MPI: " + words_of(code)), m_code(code) {}

future<MPI_Status> async(MPI_Request request) {
    static constexpr call_kind kind{"quern::mpi::async"};
    auto made =
        std::make_unique<promised_operation>(detail::call_note{.kind = &kind.wait}, request);
    future<MPI_Status> ended = made->get_future();
    if (!detail::is_shared()) {
        runtime::default_instance();
    }
    engine::of_process().start(*made.release());
    return ended;
}

void bind(std::span<const MPI_Request> requests, std::span<MPI_Status> statuses) {
    static constexpr call_kind kind{"quern::mpi::bind"};
    if (!statuses.empty() && statuses.size() != requests.size()) {
        throw std::invalid_argument("quern: mpi::bind of " + std::to_string(requests.size()) +
                                    " requests with " + std::to_string(statuses.size()) +
                                    " statuses; accepted: none, or as many as requests");
    }
    std::vector<std::unique_ptr<bound_operation>> made;
    made.reserve(requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
        made.push_back(
            std::make_unique<bound_operation>(detail::call_note{.kind = &kind.wait}, requests[i],
                                              statuses.empty() ? nullptr : &statuses[i]));
        made.back()->hold(this_task::hold());
    }
    for (auto& one : made) {
        engine::of_process().start(*one.release());
    }
}

}  // namespace quern::mpi
