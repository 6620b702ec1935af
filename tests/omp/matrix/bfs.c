/* SPDX-License-Identifier: BSL-1.0 */
/* Breadth-first search by levels: a lock for each node guards its distance and its parent, a nested
   lock the next frontier. The order of a frontier is open, but distances are not, and of several
   parents the smallest counts: the serial answer must be met. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { k_nodes = 1500, k_degree = 4 };

struct found {
    int distance[k_nodes], parent[k_nodes];
};

static int neighbours[k_nodes][k_degree];
static omp_lock_t locks[k_nodes];
static omp_nest_lock_t frontier_lock;
static struct found parallel, serial;
static int frontier[2][k_nodes], length[2];

/* The caller holds the lock of the frontier: it locks it again. */
static void append(int which, int node) {
    omp_set_nest_lock(&frontier_lock);
    frontier[which][length[which]++] = node;
    omp_unset_nest_lock(&frontier_lock);
}

static void append_all(int which, const int* nodes, int n) {
    omp_set_nest_lock(&frontier_lock);
    for (int i = 0; i < n; ++i)
        append(which, nodes[i]);
    omp_unset_nest_lock(&frontier_lock);
}

static int reach(struct found* found, int from, int node) {
    const int level = found->distance[from] + 1;
    if (found->distance[node] == -1) {
        found->distance[node] = level;
        found->parent[node] = from;
        return 1;
    }
    if (found->distance[node] == level && from < found->parent[node]) found->parent[node] = from;
    return 0;
}

static void search(void) {
    frontier[0][length[0]++] = 0;
    for (int level = 0; length[level % 2] > 0; ++level) {
        const int now = level % 2;
        length[1 - now] = 0;
#pragma omp parallel for schedule(guided)
        for (int i = 0; i < length[now]; ++i) {
            int fresh[k_degree], n = 0;
            const int from = frontier[now][i];
            for (int k = 0; k < k_degree; ++k) {
                const int node = neighbours[from][k];
                if (node == from) continue; /* its distance is read here without its lock */
                if (!omp_test_lock(&locks[node])) omp_set_lock(&locks[node]);
                if (reach(&parallel, from, node)) fresh[n++] = node;
                omp_unset_lock(&locks[node]);
            }
            append_all(1 - now, fresh, n);
        }
    }
}

static void search_serially(void) {
    int queue[k_nodes] = {0}, end = 1;
    for (int i = 0; i < end; ++i) {
        for (int k = 0; k < k_degree; ++k) {
            if (reach(&serial, queue[i], neighbours[queue[i]][k]))
                queue[end++] = neighbours[queue[i]][k];
        }
    }
}

int main(void) {
    uint32_t random = 23;
    for (int i = 0; i < k_nodes; ++i) {
        parallel.distance[i] = serial.distance[i] = parallel.parent[i] = serial.parent[i] =
            i == 0 ? 0 : -1;
        omp_init_lock(&locks[i]);
        for (int k = 0; k < k_degree; ++k) {
            random = random * 1664525u + 1013904223u;
            neighbours[i][k] = k < 2 ? (i + k_nodes + (k == 0 ? 37 : -37)) % k_nodes
                                     : (int)((random >> 8) % k_nodes);
        }
    }
    omp_init_nest_lock(&frontier_lock);
    search();
    search_serially();
    for (int i = 0; i < k_nodes; ++i)
        omp_destroy_lock(&locks[i]);
    omp_destroy_nest_lock(&frontier_lock);
    if (memcmp(&parallel, &serial, sizeof serial) != 0) {
        fputs("bfs: distances or parents differ from the serial ones\n", stderr);
        return 1;
    }
    uint64_t sum = 0;
    for (int i = 0; i < k_nodes; ++i)
        sum = sum * 31 + (uint64_t)(parallel.distance[i] * k_nodes + parallel.parent[i] + 1);
    printf("bfs %016llx\n", (unsigned long long)sum);
    return 0;
}
