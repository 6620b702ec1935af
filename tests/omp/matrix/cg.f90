! SPDX-License-Identifier: BSL-1.0
! Conjugate gradients for a five-point matrix in one parallel region: orphaned loops in the subroutines that it calls, dot
! products by reduction. The order of a reduction is open, so the solution is compared with the serial one and with the known
! answer (small whole numbers) up to 1e-8; the checksum is of the rounded solution.
module vectors
    implicit none
    integer, parameter :: side = 24, n = side * side, steps = 80
    real(8) :: shared_sum
contains
    pure function row(x, i) result(y)
        real(8), intent(in) :: x(n)
        integer, intent(in) :: i
        real(8) :: y
        y = 5 * x(i)
        if (mod(i - 1, side) > 0) y = y - x(i - 1)
        if (mod(i, side) > 0) y = y - x(i + 1)
        if (i > side) y = y - x(i - side)
        if (i <= n - side) y = y - x(i + side)
    end function row

    function dot(x, y) result(s)
        real(8), intent(in) :: x(n), y(n)
        real(8) :: s
        integer :: i
        !$omp barrier
        !$omp single
        shared_sum = 0
        !$omp end single
        !$omp do reduction(+:shared_sum)
        do i = 1, n
            shared_sum = shared_sum + x(i) * y(i)
        end do
        !$omp end do
        s = shared_sum
    end function dot

    subroutine solve(b, x, r, p, q)
        real(8), intent(in) :: b(n)
        real(8), intent(inout) :: x(n), r(n), p(n), q(n)
        real(8) :: rr, before, alpha
        integer :: i, s
        !$omp do
        do i = 1, n
            x(i) = 0
            r(i) = b(i)
            p(i) = b(i)
        end do
        !$omp end do
        rr = dot(r, r)
        do s = 1, steps
            if (rr < 1d-24) exit
            !$omp do schedule(guided)
            do i = 1, n
                q(i) = row(p, i)
            end do
            !$omp end do
            alpha = rr / dot(p, q)
            !$omp do schedule(static)
            do i = 1, n
                x(i) = x(i) + alpha * p(i)
                r(i) = r(i) - alpha * q(i)
            end do
            !$omp end do
            before = rr
            rr = dot(r, r)
            !$omp do schedule(dynamic, 16)
            do i = 1, n
                p(i) = r(i) + rr / before * p(i)
            end do
            !$omp end do
        end do
    end subroutine solve
end module vectors

program cg
    use vectors
    implicit none
    real(8) :: known(n), b(n), x(n), serial(n), r(n), p(n), q(n)
    integer(8) :: checksum
    integer :: i

    do i = 1, n
        known(i) = mod(i * 7, 11) - 5
    end do
    do i = 1, n
        b(i) = row(known, i)
    end do
    !$omp parallel default(none) shared(b, x, r, p, q)
    call solve(b, x, r, p, q)
    !$omp end parallel
    call solve(b, serial, r, p, q)
    if (.not. (maxval(abs(x - serial)) < 1d-8 .and. maxval(abs(x - known)) < 1d-8)) then
        print '(a, 2es10.2)', 'cg: differs from the serial and the known solution by ', maxval(abs(x - serial)), &
            maxval(abs(x - known))
        error stop 1
    end if
    checksum = 0
    do i = 1, n
        checksum = mod(checksum * 31 + nint(x(i)) + 5, 1000000007_8)
    end do
    print '(a, i0)', 'cg ', checksum
end program cg
