#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Uses an installed Quern through pkg-config and a plain compiler call, without CMake. Prints that call.
# Usage: build.sh <compiler> <folder of quern.pc> <expected version> <program to write> [--static]
set -eu
PKG_CONFIG_PATH=$2
export PKG_CONFIG_PATH
test "$(pkg-config --modversion quern)" = "$3"
source=$(dirname "$0")/../main.cpp
set -x
# shellcheck disable=SC2046,SC2086 # the flags are meant to be split
$1 -std=c++20 "-DEXPECTED_VERSION=\"$3\"" $(pkg-config --cflags quern) "$source" -o "$4" $(pkg-config ${5:-} --libs quern)
