/* SPDX-License-Identifier: BSL-1.0 */
/* Statistics of a sample, by the constructs that one member or one after another runs: a text is
   parsed in `single` and given to all by copyprivate, sections compute one statistic each, `masked`
   and `critical` gather, atomic capture hands out tickets. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { k_numbers = 400, k_rounds = 5 };

struct sample {
    int round;
    int count;
    int numbers[k_numbers];
};
struct statistics {
    int64_t sum, squares, least, most;
};

static char text[k_rounds][k_numbers * 8];

static void parse(struct sample* sample, int round) {
    char* rest = text[round];
    sample->round = round;
    sample->count = 0;
    while (*rest != '\0')
        sample->numbers[sample->count++] = (int)strtol(rest, &rest, 10);
}

static void add(struct statistics* s, int64_t x) {
    s->sum += x;
    s->squares += x * x;
    s->least = x < s->least ? x : s->least;
    s->most = x > s->most ? x : s->most;
}

static struct statistics in_sections(const struct sample* sample, int* last) {
    static struct statistics all;
    static int own;
#pragma omp sections lastprivate(own)
    {
        {
            all.sum = 0;
            for (int i = 0; i < sample->count; ++i)
                all.sum += sample->numbers[i];
            own = 1;
        }
#pragma omp section
        {
            all.squares = 0;
            for (int i = 0; i < sample->count; ++i)
                all.squares += (int64_t)sample->numbers[i] * sample->numbers[i];
            own = 2;
        }
#pragma omp section
        {
            all.least = INT64_MAX;
            for (int i = 0; i < sample->count; ++i)
                all.least = sample->numbers[i] < all.least ? sample->numbers[i] : all.least;
            own = 3;
        }
#pragma omp section
        {
            all.most = INT64_MIN;
            for (int i = 0; i < sample->count; ++i)
                all.most = sample->numbers[i] > all.most ? sample->numbers[i] : all.most;
            own = 4;
        }
    }
    const struct statistics copy = all;
    *last = own;
#pragma omp barrier
    return copy;
}

static int differ(struct statistics a, struct statistics b) {
    return a.sum != b.sum || a.squares != b.squares || a.least != b.least || a.most != b.most;
}

int main(void) {
    uint32_t random = 41;
    struct statistics serial[k_rounds], parallel[k_rounds];
    for (int round = 0; round < k_rounds; ++round) {
        serial[round] = (struct statistics){0, 0, INT64_MAX, INT64_MIN};
        char* end = text[round];
        for (int i = 0; i < k_numbers - round; ++i) {
            random = random * 1664525u + 1013904223u;
            const int x = (int)(random >> 16) % 2000 - 1000;
            add(&serial[round], x);
            end += sprintf(end, i == 0 ? "%d" : " %d", x);
        }
    }
    int wrong = 0, members = 0, by_masked = 0, tickets = 0;
    long ticket_sum = 0;
#pragma omp parallel reduction(+ : wrong)
    for (int round = 0; round < k_rounds; ++round) {
        struct sample sample;
        int last = 0, ticket;
#pragma omp single copyprivate(sample)
        parse(&sample, round);
        wrong += sample.round != round || sample.count != k_numbers - round;
        const struct statistics own = in_sections(&sample, &last);
        wrong += differ(own, serial[round]) || last != 4;
#pragma omp masked
        {
            parallel[round] = own;
            by_masked += 1 + omp_get_thread_num();
        }
#pragma omp atomic capture
        ticket = tickets++;
#pragma omp critical
        {
            ticket_sum += ticket;
            ++members;
        }
    }
    uint64_t sum = 0;
    for (int round = 0; round < k_rounds; ++round) {
        wrong += differ(parallel[round], serial[round]);
        sum = sum * 31 + (uint64_t)(parallel[round].sum ^ parallel[round].squares);
    }
    wrong += by_masked != k_rounds || tickets != members ||
             ticket_sum != (long)members * (members - 1) / 2;
    if (wrong != 0) {
        fprintf(stderr, "sections: %d values differ; %d members, %d tickets of sum %ld\n", wrong,
                members, tickets, ticket_sum);
        return 1;
    }
    printf("sections %016llx\n", (unsigned long long)sum);
    return 0;
}
