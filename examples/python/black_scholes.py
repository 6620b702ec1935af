#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Prices of options by Black and Scholes: long chains of operations on every element."""

import numpy as np
from example import options, run, tree


@tree
def normal_distribution(x):
    """By the polynomial 26.2.17 of Abramowitz and Stegun; the error is below 7.5e-8."""
    t = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    tail = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = tail * np.exp(-0.5 * x * x) * 0.3989422804014327
    return np.where(x > 0, 1.0 - tail, tail)


@tree
def black_scholes(price, strike, years, rate, volatility):
    spread = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
    d2 = d1 - spread
    discounted = strike * np.exp(-rate * years)
    call = price * normal_distribution(d1) - discounted * normal_distribution(d2)
    return call, call - price + discounted


def main():
    given = options(__doc__, options=1_000_000, rate=0.02, volatility=0.3)
    generator = np.random.default_rng(1)
    price, strike = generator.uniform(10, 50, given.options), generator.uniform(10, 50, given.options)
    years = generator.uniform(0.1, 2.0, given.options)
    call, put = run(black_scholes, lambda: (price, strike, years, given.rate, given.volatility), given)
    print(f"  mean prices {call.mean():.6f} and {put.mean():.6f}")


if __name__ == "__main__":
    main()
