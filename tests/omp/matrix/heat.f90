! SPDX-License-Identifier: BSL-1.0
! Heat in a plate with Fortran's array syntax: assignments, where, forall and a sum in `workshare`, all steps in one region. Each
! value comes from the same expression as in the serial steps, so the bits must agree; the sum of a workshare has an open order
! and is compared up to 1e-9 of itself.
program heat
    implicit none
    integer, parameter :: n = 40, steps = 25
    real(8) :: u(0:n + 1, 0:n + 1), v(n, n), serial(0:n + 1, 0:n + 1), w(n, n), total, expected
    logical :: hot(n, n)
    integer(8) :: checksum
    integer :: i, j, s, many

    call begin(u)
    call begin(serial)
    many = 0
    total = 0
    !$omp parallel default(none) shared(u, v, hot, total, many) private(s, i, j)
    do s = 1, steps
        !$omp workshare
        v = 0.25d0 * (u(0:n - 1, 1:n) + u(2:n + 1, 1:n) + u(1:n, 0:n - 1) + u(1:n, 2:n + 1))
        hot = v > 50d0
        where (hot)
            v = v - 0.125d0
        elsewhere
            v = v + 0.0625d0
        end where
        forall (i = 1:n, j = 1:n) u(i, j) = v(i, j)
        !$omp end workshare
        !$omp single
        many = many + count(hot)
        !$omp end single
    end do
    !$omp workshare
    total = sum(u)
    !$omp end workshare
    !$omp end parallel

    do s = 1, steps
        do j = 1, n
            do i = 1, n
                w(i, j) = 0.25d0 * (serial(i - 1, j) + serial(i + 1, j) + serial(i, j - 1) + serial(i, j + 1))
                if (w(i, j) > 50d0) then
                    many = many - 1
                    w(i, j) = w(i, j) - 0.125d0
                else
                    w(i, j) = w(i, j) + 0.0625d0
                end if
            end do
        end do
        serial(1:n, 1:n) = w
    end do
    expected = sum(serial)
    if (any(abs(u - serial) > 0) .or. many /= 0 .or. .not. abs(total - expected) < 1d-9 * expected) then
        print '(a, es10.2, i0, 2es24.16)', 'heat: differs by ', maxval(abs(u - serial)), many, total, expected
        error stop 1
    end if
    checksum = 0
    do j = 1, n
        do i = 1, n
            checksum = mod(checksum * 31 + int(u(i, j) * 1d6, 8), 1000000007_8)
        end do
    end do
    print '(a, i0)', 'heat ', checksum
contains
    subroutine begin(plate)
        real(8), intent(out) :: plate(0:n + 1, 0:n + 1)
        plate = 0
        plate(0, :) = 100
        plate(:, n + 1) = 75
    end subroutine begin
end program heat
