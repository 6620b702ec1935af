// SPDX-License-Identifier: BSL-1.0
// A library that modules_test.cpp loads while it runs.
extern "C" int quern_test_number(int value) { return value + 1000; }
