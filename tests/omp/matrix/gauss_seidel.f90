! SPDX-License-Identifier: BSL-1.0
! Gauss-Seidel sweeps by doacross in Fortran: a point waits for those above and to the left of it in the same sweep, so each value
! has one history and the bits must be those of the serial sweeps. Then a recurrence with ordered(1), lastprivate, and a reduction
! of an array of whole numbers.
program gauss_seidel
    implicit none
    integer, parameter :: blocks = 6, width = 8, n = blocks * width, sweeps = 3, length = 100
    real(8) :: u(0:n + 1, 0:n + 1), serial(0:n + 1, 0:n + 1)
    integer :: counts(0:9), expected(0:9), chain(0:length), i, j, s, last
    integer(8) :: checksum

    call begin(u)
    call begin(serial)
    do s = 1, sweeps
        !$omp parallel do ordered(2) schedule(static, 1) private(i)
        do j = 1, blocks
            do i = 1, blocks
                !$omp ordered depend(sink: j - 1, i) depend(sink: j, i - 1)
                call relax(u, i, j)
                !$omp ordered depend(source)
            end do
        end do
        !$omp end parallel do
        do j = 1, blocks
            do i = 1, blocks
                call relax(serial, i, j)
            end do
        end do
    end do

    chain(0) = 1
    counts = 0
    last = 0
    !$omp parallel do ordered(1) schedule(dynamic) reduction(+:counts) lastprivate(last)
    do i = 1, length
        last = mod(i * i, 10)
        counts(last) = counts(last) + 1
        !$omp ordered depend(sink: i - 1)
        chain(i) = mod(chain(i - 1) * 7 + i, 10007)
        !$omp ordered depend(source)
    end do
    !$omp end parallel do
    expected = 0
    j = 1
    do i = 1, length
        expected(mod(i * i, 10)) = expected(mod(i * i, 10)) + 1
        j = mod(j * 7 + i, 10007)
    end do

    if (any(abs(u - serial) > 0) .or. any(counts /= expected) .or. chain(length) /= j .or. last /= mod(length * length, 10)) then
        print '(a, es10.2, 3(a, i0))', 'gauss_seidel: differs by ', maxval(abs(u - serial)), ', chain ', chain(length), &
            ' instead of ', j, ', last ', last
        error stop 1
    end if
    checksum = 0
    do j = 1, n
        do i = 1, n
            checksum = mod(checksum * 31 + int(u(i, j) * 1d6, 8), 1000000007_8)
        end do
    end do
    print '(a, i0, a, i0)', 'gauss_seidel ', chain(length), ' ', checksum
contains
    subroutine begin(plate)
        real(8), intent(out) :: plate(0:n + 1, 0:n + 1)
        plate = 0
        plate(0, :) = 100
    end subroutine begin

    subroutine relax(plate, block_i, block_j)
        real(8), intent(inout) :: plate(0:n + 1, 0:n + 1)
        integer, intent(in) :: block_i, block_j
        integer :: x, y
        do y = (block_j - 1) * width + 1, block_j * width
            do x = (block_i - 1) * width + 1, block_i * width
                plate(x, y) = 0.25d0 * (plate(x - 1, y) + plate(x + 1, y) + plate(x, y - 1) + plate(x, y + 1))
            end do
        end do
    end subroutine relax
end program gauss_seidel
