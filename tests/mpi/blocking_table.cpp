// SPDX-License-Identifier: BSL-1.0
// Each entry calls one function. `f.code` is its result.
#include "blocking_table.hpp"

namespace quern_test {

namespace {

using frame = blocking_frame;
using entries = std::vector<blocking_entry>;

void free_made(frame& f) { MPI_Comm_free(&f.made); }

void add_communicators(entries& to) {
    to.insert(
        to.end(),
        {{"Comm_split", [](frame& f) { f.code = MPI_Comm_split(f.comm, 0, f.rank, &f.made); },
          nullptr, free_made},
         {"Comm_split_type",
          [](frame& f) {
              f.code = MPI_Comm_split_type(f.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &f.made);
          },
          nullptr, free_made},
         {"Comm_create",
          [](frame& f) {
              MPI_Group all = MPI_GROUP_NULL;
              MPI_Comm_group(f.comm, &all);
              f.code = MPI_Comm_create(f.comm, all, &f.made);
              MPI_Group_free(&all);
          },
          nullptr, free_made},
         {"Comm_create_group",
          [](frame& f) {
              MPI_Group all = MPI_GROUP_NULL;
              MPI_Comm_group(f.comm, &all);
              f.code = MPI_Comm_create_group(f.comm, all, 3, &f.made);
              MPI_Group_free(&all);
          },
          nullptr, free_made},
         {"Comm_dup_with_info",
          [](frame& f) { f.code = MPI_Comm_dup_with_info(f.comm, MPI_INFO_NULL, &f.made); },
          nullptr, free_made},
         {"Comm_free", [](frame& f) { f.code = MPI_Comm_free(&f.made); },
          [](frame& f) { MPI_Comm_dup(f.comm, &f.made); }},
         {"Comm_disconnect", [](frame& f) { f.code = MPI_Comm_disconnect(&f.made); },
          [](frame& f) { MPI_Comm_dup(f.comm, &f.made); }},
         {"Comm_set_info", [](frame& f) { f.code = MPI_Comm_set_info(f.comm, empty_info()); },
          nullptr},
         {"Cart_create",
          [](frame& f) {
              const int sizes[] = {2};
              const int periods[] = {1};
              f.code = MPI_Cart_create(f.comm, 1, sizes, periods, 0, &f.made);
          },
          nullptr, free_made},
         {"Graph_create",
          [](frame& f) {
              const int index[] = {1, 2};
              const int edges[] = {1, 0};
              f.code = MPI_Graph_create(f.comm, 2, index, edges, 0, &f.made);
          },
          nullptr, free_made},
         {"Dist_graph_create_adjacent",
          [](frame& f) {
              const int other[] = {1 - f.rank};
              f.code = MPI_Dist_graph_create_adjacent(f.comm, 1, other, MPI_UNWEIGHTED, 1, other,
                                                      MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &f.made);
          },
          nullptr, free_made},
         {"Dist_graph_create",
          [](frame& f) {
              const int source[] = {f.rank};
              const int degree[] = {1};
              const int other[] = {1 - f.rank};
              f.code = MPI_Dist_graph_create(f.comm, 1, source, degree, other, MPI_UNWEIGHTED,
                                             MPI_INFO_NULL, 0, &f.made);
          },
          nullptr, free_made}});
    static MPI_Comm cart = MPI_COMM_NULL;
    to.push_back({"Cart_sub",
                  [](frame& f) {
                      const int remain[] = {1};
                      f.code = MPI_Cart_sub(cart, remain, &f.made);
                  },
                  [](frame& f) {
                      const int sizes[] = {2};
                      const int periods[] = {1};
                      MPI_Cart_create(f.comm, 1, sizes, periods, 0, &cart);
                  },
                  [](frame& f) {
                      free_made(f);
                      MPI_Comm_free(&cart);
                  }});
}

void add_intercommunicators(entries& to) {
    static MPI_Comm half = MPI_COMM_NULL;
    static MPI_Comm between = MPI_COMM_NULL;
    static constexpr auto k_split = [](frame& f) { MPI_Comm_split(f.comm, f.rank, 0, &half); };
    to.push_back(
        {"Intercomm_create",
         [](frame& f) { f.code = MPI_Intercomm_create(half, 0, f.comm, 1 - f.rank, 5, &f.made); },
         k_split,
         [](frame& f) {
             free_made(f);
             MPI_Comm_free(&half);
         }});
    to.push_back({"Intercomm_merge",
                  [](frame& f) { f.code = MPI_Intercomm_merge(between, f.rank, &f.made); },
                  [](frame& f) {
                      k_split(f);
                      MPI_Intercomm_create(half, 0, f.comm, 1 - f.rank, 5, &between);
                  },
                  [](frame& f) {
                      free_made(f);
                      MPI_Comm_free(&between);
                      MPI_Comm_free(&half);
                  }});
}

void add_buffer(entries& to) {
    to.push_back({"Buffer_detach",
                  [](frame& f) {
                      // Waits until the message has left the buffer.
                      const int value = 4;
                      MPI_Bsend(&value, 1, MPI_INT, 1 - f.rank, 9, f.comm);
                      MPI_Request request = MPI_REQUEST_NULL;
                      MPI_Irecv(&f.data[0], 1, MPI_INT, 1 - f.rank, 9, f.comm, &request);
                      void* buffer = nullptr;
                      int size = 0;
                      f.code = MPI_Buffer_detach(&buffer, &size);
                      MPI_Wait(&request, MPI_STATUS_IGNORE);
                  },
                  [](frame& f) {
                      MPI_Buffer_attach(f.attached.data(), static_cast<int>(f.attached.size()));
                  }});
}

/// Open MPI has no other windows than these under MPI_THREAD_MULTIPLE, without a fast network.
void create_window(frame& f) {
    void* memory = nullptr;
    MPI_Win_allocate(256, sizeof(int), MPI_INFO_NULL, f.comm, &memory, &f.window);
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Comm_group(f.comm, &all);
    const int other[] = {1 - f.rank};
    MPI_Group_incl(all, 1, other, &f.group);
    MPI_Group_free(&all);
}
void free_window(frame& f) {
    MPI_Group_free(&f.group);
    MPI_Win_free(&f.window);
}
void lock_all(frame& f) {
    create_window(f);
    MPI_Win_lock_all(0, f.window);
    MPI_Put(f.data.data(), 1, MPI_INT, 1 - f.rank, 0, 1, MPI_INT, f.window);
}
void unlock_all(frame& f) {
    MPI_Win_unlock_all(f.window);
    free_window(f);
}

void add_windows(entries& to) {
    static constexpr auto k_only_free = [](frame& f) { MPI_Win_free(&f.window); };
    to.insert(to.end(),
              {{"Win_create",
                [](frame& f) {
                    f.code = MPI_Win_create(f.memory.data(), sizeof f.memory, sizeof(int),
                                            MPI_INFO_NULL, f.comm, &f.window);
                },
                nullptr, k_only_free},
               {"Win_allocate",
                [](frame& f) {
                    void* memory = nullptr;
                    f.code = MPI_Win_allocate(64, 4, MPI_INFO_NULL, f.comm, &memory, &f.window);
                },
                nullptr, k_only_free},
               {"Win_allocate_shared",
                [](frame& f) {
                    void* memory = nullptr;
                    f.code =
                        MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, f.comm, &memory, &f.window);
                },
                nullptr, k_only_free},
               {"Win_create_dynamic",
                [](frame& f) { f.code = MPI_Win_create_dynamic(MPI_INFO_NULL, f.comm, &f.window); },
                nullptr, k_only_free},
               {"Win_free", [](frame& f) { f.code = MPI_Win_free(&f.window); },
                [](frame& f) {
                    create_window(f);
                    MPI_Group_free(&f.group);
                }},
               {"Win_set_info", [](frame& f) { f.code = MPI_Win_set_info(f.window, empty_info()); },
                create_window, free_window},
               {"Win_fence", [](frame& f) { f.code = MPI_Win_fence(0, f.window); }, create_window,
                free_window},
               // The epochs of both ranks: each accesses the memory of the other.
               {"Win_start",
                [](frame& f) {
                    MPI_Win_post(f.group, 0, f.window);
                    f.code = MPI_Win_start(f.group, 0, f.window);
                    MPI_Put(f.data.data(), 1, MPI_INT, 1 - f.rank, 0, 1, MPI_INT, f.window);
                    MPI_Win_complete(f.window);
                    MPI_Win_wait(f.window);
                },
                create_window, free_window},
               {"Win_complete",
                [](frame& f) {
                    MPI_Win_post(f.group, 0, f.window);
                    MPI_Win_start(f.group, 0, f.window);
                    f.code = MPI_Win_complete(f.window);
                    MPI_Win_wait(f.window);
                },
                create_window, free_window},
               {"Win_wait",
                [](frame& f) {
                    MPI_Win_post(f.group, 0, f.window);
                    MPI_Win_start(f.group, 0, f.window);
                    MPI_Win_complete(f.window);
                    f.code = MPI_Win_wait(f.window);
                },
                create_window, free_window}});
}

void add_locks(entries& to) {
    to.insert(
        to.end(),
        {{"Win_lock",
          [](frame& f) {
              f.code = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1 - f.rank, 0, f.window);
              MPI_Put(f.data.data(), 1, MPI_INT, 1 - f.rank, 0, 1, MPI_INT, f.window);
              MPI_Win_unlock(1 - f.rank, f.window);
          },
          create_window, free_window},
         {"Win_unlock", [](frame& f) { f.code = MPI_Win_unlock(1 - f.rank, f.window); },
          [](frame& f) {
              create_window(f);
              MPI_Win_lock(MPI_LOCK_SHARED, 1 - f.rank, 0, f.window);
              MPI_Put(f.data.data(), 1, MPI_INT, 1 - f.rank, 0, 1, MPI_INT, f.window);
          },
          free_window},
         {"Win_lock_all",
          [](frame& f) {
              f.code = MPI_Win_lock_all(0, f.window);
              MPI_Win_unlock_all(f.window);
          },
          create_window, free_window},
         {"Win_unlock_all", [](frame& f) { f.code = MPI_Win_unlock_all(f.window); }, lock_all,
          free_window},
         {"Win_flush", [](frame& f) { f.code = MPI_Win_flush(1 - f.rank, f.window); }, lock_all,
          unlock_all},
         {"Win_flush_all", [](frame& f) { f.code = MPI_Win_flush_all(f.window); }, lock_all,
          unlock_all},
         {"Win_flush_local", [](frame& f) { f.code = MPI_Win_flush_local(1 - f.rank, f.window); },
          lock_all, unlock_all},
         {"Win_flush_local_all", [](frame& f) { f.code = MPI_Win_flush_local_all(f.window); },
          lock_all, unlock_all}});
}

}  // namespace

void add_files(std::vector<blocking_entry>& to);
void add_persistent_collectives(std::vector<blocking_entry>& to);

const std::vector<blocking_entry>& blocking_table() {
    static const entries all = [] {
        entries made;
        add_communicators(made);
        add_intercommunicators(made);
        add_buffer(made);
        add_windows(made);
        add_locks(made);
        add_files(made);
        add_persistent_collectives(made);
        return made;
    }();
    return all;
}

const std::vector<std::string_view>& blocking_left_out() {
    static const std::vector<std::string_view> all{"Comm_accept",
                                                   "Comm_connect",
                                                   "Comm_spawn",
                                                   "Comm_spawn_multiple",
                                                   "Comm_join",
                                                   "Open_port",
                                                   "Close_port",
                                                   "Publish_name",
                                                   "Unpublish_name",
                                                   "Lookup_name",
                                                   "Session_init",
                                                   "Session_finalize",
                                                   "Comm_create_from_group",
                                                   "Intercomm_create_from_groups"};
    return all;
}

}  // namespace quern_test
