# SPDX-License-Identifier: BSL-1.0
"""The implementation of bench/many: benchmark programs travel in bundles to other machines, and old and new take turns there.
rows says what is measured, bundle packs and opens, peers reads programs of other kinds, race measures, table prints, sources
builds what a bundle carries. All but pack() also runs on Python 3.9, because the other machine chooses its version.
Must not import tomllib, which Python 3.11 brought."""
