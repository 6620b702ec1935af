# SPDX-License-Identifier: BSL-1.0
"""Tests of the parts of the package: python3 -m unittest discover -s tools/study/tests -t tools"""
