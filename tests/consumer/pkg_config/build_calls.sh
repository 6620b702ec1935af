#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Builds a program that calls functions at other localities through pkg-config and a plain compiler call. Prints that call.
# Usage: build_calls.sh <compiler> <folder of quern.pc> <openmpi|mpich> <program to write>
set -eu
PKG_CONFIG_PATH=$2
export PKG_CONFIG_PATH
source=$(dirname "$0")/../calls.cpp
set -x
# shellcheck disable=SC2046 # the flags are meant to be split
$1 -std=c++20 $(pkg-config --cflags "quern_localities_$3") "$source" -o "$4" $(pkg-config --libs "quern_localities_$3")
