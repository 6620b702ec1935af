! SPDX-License-Identifier: BSL-1.0
! Fortran: loops, reductions, threadprivate data, locks, tasks, ordered regions.
module counters
    implicit none
    integer :: own = 0
    !$omp threadprivate(own)
contains
    recursive function fib(n) result(r)
        integer, intent(in) :: n
        integer :: r, a, b
        if (n < 2) then
            r = n
            return
        end if
        !$omp task shared(a)
        a = fib(n - 1)
        !$omp end task
        !$omp task shared(b)
        b = fib(n - 2)
        !$omp end task
        !$omp taskwait
        r = a + b
    end function fib
end module counters

program matrices
    use omp_lib
    use counters
    implicit none
    integer, parameter :: n = 60
    real(8) :: a(n, n), b(n, n), c(n, n), serial(n, n), trace
    integer :: i, j, k, failures, total, next, answer
    integer(omp_lock_kind) :: lock
    integer(omp_nest_lock_kind) :: nest
    integer(omp_sched_kind) :: kind

    failures = 0
    do j = 1, n
        do i = 1, n
            a(i, j) = i + 2 * j
            b(i, j) = i - j
        end do
    end do
    serial = matmul(a, b)
    c = 0
    !$omp parallel do collapse(2) schedule(dynamic, 7) private(k)
    do j = 1, n
        do i = 1, n
            do k = 1, n
                c(i, j) = c(i, j) + a(i, k) * b(k, j)
            end do
        end do
    end do
    !$omp end parallel do
    if (any(abs(c - serial) > 1d-9)) failures = failures + 1

    trace = 0
    !$omp parallel do schedule(guided) reduction(+:trace)
    do i = 1, n
        trace = trace + c(i, i)
    end do
    !$omp end parallel do
    if (abs(trace - sum([(serial(i, i), i = 1, n)])) > 1d-6) failures = failures + 1

    !$omp parallel
    own = omp_get_thread_num() + 1
    !$omp end parallel
    total = 0
    !$omp parallel reduction(+:total)
    if (own /= omp_get_thread_num() + 1) total = total + 1
    !$omp end parallel
    if (total /= 0) failures = failures + 1

    call omp_init_lock(lock)
    call omp_init_nest_lock(nest)
    total = 0
    !$omp parallel do
    do i = 1, 200
        call omp_set_lock(lock)
        total = total + 1
        call omp_unset_lock(lock)
        call omp_set_nest_lock(nest)
        call omp_set_nest_lock(nest)
        total = total
        call omp_unset_nest_lock(nest)
        call omp_unset_nest_lock(nest)
    end do
    !$omp end parallel do
    call omp_destroy_lock(lock)
    call omp_destroy_nest_lock(nest)
    if (total /= 200) failures = failures + 1

    next = 1
    !$omp parallel do ordered schedule(dynamic)
    do i = 1, 50
        !$omp ordered
        if (next /= i) failures = failures + 1
        next = i + 1
        !$omp end ordered
    end do
    !$omp end parallel do

    !$omp parallel
    !$omp single
    answer = fib(15)
    !$omp end single
    !$omp workshare
    c = a + b
    !$omp end workshare
    !$omp end parallel
    if (answer /= 610 .or. any(abs(c - a - b) > 1d-9)) failures = failures + 1

    call omp_set_schedule(omp_sched_guided, 4)
    call omp_get_schedule(kind, k)
    if (kind /= omp_sched_guided .or. k /= 4) failures = failures + 1
    call omp_set_dynamic(.false.)
    if (omp_in_parallel() .or. omp_get_dynamic()) failures = failures + 1

    if (failures /= 0) then
        write (*, *) failures, ' failures'
        error stop 1
    end if
end program matrices
