/* SPDX-License-Identifier: BSL-1.0
 * What sources that `quern cc` and `quern c++` have translated call: tasks with accesses, and waits
 * for them. In C, and without another header, so that it changes nothing of the program it is
 * included into. Not for hand-written programs: they use quern::domain. docs/pragmas.md. */
#ifndef QUERN_OMP_TASK_FUNCTIONS_H
#define QUERN_OMP_TASK_FUNCTIONS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef __SIZE_TYPE__ quern_task_size;
typedef __PTRDIFF_TYPE__ quern_task_distance;

/** A place that makes tasks. `token` is the library's; it begins as null. */
struct quern_task_site {
    const char* function;
    const char* file;
    int line;
    const void* token;
};

enum quern_task_kind {
    quern_task_in,
    quern_task_out,
    quern_task_inout,
    quern_task_concurrent,
    quern_task_commutative,
    quern_task_reduction
};

enum quern_task_flag {
    quern_task_high_priority = 1, /**< before all tasks without it */
    quern_task_communication = 2, /**< target(comm_thread): as task_attributes::communication */
    quern_task_undeferred = 4,    /**< if(0): the call returns when the function has returned */
    quern_task_final = 8          /**< children run at once */
};

/** Elements at equal distances, in up to 4 dimensions. All sizes are in bytes. */
struct quern_task_region {
    int kind;
    int dimensions;
    const volatile void* first;
    quern_task_size element;
    quern_task_distance counts[4];
    quern_task_distance distances[4];
    int op;   /**< of a reduction: the operator's character; 'm' min, 'M' max, 'A' &&, 'O' || */
    int type; /**< of a reduction: 'i' signed, 'u' unsigned, 'f' floating */
    quern_task_size argument; /**< of a reduction: where the arguments have the pointer */
};

struct quern_task {
    struct quern_task_site* site;
    const char* label; /**< or null */
    int priority;      /**< as task_attributes::rank; limited to its range */
    unsigned flags;
    const struct quern_task_region* regions;
    unsigned count;
    void (*run)(void* arguments);
    void* arguments;
    quern_task_size size;               /**< of the arguments, which are copied */
    void (*move)(void* to, void* from); /**< null: by their bytes */
    void (*destroy)(void* arguments);   /**< null: nothing to do */
};

/** Adds a task to the running task of a domain, or else to the calling thread's own domain, whose
 * tasks the end of the thread waits for. The regions and arguments are copied; errno stays.
 * Errors: a message that names the place, and abort(), for a caller that is a task of another kind,
 * a region that cannot be, and too little memory. Any thread. Cost: that of domain::spawn() with an
 * access_list, and a copy of the arguments.
 *
 *     static void run(void* arguments) { ++**(int**)arguments; }
 *     void increment(int* x) {
 *         static struct quern_task_site site = {"increment", "prog.c", 12, 0};
 *         const struct quern_task_region region = {
 *             quern_task_inout, 1, x, sizeof(*x), {1}, {sizeof(*x)}, 0, 0, 0};
 *         const struct quern_task task = {&site, 0, 0, 0, &region, 1, run, &x, sizeof(x), 0, 0};
 *         quern_task_add(&task);
 *         quern_task_wait();
 *     } */
void quern_task_add(const struct quern_task* task);
/** Returns when the caller's tasks are complete. Throws the first exception of one, in C++. */
void quern_task_wait(void);
/** Returns when a task with these accesses could begin. Throws as quern_task_wait() does, after
 * having waited for all, if a task has thrown. */
void quern_task_wait_on(const struct quern_task_region* regions, unsigned count);
/** Leaves the function of the running task by an exception, which C++ must not catch; the function
 * is called again later, behind another ready task. Returns where no task of a domain runs. Ends
 * the process with a message if the task has children or has released an access. */
void quern_task_restart(void);

#ifdef __cplusplus
}

#    if __cplusplus >= 201103L
/* Arguments with constructors, and statements, which are lambdas. */
struct quern_task_place {
    void* at;
};
inline void* operator new(__SIZE_TYPE__, quern_task_place where) noexcept { return where.at; }
inline void operator delete(void*, quern_task_place) noexcept {}

template <class T>
void quern_task_move(void* to, void* from) {
    new (quern_task_place{to}) T(static_cast<T&&>(*static_cast<T*>(from)));
}
template <class T>
void quern_task_destroy(void* object) {
    static_cast<T*>(object)->~T();
}
template <class F>
void quern_task_call(void* object) {
    (*static_cast<F*>(object))();
}

/* The task's function is a lambda, whose captures are its arguments. */
template <class F>
void quern_task_add_lambda(quern_task task, F function) {
    task.run = quern_task_call<F>;
    task.arguments = &function;
    task.size = sizeof(F);
    task.move = quern_task_move<F>;
    task.destroy = quern_task_destroy<F>;
    quern_task_add(&task);
}
#    endif
#endif

#endif
