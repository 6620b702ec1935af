! SPDX-License-Identifier: BSL-1.0
! Merge sort in Fortran: recursive tasks with taskwait at the top, and passes over runs by tasks with `depend` on array elements.
! The order of whole numbers is one: the answer is that of a serial insertion sort.
module sorting
    implicit none
contains
    subroutine merge_runs(a, first, middle, last)
        integer, intent(inout) :: a(:)
        integer, intent(in) :: first, middle, last
        integer :: part(middle - first + 1), i, j, k
        part = a(first:middle)
        i = 1
        j = middle + 1
        do k = first, last
            if (i > size(part)) exit
            if (j > last) then
                a(k) = part(i)
                i = i + 1
            else if (part(i) <= a(j)) then
                a(k) = part(i)
                i = i + 1
            else
                a(k) = a(j)
                j = j + 1
            end if
        end do
    end subroutine merge_runs

    subroutine insertion_sort(a, first, last)
        integer, intent(inout) :: a(:)
        integer, intent(in) :: first, last
        integer :: i, j, x
        do i = first + 1, last
            x = a(i)
            j = i - 1
            do while (j >= first)
                if (a(j) <= x) exit
                a(j + 1) = a(j)
                j = j - 1
            end do
            a(j + 1) = x
        end do
    end subroutine insertion_sort

    recursive subroutine sort_by_halves(a, first, last)
        integer, intent(inout) :: a(:)
        integer, intent(in) :: first, last
        integer :: middle
        if (last - first < 20) then
            call insertion_sort(a, first, last)
            return
        end if
        middle = (first + last) / 2
        !$omp task shared(a) firstprivate(first, middle) if(last - first > 100)
        call sort_by_halves(a, first, middle)
        !$omp end task
        !$omp task shared(a) firstprivate(middle, last) if(last - first > 100)
        call sort_by_halves(a, middle + 1, last)
        !$omp end task
        !$omp taskwait
        call merge_runs(a, first, middle, last)
    end subroutine sort_by_halves

    ! Runs of 16, then of twice as many, until one is left; a task of a pass waits only for the two that made its runs.
    ! A dummy argument is firstprivate in a task, unless it is shared.
    subroutine sort_by_runs(a, n)
        integer, intent(in) :: n
        integer, intent(inout) :: a(n)
        integer :: first, width
        do first = 1, n, 16
            !$omp task shared(a) depend(out: a(first)) firstprivate(first)
            call insertion_sort(a, first, min(first + 15, n))
            !$omp end task
        end do
        width = 16
        do while (width < n)
            do first = 1, n - width, 2 * width
                !$omp task shared(a) depend(inout: a(first)) depend(in: a(first + width)) firstprivate(first, width)
                call merge_runs(a, first, first + width - 1, min(first + 2 * width - 1, n))
                !$omp end task
            end do
            width = 2 * width
        end do
        !$omp taskwait
    end subroutine sort_by_runs
end module sorting

program merge_sort
    use sorting
    implicit none
    integer, parameter :: n = 1500
    integer :: given(n), halves(n), runs(n), serial(n), i
    integer(8) :: random, checksum

    random = 43
    do i = 1, n
        random = mod(random * 16807_8, 2147483647_8)
        given(i) = int(mod(random, 5000_8)) - 2500
    end do
    halves = given
    runs = given
    serial = given
    !$omp parallel shared(halves, runs)
    !$omp single
    call sort_by_halves(halves, 1, n)
    call sort_by_runs(runs, n)
    !$omp end single
    !$omp end parallel
    call insertion_sort(serial, 1, n)
    if (any(halves /= serial) .or. any(runs /= serial)) then
        print '(a, i0, a, i0, a)', 'merge_sort: ', count(halves /= serial), ' and ', count(runs /= serial), ' numbers are wrong'
        error stop 1
    end if
    checksum = 0
    do i = 1, n
        checksum = mod(checksum * 31 + halves(i) + 2500, 1000000007_8)
    end do
    print '(a, i0)', 'merge_sort ', checksum
end program merge_sort
