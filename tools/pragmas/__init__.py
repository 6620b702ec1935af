# SPDX-License-Identifier: BSL-1.0
"""`quern cc` and `quern c++`: task functions in C and C++, by pragmas that every other compiler ignores."""
