// SPDX-License-Identifier: BSL-1.0
// Functions that read and write files, by their non-blocking twins.
#include "calls/calls.hpp"

#include <cstring>

namespace quern::mpi::detail {

namespace {

constexpr const char* k_why = "has no non-blocking form for data that are not native";

void free_derived(MPI_Datatype& type) {
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = MPI_COMBINER_NAMED;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) {
        PMPI_Type_free(&type);
    }
}

/// Whether data are not converted: all ranks have set the same representation. Calls MPI.
bool is_native(MPI_File file) {
    char representation[MPI_MAX_DATAREP_STRING + 1] = "native";
    MPI_Offset at = 0;
    MPI_Datatype element = MPI_DATATYPE_NULL;
    MPI_Datatype view = MPI_DATATYPE_NULL;
    if (file == MPI_FILE_NULL ||
        PMPI_File_get_view(file, &at, &element, &view, representation) != MPI_SUCCESS) {
        return false;  // the function itself reports the error
    }
    free_derived(element);
    free_derived(view);
    return std::strcmp(representation, "native") == 0;
}

/// In the entrance, if there is one.
bool has_twin(MPI_File file) {
    if (!is_shared()) {
        return is_native(file);
    }
    static constexpr call_kind kind{"MPI_File_get_view"};
    bool found = false;
    run_plain({.kind = &kind.wait}, [&] {
        found = is_native(file);
        return MPI_SUCCESS;
    });
    return found;
}

}  // namespace

int run_file(const call_note& what, posted_operation::post_function post,
             plain_operation::call_function call, MPI_Status* status) noexcept {
    if (!is_shared()) {
        return call();
    }
    if (!has_twin(what.file)) {
        return run_blocking(what, call, k_why);
    }
    auto begin = [&](MPI_Request* made) { return begin_on_file(what, [&] { return post(made); }); };
    return run_twin(what, begin, status);
}

int run_file_collective(const call_note& what, posted_operation::post_function post,
                        plain_operation::call_function call, MPI_Status* status) noexcept {
    if (!has_twin(what.file)) {
        return is_shared() ? run_blocking(what, call, k_why) : call();
    }
    auto begin = [&](MPI_Request* made) { return begin_on_file(what, [&] { return post(made); }); };
    return is_shared() ? run_twin(what, begin, status) : run_alone(what, begin, status);
}

}  // namespace quern::mpi::detail
