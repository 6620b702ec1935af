/* SPDX-License-Identifier: BSL-1.0 */
/* Knapsack by branch and bound: tasks for the first levels of the tree, the best value read by
   atomic and replaced in a critical region. Branches that may equal the best are kept, and of equal
   choices the smallest set counts, so the answer is one. The serial answer comes from dynamic
   programming over the weights. */
#include <stdint.h>
#include <stdio.h>

enum { k_items = 26, k_room = 180, k_task_levels = 7 };

static int weights[k_items], values[k_items];
static int best;
static uint32_t best_set;

/* What items from `item` on can add at most when they may be cut: the items are sorted by value for
 * weight. */
static int bound(int item, int room) {
    int sum = 0;
    for (; item < k_items && weights[item] <= room; ++item) {
        room -= weights[item];
        sum += values[item];
    }
    return item < k_items ? sum + values[item] * room / weights[item] : sum;
}

static void offer(int value, uint32_t set) {
#pragma omp critical(best)
    {
        if (value > best || (value == best && set < best_set)) {
            best_set = set;
#pragma omp atomic write
            best = value;
        }
    }
}

static void branch(int item, int room, int value, uint32_t set) {
    int known;
#pragma omp atomic read
    known = best;
    if (value + bound(item, room) < known) return;
    if (item == k_items) {
        offer(value, set);
        return;
    }
    if (weights[item] <= room) {
#pragma omp task if (item < k_task_levels) firstprivate(item, room, value, set)
        branch(item + 1, room - weights[item], value + values[item], set | 1u << item);
    }
#pragma omp task if (item < k_task_levels) firstprivate(item, room, value, set)
    branch(item + 1, room, value, set);
}

static void make_items(void) {
    uint32_t random = 17;
    for (int i = 0; i < k_items; ++i) {
        random = random * 1664525u + 1013904223u;
        weights[i] = 5 + (int)(random >> 16) % 25;
        values[i] = weights[i] + (int)(random >> 8) % 12;
    }
    for (int i = 1; i < k_items; ++i) {
        for (int j = i; j > 0 && values[j] * weights[j - 1] > values[j - 1] * weights[j]; --j) {
            const int weight = weights[j], value = values[j];
            weights[j] = weights[j - 1], values[j] = values[j - 1];
            weights[j - 1] = weight, values[j - 1] = value;
        }
    }
}

int main(void) {
    make_items();
#pragma omp parallel
#pragma omp single
    branch(0, k_room, 0, 0);
    int table[k_room + 1] = {0};
    for (int i = 0; i < k_items; ++i) {
        for (int room = k_room; room >= weights[i]; --room) {
            const int with = table[room - weights[i]] + values[i];
            if (with > table[room]) table[room] = with;
        }
    }
    int weight = 0, value = 0;
    for (int i = 0; i < k_items; ++i) {
        weight += best_set >> i & 1 ? weights[i] : 0;
        value += best_set >> i & 1 ? values[i] : 0;
    }
    if (best != table[k_room] || value != best || weight > k_room) {
        fprintf(stderr,
                "branch_and_bound: best %d of a set of value %d and weight %d, serial answer %d\n",
                best, value, weight, table[k_room]);
        return 1;
    }
    printf("branch_and_bound %d %07x\n", best, best_set);
    return 0;
}
