// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

#include <quern/dependences/domain.hpp>
#include <quern/dependences/renamed.hpp>

namespace bench::renamed_ring {

namespace {

/// `filled(r)` and `read(r)` are the accesses of round r.
template <class Filled, class Read>
value ring(quern::domain& work, long size, Filled filled, Read read) {
    readings found(size);
    for (long r = 0; r < rounds(size); ++r) {
        work.spawn(filled(r), [r](std::span<value> to) { fill(to, r); });
        for (const std::size_t half : {0U, 1U}) {
            work.spawn(read(r), [&sum = found.at(r, half), half](std::span<const value> from) {
                const std::size_t middle = from.size() / 2;
                sum = reading(half == 0 ? from.first(middle) : from.subspan(middle));
            });
        }
    }
    work.taskwait();
    return found.sum();
}

/// Hand-made: as many buffers in turn.
template <std::size_t Buffers>
value ring_by_hand(long size) {
    std::vector<buffer> all(Buffers, buffer(static_cast<std::size_t>(size)));
    const auto of = [&all](long r) -> buffer& {
        return all[static_cast<std::size_t>(r) % Buffers];
    };
    quern::domain work;
    return ring(
        work, size, [&](long r) { return quern::out(of(r)); },
        [&](long r) { return quern::in(of(r)); });
}

value ring_renamed(long size) {
    buffer one(static_cast<std::size_t>(size));
    quern::domain work;
    quern::renamed r(one);
    return ring(
        work, size, [&](long) { return quern::out(r); }, [&](long) { return quern::in(r); });
}

template <value (*Ring)(long)>
job ring_job(const arguments& a) {
    return quern_job(a, [n = a.size, answer = serial_ring(a.size)] {
        return compared([n] { return Ring(n); }, answer);
    });
}

const contender renamed{"renamed_ring", "renamed", ring_job<ring_renamed>};
const contender two{"renamed_ring", "two_buffers", ring_job<ring_by_hand<2>>};
const contender one{"renamed_ring", "one_buffer", ring_job<ring_by_hand<1>>};

}  // namespace

}  // namespace bench::renamed_ring
