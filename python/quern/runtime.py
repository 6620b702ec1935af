# SPDX-License-Identifier: BSL-1.0
"""The runtime: its start, settings, counters, traces, and what is known of it."""

import collections.abc
import difflib
import fnmatch
import platform
import re

from . import _core


def start(workers=None, *, policy=None, binding=None):
    """Starts the workers; without this they start with the first task.

        quern.start(workers=2)

    workers: as many as the machine offers if not said. policy, binding: as the settings of these names.
    Errors: ValueError for what is not accepted; RuntimeError when they run already.
    """
    if workers is not None:
        if isinstance(workers, bool) or not isinstance(workers, int):
            raise TypeError(f"quern.start: workers is {workers!r}; accepted: a whole number from 1 to 4096, or None")
        if not 1 <= workers <= 4096:
            raise ValueError(f"quern.start: workers is {workers}; accepted: a whole number from 1 to 4096, or None for as many "
                             "as the machine offers")
    _core.start(workers, policy, binding)


def stop():
    """Waits for all tasks that are under way and ends the workers; the next task starts them again, with new settings."""
    _core.taskwait()
    _core.stop()


def counters(pattern="/threads/*"):
    """The counters whose names match, as a dict of name and value; None for one that cannot be read here.

        quern.counters("/threads{worker-thread#*}/idle-rate")

    Errors: ValueError, with the nearest name, when none matches.
    """
    try:
        return _core.counters(pattern)
    except ValueError as error:
        said, separator, advice = str(error).partition("; ")
        if "no counter is called" not in said or ("did you mean" in advice and "*" not in _plain(pattern)):
            raise
    raise ValueError(f"{said}{separator}{_instead_of(pattern)}")


def _plain(name):
    """A counter's name without its instance."""
    return re.sub(r"\{[^}]*\}", "", name)


def _instead_of(pattern):
    """What to write instead of a pattern that matches no counter: each part of it that does not exist, corrected."""
    names = [_plain(name).split("/")[1:] for name in _core.counters("/*")]
    corrected = []
    for part in _plain(pattern).split("/")[1:]:
        there = sorted({name[0] for name in names if name})
        if not there:
            break
        if not fnmatch.filter(there, part):
            near = difflib.get_close_matches(part, there, 1)
            if not near:
                before = "/".join(["", *corrected])
                return f"those of '{before}/' begin with " + ", ".join(there)
            part = near[0]
        corrected.append(part)
        names = [name[1:] for name in names if name and fnmatch.fnmatchcase(name[0], part)]
    if [] not in names:
        corrected.append("*")
    return f"did you mean '/{'/'.join(corrected)}'?"


def info():
    """What runs here: a dict of version, workers (None before the first task), settings that are not the default, Python."""
    changed = {s["name"]: s["value"] for s in _core.list_settings() if s["origin"] != "default"}
    return {
        "version": _core.version,
        "running": _core.is_started(),
        "workers": _core.workers() if _core.is_started() else None,
        "settings": changed,
        "python": platform.python_version(),
        "numpy_loops": _core.numpy_loops,
        "blas": _core.numpy_blas,
    }


class trace:
    """Records tasks while its block runs, and writes a page (.html) or a file for ui.perfetto.dev (.pftrace).

        with quern.trace("run.html"):
            solve()
    """

    def __init__(self, path):
        self._core = _core.tracing(str(path))

    def __enter__(self):
        self._core.begin()
        return self

    def __exit__(self, *_):
        self._core.end()
        return False


class _Settings(collections.abc.MutableMapping):
    """All settings, by name, as text; may be changed while no worker runs.

        quern.settings["threads"] = 2

    A call sets several: quern.settings({"threads": 2, "policy": "..."}), or by keywords, with _ for -.

    Errors: ValueError, with the nearest name or with what is accepted; RuntimeError while workers run. A call that is given an
    unknown name sets nothing.
    """

    def __call__(self, values=(), /, **named):
        if not isinstance(values, collections.abc.Mapping) and values != ():
            raise TypeError(f'quern.settings: {values!r}; accepted: a dict, as in quern.settings({{"threads": 2}}), or '
                            'quern.settings["threads"] = 2')
        all_values = {_name(name): value for name, value in {**dict(values), **named}.items()}
        for name in all_values:
            self[name]  # an unknown name is refused before any is set
        for name, value in all_values.items():
            self[name] = value

    def __getitem__(self, name):
        return _core.read_setting(_name(name))

    def __setitem__(self, name, value):
        if isinstance(value, bool):
            value = "on" if value else "off"
        _core.write_setting(_name(name), str(value))

    def __delitem__(self, name):
        raise TypeError("quern.settings: a setting cannot be removed")

    def __iter__(self):
        return (s["name"] for s in _core.list_settings())

    def __len__(self):
        return len(_core.list_settings())

    def __contains__(self, name):
        return any(s["name"] == name for s in _core.list_settings())

    def __repr__(self):
        lines = [f"{s['name']} = {s['value']} ({s['origin']}; {s['accepted']})" for s in _core.list_settings()]
        return "\n".join(lines)


def _name(name):
    if not isinstance(name, str):
        raise TypeError(f"quern.settings: a setting's name is a str, not {name!r}")
    return name.replace("_", "-")


settings = _Settings()
