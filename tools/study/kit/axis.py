# SPDX-License-Identifier: BSL-1.0
"""An axis of a chart: maps values to pixels, and chooses the values of grid lines and labels."""

import math
from dataclasses import dataclass

DENSE = ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 5), (1, 3), (1,))  # digits of each power of ten, the densest first
SUFFIXES = ("", "k", "M", "G", "T", "P")


@dataclass(frozen=True)
class Axis:
    """Maps values to pixels."""
    low: float
    high: float
    begin: float
    end: float
    is_log: bool = True

    def place(self, value):
        """Values outside are clamped to the ends."""
        value = min(max(value, self.low), self.high)
        share = math.log(value / self.low) / math.log(self.high / self.low) if self.is_log else \
            (value - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)

    @property
    def length(self):
        return abs(self.end - self.begin)


def round_up(value):
    """1, 2 or 5 times a power of ten, at least `value`."""
    power = 10.0 ** math.floor(math.log10(value))
    return next((digit * power for digit in (1, 2, 5) if digit * power >= value * (1 - 1e-9)), 10 * power)


def round_down(value):
    """1, 2 or 5 times a power of ten, at most `value`."""
    power = 10.0 ** math.floor(math.log10(value))
    return next((digit * power for digit in (5, 2, 1) if digit * power <= value * (1 + 1e-9)), power)


def around(values, begin, end):
    """A logarithmic Axis for the positive values, with 1, 2 or 5 times a power of ten at both ends."""
    known = [v for v in values if v is not None and v > 0] or [1.0]
    low, high = round_down(min(known)), round_up(max(known))
    if low == high:
        low, high = round_down(low * 0.999), round_up(high * 1.001)
    return Axis(low, high, begin, end)


def _ticks_of(on, digits, powers=1):
    """These digits of every first, second or third power of ten on the axis."""
    first, last = math.floor(math.log10(on.low)), math.ceil(math.log10(on.high))
    found = [digit * 10.0 ** power for power in range(first, last + 1, powers) for digit in digits]
    return [value for value in found if on.low * (1 - 1e-9) <= value <= on.high * (1 + 1e-9)]


def log_ticks(on, room, digits=DENSE):
    """The grid values of a logarithmic axis, at least `room` pixels apart."""
    for chosen, powers in [*((each, 1) for each in digits), (digits[-1], 2), (digits[-1], 3)]:
        ticks = _ticks_of(on, chosen, powers)
        if len(ticks) * room <= on.length:
            break
    return ticks


def linear_ticks(on, room):
    """The same for a linear axis."""
    step = round_up((on.high - on.low) / max(2.0, on.length / room))
    value, ticks = math.ceil(on.low / step) * step, []
    while value <= on.high + step * 1e-9:
        ticks.append(0.0 if abs(value) < step * 1e-9 else value)
        value += step
    return ticks


def short_number(value):
    """ "2k", "1.5M": labels of an axis."""
    power = 0
    while abs(value) >= 1000 * (1 - 1e-9) and power + 1 < len(SUFFIXES):
        value /= 1000
        power += 1
    return f"{value:.4g}{SUFFIXES[power]}"
