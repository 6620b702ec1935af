# SPDX-License-Identifier: BSL-1.0
"""Turns the source of a Python function into nodes of quern._core.Tree; used by quern.tree alone."""
