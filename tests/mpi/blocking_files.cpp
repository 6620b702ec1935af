// SPDX-License-Identifier: BSL-1.0
// Files, and persistent requests of collective calls (MPI 4), for the table of blocking functions.
#include "blocking_table.hpp"

namespace quern_test {

namespace {

using frame = blocking_frame;

constexpr int k_open = MPI_MODE_CREATE | MPI_MODE_RDWR;

void open(frame& f) { MPI_File_open(f.comm, f.path.c_str(), k_open, MPI_INFO_NULL, &f.file); }
void open_filled(frame& f) {
    open(f);
    MPI_File_set_size(f.file, 4096);
}
void close(frame& f) { MPI_File_close(&f.file); }

/// `name` with _begin and _end around other calls.
#define QUERN_SPLIT_CALL(NAME, BEGIN_ARGUMENTS)                                      \
    {#NAME "_begin",                                                                 \
     [](frame& f) {                                                                  \
         f.code = MPI_##NAME##_begin BEGIN_ARGUMENTS;                                \
         MPI_##NAME##_end(f.file, f.data.data(), MPI_STATUS_IGNORE);                 \
     },                                                                              \
     open_filled, close},                                                            \
    {                                                                                \
#NAME "_end",                                                                      \
         [](frame& f) { f.code = MPI_##NAME##_end(f.file, f.data.data(), MPI_STATUS_IGNORE); }, \
         [](frame& f) {                                                                     \
             open_filled(f);                                                                \
             MPI_##NAME##_begin BEGIN_ARGUMENTS;                                            \
         },                                                                                 \
         close \
    }

void add_split_calls(std::vector<blocking_entry>& to) {
    to.insert(to.end(),
              {QUERN_SPLIT_CALL(File_read_all, (f.file, f.data.data(), 2, MPI_INT)),
               QUERN_SPLIT_CALL(File_write_all, (f.file, f.data.data(), 2, MPI_INT)),
               QUERN_SPLIT_CALL(File_read_at_all, (f.file, 8 * f.rank, f.data.data(), 2, MPI_INT)),
               QUERN_SPLIT_CALL(File_write_at_all, (f.file, 8 * f.rank, f.data.data(), 2, MPI_INT)),
               QUERN_SPLIT_CALL(File_read_ordered, (f.file, f.data.data(), 2, MPI_INT)),
               QUERN_SPLIT_CALL(File_write_ordered, (f.file, f.data.data(), 2, MPI_INT))});
}

}  // namespace

void add_files(std::vector<blocking_entry>& to);
void add_files(std::vector<blocking_entry>& to) {
    to.insert(
        to.end(),
        {{"File_open",
          [](frame& f) {
              f.code = MPI_File_open(f.comm, f.path.c_str(), k_open, MPI_INFO_NULL, &f.file);
          },
          nullptr, close},
         {"File_close", [](frame& f) { f.code = MPI_File_close(&f.file); }, open},
         {"File_delete",
          [](frame& f) {
              const std::string own = f.path + (f.rank == 0 ? "0" : "1");
              MPI_File file = MPI_FILE_NULL;
              MPI_File_open(MPI_COMM_SELF, own.c_str(), k_open, MPI_INFO_NULL, &file);
              MPI_File_close(&file);
              f.code = MPI_File_delete(own.c_str(), MPI_INFO_NULL);
          }},
         {"File_set_size", [](frame& f) { f.code = MPI_File_set_size(f.file, 4096); }, open, close},
         {"File_preallocate", [](frame& f) { f.code = MPI_File_preallocate(f.file, 4096); }, open,
          close},
         {"File_get_position_shared",
          [](frame& f) {
              MPI_Offset at = 0;
              f.code = MPI_File_get_position_shared(f.file, &at);
          },
          open, close},
         {"File_seek_shared",
          [](frame& f) { f.code = MPI_File_seek_shared(f.file, 0, MPI_SEEK_SET); }, open, close},
         {"File_set_atomicity", [](frame& f) { f.code = MPI_File_set_atomicity(f.file, 1); }, open,
          close},
         {"File_set_info", [](frame& f) { f.code = MPI_File_set_info(f.file, empty_info()); }, open,
          close},
         {"File_set_view",
          [](frame& f) {
              f.code = MPI_File_set_view(f.file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
          },
          open, close},
         {"File_sync", [](frame& f) { f.code = MPI_File_sync(f.file); }, open, close},
         {"File_read_ordered",
          [](frame& f) {
              f.code = MPI_File_read_ordered(f.file, f.data.data(), 2, MPI_INT, MPI_STATUS_IGNORE);
          },
          open_filled, close},
         {"File_write_ordered",
          [](frame& f) {
              f.code = MPI_File_write_ordered(f.file, f.data.data(), 2, MPI_INT, MPI_STATUS_IGNORE);
          },
          open, close}});
    add_split_calls(to);
}

void add_persistent_collectives(std::vector<blocking_entry>& to);
#if MPI_VERSION >= 4

namespace {

const int k_two[] = {1, 1};
const int k_at[] = {0, 1};
const int k_bytes_at[] = {0, 4};
const MPI_Aint k_far_at[] = {0, 4};
const MPI_Datatype k_ints[] = {MPI_INT, MPI_INT};

MPI_Comm g_graph = MPI_COMM_NULL;

void free_request(frame& f) { MPI_Request_free(&f.request); }
void make_graph(frame& f) {
    const int other[] = {1 - f.rank, 1 - f.rank};
    MPI_Dist_graph_create_adjacent(f.comm, 2, other, MPI_UNWEIGHTED, 2, other, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &g_graph);
}
void free_graph(frame& f) {
    MPI_Request_free(&f.request);
    MPI_Comm_free(&g_graph);
}

#    define QUERN_INIT(NAME, ...)                                                                                \
        {                                                                                                        \
#            NAME "_init",                                                                                       \
                [](frame &                                                                                       \
                   f) { f.code =                                                                                 \
                            MPI_##NAME##_init(__VA_ARGS__, f.comm, MPI_INFO_NULL, &f.request); },           \
                                                                                                    nullptr,     \
                                                                                                    free_request \
        }
#    define QUERN_NEIGHBOUR_INIT(NAME, ...)                                                  \
        {                                                                                    \
            "Neighbor_" #NAME "_init",                                                       \
                [](frame& f) {                                                               \
                    f.code = MPI_Neighbor_##NAME##_init(__VA_ARGS__, g_graph, MPI_INFO_NULL, \
                                                        &f.request);                         \
                },                                                                           \
                make_graph, free_graph                                                       \
        }

}  // namespace

void add_persistent_collectives(std::vector<blocking_entry>& to) {
    to.insert(to.end(),
              {{"Barrier_init",
                [](frame& f) { f.code = MPI_Barrier_init(f.comm, MPI_INFO_NULL, &f.request); },
                nullptr, free_request},
               QUERN_INIT(Bcast, f.data.data(), 1, MPI_INT, 0),
               QUERN_INIT(Allgather, &f.data[4], 1, MPI_INT, f.data.data(), 1, MPI_INT),
               QUERN_INIT(Allgatherv, &f.data[4], 1, MPI_INT, f.data.data(), k_two, k_at, MPI_INT),
               QUERN_INIT(Allreduce, &f.data[4], f.data.data(), 1, MPI_INT, MPI_SUM),
               QUERN_INIT(Alltoall, &f.data[4], 1, MPI_INT, f.data.data(), 1, MPI_INT),
               QUERN_INIT(Alltoallv, &f.data[4], k_two, k_at, MPI_INT, f.data.data(), k_two, k_at,
                          MPI_INT),
               QUERN_INIT(Alltoallw, &f.data[4], k_two, k_bytes_at, k_ints, f.data.data(), k_two,
                          k_bytes_at, k_ints),
               QUERN_INIT(Exscan, &f.data[4], f.data.data(), 1, MPI_INT, MPI_SUM),
               QUERN_INIT(Scan, &f.data[4], f.data.data(), 1, MPI_INT, MPI_SUM),
               QUERN_INIT(Gather, &f.data[4], 1, MPI_INT, f.data.data(), 1, MPI_INT, 0),
               QUERN_INIT(Gatherv, &f.data[4], 1, MPI_INT, f.data.data(), k_two, k_at, MPI_INT, 0),
               QUERN_INIT(Scatter, &f.data[4], 1, MPI_INT, f.data.data(), 1, MPI_INT, 0),
               QUERN_INIT(Scatterv, &f.data[4], k_two, k_at, MPI_INT, f.data.data(), 1, MPI_INT, 0),
               QUERN_INIT(Reduce, &f.data[4], f.data.data(), 1, MPI_INT, MPI_SUM, 0),
               QUERN_INIT(Reduce_scatter, &f.data[4], f.data.data(), k_two, MPI_INT, MPI_SUM),
               QUERN_INIT(Reduce_scatter_block, &f.data[4], f.data.data(), 1, MPI_INT, MPI_SUM),
               QUERN_NEIGHBOUR_INIT(allgather, &f.data[4], 1, MPI_INT, f.data.data(), 1, MPI_INT),
               QUERN_NEIGHBOUR_INIT(allgatherv, &f.data[4], 1, MPI_INT, f.data.data(), k_two, k_at,
                                    MPI_INT),
               QUERN_NEIGHBOUR_INIT(alltoall, &f.data[4], 1, MPI_INT, f.data.data(), 1, MPI_INT),
               QUERN_NEIGHBOUR_INIT(alltoallv, &f.data[4], k_two, k_at, MPI_INT, f.data.data(),
                                    k_two, k_at, MPI_INT),
               QUERN_NEIGHBOUR_INIT(alltoallw, &f.data[4], k_two, k_far_at, k_ints, f.data.data(),
                                    k_two, k_far_at, k_ints)});
}
#else
void add_persistent_collectives(std::vector<blocking_entry>&) {}
#endif

}  // namespace quern_test
