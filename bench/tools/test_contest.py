# SPDX-License-Identifier: BSL-1.0
"""Contenders that work, give wrong results, die, hang and print garbage: how contest.py treats each, and that none outlives its
turns."""

import os
import select
import signal
import tempfile
import unittest

import contest
import fake_program
from kit import interruption

VARIANTS = ["right", "other", "wrong", "refused", "silent", "killed", "hangs", "stops", "rubbish", "valueless"]


class Contest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.program = fake_program.write(self.folder, "bench-fake", [f"fib {v}" for v in VARIANTS])

    def contender(self, variant, **more):
        one = contest.Contender(self.program, "fib", variant, 2, 30, f"fake/{variant}", **more)
        self.addCleanup(one.end)
        return one

    def failure_of(self, variant, **more):
        """The failure reported for a contender beside one that works."""
        good, bad = self.contender("right"), self.contender(variant, **more)
        contest.play([bad, good], 3)
        self.assertEqual((good.failure, len(good.repetitions)), (None, 3))
        self.assertEqual(bad.repetitions, [])
        return bad.failure


class Failures(Contest):
    def test_a_wrong_answer_is_told_in_the_words_of_the_program(self):
        self.assertEqual(self.failure_of("wrong"), "wrong answer: fib is 3 and not 4")

    def test_a_network_that_cannot_be_made_is_told_as_such(self):
        self.assertEqual(self.failure_of("refused"), "unavailable (--net needs the right to do so: run it as root)")

    def test_a_program_that_ends_without_a_word_is_told_by_its_status(self):
        self.assertEqual(self.failure_of("silent"), "ended with status 3")

    def test_a_signal_is_told_by_its_number(self):
        self.assertEqual(self.failure_of("killed"), "killed by signal 9")

    def test_rubbish_is_no_figure(self):
        self.assertEqual(self.failure_of("rubbish"), "printed no figures: hello")
        self.assertEqual(self.failure_of("valueless"), "printed no figures: {}")

    def test_a_program_that_is_not_there_fails_alone(self):
        self.program, there = os.path.join(self.folder, "none"), self.program
        bad = self.contender("right")
        self.program = there
        good = self.contender("right")
        contest.play([bad, good], 1)
        self.assertEqual(bad.failure, "did not start: No such file or directory")
        self.assertEqual(len(good.repetitions), 1)

    def test_one_that_hangs_is_ended_with_what_it_has_started(self):
        fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(fifo)
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        # The limit leaves enough time to start Python, even on a slow machine.
        self.assertEqual(self.failure_of("hangs", limit=2, environment={"FAKE_FIFO": fifo}), "timed out (2 s)")
        # The fake and its child held the other end; it closes when the last of them is dead.
        ready, _, _ = select.select([reader], [], [], 20)
        self.assertEqual((ready, os.read(reader, 1)), ([reader], b""))


class Turns(Contest):
    def test_the_first_repetition_is_kept_apart(self):
        one = self.contender("right")
        contest.play([one], 3)
        self.assertEqual(one.warm_up["value"], 1.0)
        self.assertEqual([r["value"] for r in one.repetitions], [1.01, 1.02, 1.0])
        self.assertEqual(one.result()["contender"], "fake/right")

    def test_a_process_serves_all_turns_unless_fresh_ones_are_wanted(self):
        for fresh, processes in ((False, 1), (True, 4)):
            one = self.contender("right")
            contest.play([one], 3, fresh=fresh)
            self.assertEqual(len({r["pid"] for r in [one.warm_up, *one.repetitions]}), processes)

    def order(self, **how):
        log = os.path.join(self.folder, "log")
        contest.play([self.contender(v, environment={"FAKE_LOG": log}) for v in ("right", "other")], 3, **how)
        with open(log, encoding="utf-8") as file:
            words = file.read().replace("\n", " ")
        os.remove(log)
        return words

    def test_all_take_turns(self):
        self.assertEqual(self.order(), "right other " * 4)

    def test_every_other_round_goes_backwards_when_wanted(self):
        self.assertEqual(self.order(alternate=True), "right other other right " * 2)

    def test_who_waits_for_its_turn_is_stopped(self):
        one = self.contender("right")
        one.turn()
        state = os.waitid(os.P_PID, one.repetitions[0]["pid"], os.WSTOPPED | os.WNOWAIT)
        self.assertEqual(state.si_status, signal.SIGSTOP)
        one.turn()
        self.assertEqual(len(one.repetitions), 2)

    def test_all_are_told_of(self):
        turns = []
        contest.play([self.contender("right"), self.contender("wrong")], 2, on_turn=lambda: turns.append(1))
        self.assertEqual(len(turns), 6)

    def test_nobody_outlives_the_contest(self):
        one = self.contender("right")
        contest.play([one], 1)
        with self.assertRaises(ProcessLookupError):
            os.kill(one.repetitions[0]["pid"], 0)


class Stop(Contest):
    def test_a_signal_ends_a_turn_that_would_last_and_keeps_what_there_is(self):
        before = signal.getsignal(signal.SIGUSR1)
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        stop = interruption.Interruption(signals=(signal.SIGUSR1,))
        good, last = self.contender("right", stop=stop), self.contender("stops", stop=stop)
        with self.assertRaises(interruption.Stopped):
            contest.play([good, last], 3)
        self.assertEqual(stop.name, "SIGUSR1")
        self.assertIsNotNone(good.warm_up)


if __name__ == "__main__":
    unittest.main()
