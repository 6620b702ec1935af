/* SPDX-License-Identifier: BSL-1.0 */
/* A pipeline of read, transform and fold, in which "reading" is asynchronous: the task ends by
   `detach` when a thread that OpenMP does not know has filled its buffer and fulfilled its event. A
   second transform's event is fulfilled by another task. The fold has an order, so the serial
   answer must be met exactly. */
#include <omp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { k_blocks = 40, k_slots = 5, k_size = 100 };

struct request {
    int block;
    omp_event_handle_t event;
};

static uint32_t slots[k_slots][k_size];
static struct request requests[k_blocks];
static int requested;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void read_block(int block, uint32_t* to) {
    for (int i = 0; i < k_size; ++i)
        to[i] = (uint32_t)(block * 7919 + i) * 2654435761u;
}

static void transform(uint32_t* block) {
    for (int i = 1; i < k_size; ++i)
        block[i] ^= block[i - 1] >> 3;
}

static uint64_t fold(uint64_t sum, const uint32_t* block) {
    for (int i = 0; i < k_size; ++i)
        sum = sum * 31 + block[i];
    return sum;
}

/* The reader: serves the requests in the order in which they come. */
static void* serve(void* nothing) {
    for (int n = 0; n < k_blocks; ++n) {
        pthread_mutex_lock(&mutex);
        while (requested == n)
            pthread_cond_wait(&changed, &mutex);
        const struct request request = requests[n];
        pthread_mutex_unlock(&mutex);
        read_block(request.block, slots[request.block % k_slots]);
        omp_fulfill_event(request.event);
    }
    return nothing;
}

static void request_block(int block, omp_event_handle_t event) {
    pthread_mutex_lock(&mutex);
    requests[requested].block = block;
    requests[requested++].event = event;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
}

/* Not taskwait: on libgomp 12 it does not run the children of children, on which the events of a
 * team of one depend here. */
static uint64_t run(void) {
    uint64_t sum = 1;
#pragma omp taskgroup
    for (int b = 0; b < k_blocks; ++b) {
        uint32_t* slot = slots[b % k_slots];
        omp_event_handle_t read = (omp_event_handle_t)0, transformed = (omp_event_handle_t)0;
#pragma omp task detach(read) depend(out : slot[0]) firstprivate(b)
        request_block(b, read);
#pragma omp task detach(transformed) depend(inout : slot[0]) firstprivate(slot)
        {
#pragma omp task firstprivate(slot, transformed)
            {
                transform(slot);
                omp_fulfill_event(transformed);
            }
        }
#pragma omp task depend(in : slot[0]) depend(inout : sum) shared(sum) firstprivate(slot)
        sum = fold(sum, slot);
    }
    return sum;
}

int main(void) {
    uint64_t sum = 0, serial = 1;
    pthread_t reader;
    if (pthread_create(&reader, NULL, serve, NULL) != 0) {
        fputs("pipeline_detach: no thread for the reader\n", stderr);
        return 1;
    }
#pragma omp parallel shared(sum)
#pragma omp single
    sum = run();
    pthread_join(reader, NULL);
    for (int b = 0; b < k_blocks; ++b) {
        uint32_t block[k_size];
        read_block(b, block);
        transform(block);
        serial = fold(serial, block);
    }
    if (sum != serial) {
        fprintf(stderr, "pipeline_detach: %016llx, serial answer %016llx\n",
                (unsigned long long)sum, (unsigned long long)serial);
        return 1;
    }
    printf("pipeline_detach %016llx\n", (unsigned long long)sum);
    return 0;
}
