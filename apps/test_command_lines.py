# SPDX-License-Identifier: BSL-1.0
"""Runs the applications with valid and invalid command lines and environments. Usage: test_command_lines.py <bin>

The programs are in the folder <bin>; other tests check their results.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = sys.argv.pop()
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("QUERN_")}
DENSE = ["cholesky", "lu", "qr"]
HAS_BLAS = os.path.exists(os.path.join(BIN, DENSE[0]))
STARTERS = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"], "mpich": ["mpiexec.mpich"]}
MPI = [library for library, command in STARTERS.items()
       if shutil.which(command[0]) and os.path.exists(os.path.join(BIN, "mpi", f"cholesky.{library}"))]
FOR_OPENMPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
NAMED_MISTAKE = r"check-accesses: (a )?task"
FIB = ["fib", "--n", "15", "--repeat", "1", "--variant", "plain"]


def limit_memory():
    """Limits the address space, so that a system that overcommits memory does not run out of it."""
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))


def run(program, *arguments, **variables):
    return subprocess.run([os.path.join(BIN, program), *arguments], capture_output=True, text=True, timeout=120,
                          check=False, env={**ENVIRONMENT, **variables}, preexec_fn=limit_memory)


def run_ranks(library, ranks, program, *arguments, **variables):
    """Starts an application of apps/mpi, built for that MPI library, on so many ranks."""
    command = [*STARTERS[library], "-n", ranks, os.path.join(BIN, "mpi", f"{program}.{library}"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False,
                          env={**ENVIRONMENT, **FOR_OPENMPI, **variables})


class Settings(unittest.TestCase):
    def expect_workers(self, count, *arguments, policy="work-stealing", **variables):
        result = run(*FIB, *arguments, **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"fib: {count} worker{'' if count == 1 else 's'}, policy {policy}\n", result.stdout)

    def test_come_from_every_source(self):
        self.expect_workers(3, "--threads", "3")
        self.expect_workers(3, "--threads=3", "--policy=priority-local-fifo", policy="priority-local-fifo")
        self.expect_workers(3, "--quern:threads=3")
        self.expect_workers(3, QUERN_THREADS="3")
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write("threads = 3\npolicy = 'priority-local-fifo'\n")
            file.flush()
            self.expect_workers(3, f"--quern:config={file.name}", policy="priority-local-fifo")
            self.expect_workers(2, QUERN_CONFIG=file.name, QUERN_THREADS="2", policy="priority-local-fifo")

    def test_the_stronger_wins(self):
        self.expect_workers(1, "--threads=1", QUERN_THREADS="3")
        self.expect_workers(1, "--threads=2", "--quern:threads=1", QUERN_THREADS="3")
        self.expect_workers(1, "--quern:threads=1", "--threads=2")

    def test_help(self):
        for program in ["als", "fib", "gauss_seidel", "heat", "matmul", "nbody", "nqueens", "sort", "sparselu", "sssp", "stream", "uts",
                        *(DENSE if HAS_BLAS else [])]:
            result = run(program, "--quern:help")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("--quern:threads=VALUE", result.stdout)
            self.assertIn("--quern:help", run(program, "--help").stdout)


class Output(unittest.TestCase):
    def test_that_cannot_be_written_is_a_failure(self):
        for arguments in [FIB, ["heat", "--points=1000", "--steps=2"], ["heat", "--help"]]:
            with open("/dev/full", "w", encoding="utf-8") as full:
                result = subprocess.run([os.path.join(BIN, arguments[0]), *arguments[1:]], stdout=full, stderr=subprocess.PIPE,
                                        text=True, timeout=120, check=False, env=ENVIRONMENT)
            self.assertEqual(result.returncode, 1, arguments)
            self.assertIn("No space left on device", result.stderr, arguments)
            self.assertTrue(result.stderr.startswith(f"{arguments[0]}: "), result.stderr)


class Tuning(unittest.TestCase):
    HEAT = ["heat", "--points", "200000", "--threads=2", "--check"]
    # A search may add a tenth to the run, so it ends after some hundred steps, and later where other programs disturb trials.
    ENOUGH = "4000"

    def expect_right(self, *arguments, steps="100", **variables):
        result = run(*self.HEAT, "--steps", steps, *arguments, **variables)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("every bit as in the serial sweep", result.stdout)
        return result

    def test_gives_the_right_answer_by_every_metric(self):
        for metric in ["model", "idle-rate", "cumulative", "overhead", "overall"]:
            out = self.expect_right(f"--tune={metric}").stdout
            self.assertRegex(out, r"(?m)^grain +\d+ points per partition, (chosen after|the best so far of) \d+ trials?\b")
            self.assertRegex(out, r"(?m)^why +\w")

    # How many trials it takes without disturbance, at most eight, is tested in tests/unit/adaptation/model_test.cpp.
    def test_of_the_model_ends(self):
        # Where another program changes the costs the search starts again, as it should.
        for start in ["1000", "100000"]:
            for _ in range(3):
                out = self.expect_right("--partition=auto", f"--start={start}", steps=self.ENOUGH).stdout
                if re.search(r"(?m)^grain +\d+ points per partition, chosen after \d+ trials?\b", out):
                    break
            else:
                self.fail(out)

    def test_says_its_decisions(self):
        result = self.expect_right("--partition=auto", steps=self.ENOUGH, QUERN_DECISIONS="stderr")
        self.assertRegex(result.stderr, r"(?m)^quern: decision at \d\S* \S+: model: heat.partition \d+ -> \d+ points: ")

        self.assertRegex(result.stderr, r"(?m)^quern: decision at .*: at heat.partition .*; predicted cost .*; observed cost ")

    def test_by_a_metric_says_its_decisions(self):
        for metric in ["idle-rate", "cumulative", "overhead", "overall"]:
            result = self.expect_right(f"--tune={metric}", QUERN_DECISIONS="stderr")
            trial = rf"(?m)^quern: decision at \d\S* \S+: parallel-rank-order: heat.partition \d+ -> \d+ points: trial \d+ \[{metric} [0-9]"
            self.assertRegex(result.stderr, trial)

    def test_ignores_a_history_that_is_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            result = self.expect_right("--partition=auto", QUERN_TUNE_HISTORY=folder)
        self.assertEqual(result.stderr, f"quern: tune-history '{folder}': cannot be read: Is a directory; it is neither read nor written\n")

    def test_can_be_switched_off(self):
        for mode, count in [("off", 0), ("dry-run", 1)]:
            result = self.expect_right("--partition=auto", "--start=1000", QUERN_DECISIONS="stderr", QUERN_ADAPT=mode)
            self.assertEqual(result.stderr.count("decision at"), count, result.stderr)
            self.assertRegex(result.stdout, r"(?m)^time .* with partitions of (999|1000|1001)$")

    def test_is_remembered(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "history")
            first = self.expect_right("--partition=auto", steps=self.ENOUGH, QUERN_TUNE_HISTORY=file).stdout
            again = self.expect_right("--partition=auto", steps=self.ENOUGH, QUERN_TUNE_HISTORY=file).stdout
            self.assertRegex(again, r"(?m)^why .*(remembered|at heat.partition)")
            self.assertRegex(first, r"(?m)^why .*at heat.partition")
            with open(file, encoding="utf-8") as text:
                self.assertTrue(text.readline().startswith("quern tuning history 1"))


class Sssp(unittest.TestCase):
    def expect_right(self, *arguments, sources, **variables):
        result = run("sssp", "--scale=10", *arguments, **variables)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn(f"compared with Dijkstra's algorithm from {sources}", result.stdout)
        return result.stdout

    def test_is_right_with_every_width_of_buckets(self):
        for delta in ["0.0001", "0.01", "0.3", "1"]:
            out = self.expect_right("--searches=3", "--threads=3", f"--delta={delta}", sources="3 sources: right")
            self.assertRegex(out, r"(?m)^  TEPS +\d")

    def test_compares_as_many_sources_as_asked(self):
        self.expect_right("--searches=3", "--check=first", sources="1 source: right")
        self.expect_right("--searches=3", "--check=none", sources="0 sources: not checked")
        self.expect_right("--searches=3", "--check", sources="3 sources: right")

    def test_searches_the_same_graph_with_every_number_of_workers(self):
        edges = set()
        for threads in [1, 2, 4]:
            out = self.expect_right("--searches=4", f"--threads={threads}", "--seed=7", sources="4 sources")
            edges.add(re.search(r"all edges +(\d+) traversed", out)[1])
        self.assertEqual(len(edges), 1, edges)

    def test_throttles(self):
        for kind in ["throughput", "queue", "saturation"]:
            out = self.expect_right("--seconds=1.5", "--threads=2", "--check=first", f"--throttle={kind}",
                                    sources="1 source: right")
            self.assertRegex(out, rf"(?m)^  throttle +{kind}: [12] of 2 workers at the end, mean [12]\.\d\d; \d+ dec")

    def test_does_not_throttle_without_adaptation(self):
        out = self.expect_right("--searches=9", "--threads=2", "--throttle=saturation", sources="9", QUERN_ADAPT="off")
        self.assertRegex(out, r"(?m)^  throttle +saturation: 2 of 2 workers at the end, mean 2.00; 0 decisions$")


class Inlining(unittest.TestCase):
    def test_is_right_by_every_rule(self):
        for rule in ["quern", "baseline", "adaptive", "always", "never"]:
            for program in [["fib", "--n=18", "--variant=adaptive"],
                            ["als", "--users=10", "--items=5", "--sweeps=20", "--launch=adaptive"]]:
                result = run(*program, "--repeat=1", "--threads=2", f"--quern:inlining={rule}")
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_counts_trees_by_futures(self):
        result = run("uts", "--variant=futures", "--repeat=1", "--threads=2", "--quern:inlining=always")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertRegex(result.stdout, r"(?m)^  futures +\d")


class Als(unittest.TestCase):
    def test_is_right_by_every_launch_policy(self):
        for launch in ["adaptive", "async", "fork", "sync"]:
            for users, items in [(10, 5), (1, 1), (3, 40)]:
                result = run("als", f"--users={users}", f"--items={items}", "--sweeps=20", "--repeat=2", "--threads=3",
                             f"--launch={launch}")
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                self.assertIn("as the serial solution in every run\n", result.stdout)
                self.assertRegex(result.stdout, rf"(?m)^  launch::{launch} +\d")

    def test_takes_more_factors_than_rows(self):
        result = run("als", "--users=4", "--items=3", "--factors=12", "--repeat=1")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


@unittest.skipUnless(HAS_BLAS, "built without OpenBLAS")
class DenseLinearAlgebra(unittest.TestCase):
    def test_is_right_with_every_size_of_tiles(self):
        tasks = {"cholesky": lambda t: t * (t + 1) * (t + 2) // 6,
                 "lu": lambda t: t * (t + 1) // 2 + t - 1,
                 "qr": lambda t: t * (t + 1) * (2 * t + 1) // 6}
        for program, count in tasks.items():
            for n, tile, tiles in [(1, 1, 1), (7, 7, 1), (7, 3, 3), (64, 16, 4), (100, 33, 4), (100, 7, 15), (310, 100, 4)]:
                for threads in [1, 3]:
                    result = run(program, f"--n={n}", f"--tile={tile}", "--repeat=1", f"--threads={threads}")
                    self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                    self.assertIn(f"{program}: {n} rows in tiles of {tile}, {count(tiles)} tasks: residual", result.stdout)

    def test_takes_tiles_of_the_whole_matrix_by_default(self):
        for program in DENSE:
            result = run(program, "--n=20", "--repeat=1")
            self.assertIn(f"{program}: 20 rows in tiles of 20, ", result.stdout)

    def test_compares_with_lapack_unless_told_otherwise(self):
        for program in DENSE:
            compared = run(program, "--n=100", "--repeat=1", "--threads=2").stdout
            self.assertIn("% of 2 x LAPACK", compared)
            self.assertIn("OpenBLAS's threads", compared)
            alone = run(program, "--n=100", "--repeat=1", "--compare=off").stdout
            self.assertRegex(alone, r"(?m)^  tasks: [0-9.]+ GFLOP/s$")
            self.assertNotIn("LAPACK", alone)

    def test_a_creator_may_be_limited(self):
        for program in DENSE:
            result = run(program, "--n=100", "--tile=9", "--repeat=1", QUERN_LIVE_TASKS="3")
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_declare_all_that_they_access(self):
        for program in DENSE:
            for n, tile in [(256, 64), (96, 32), (40, 15)]:
                result = run(program, f"--n={n}", f"--tile={tile}", "--repeat=1", "--compare=off", "--threads=2",
                             QUERN_CHECK_ACCESSES="on")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertNotRegex(result.stderr, NAMED_MISTAKE)

    def expect_failure(self, text, *arguments):
        for compare in ["on", "off"]:  # the error of LAPACK on the whole matrix, and of a task
            for threads in [1, 3]:
                result = run(*arguments, f"--compare={compare}", f"--threads={threads}")
                self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)
                self.assertIn(text, result.stderr)

    def test_cholesky_says_which_minor_is_not_positive(self):
        text = "cholesky: the matrix is not positive definite: its leading minor of order {} is not positive\n"
        self.expect_failure(text.format(1), "cholesky", "--n=100", "--tile=30", "--diagonal=-0.6")
        self.expect_failure(text.format(35), "cholesky", "--n=100", "--tile=30", "--diagonal=3")

    def test_lu_says_which_column_is_singular(self):
        for column in [1, 40, 100]:
            self.expect_failure(f"lu: the matrix is singular: column {column} has no pivot\n",
                                "lu", "--n=100", "--tile=30", f"--zero-column={column}")
            for panel in ["place", "buffer", "renamed"]:
                self.expect_failure(f"lu: the matrix is singular: column {column} has no pivot\n",
                                    "lu", "--n=100", "--tile=30", f"--zero-column={column}", f"--panel={panel}")

    def variants(self, *arguments):
        result = run(*arguments, "--repeat=1", "--compare=off")
        self.assertEqual(result.returncode, 0, result.stderr)
        return re.findall(r"(?m)^  (.*): [0-9.]+ GFLOP/s$", result.stdout)

    def test_lu_is_right_without_ranks(self):
        for rank, variants in [("on", ["tasks"]), ("off", ["tasks, rank off"]), ("both", ["tasks", "tasks, rank off"])]:
            self.assertEqual(self.variants("lu", "--n=200", "--tile=30", "--panel=place", f"--rank={rank}"), variants)

    def test_lu_reads_panels_where_it_was_told_to(self):
        names = {"place": "tasks", "buffer": "tasks, one buffer", "renamed": "tasks, renamed buffer"}
        for panel, variants in [*((panel, [name]) for panel, name in names.items()), ("all", list(names.values()))]:
            for threads in [1, 3]:
                self.assertEqual(self.variants("lu", "--n=100", "--tile=30", f"--panel={panel}", f"--threads={threads}"), variants)

    def test_lu_has_the_same_bits_with_every_budget_for_renaming(self):
        """A version is a panel, of 300 x 20 numbers, and the vector that holds it."""
        version = 300 * 20 * 8 + 24
        sums = set()
        for threads in [1, 2, 8]:
            for budget in [0, version, 3 * version, 1 << 20, 64 << 20]:
                result = run("lu", "--n=300", "--tile=20", "--repeat=2", "--compare=off", f"--threads={threads}",
                             QUERN_RENAMING_BYTES=str(budget))
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                sums.add(re.search(r"(?m)^  factors: the same bits in every run by tasks, checksum (\w{16})$", result.stdout)[1])
                renamings, peak, limit = map(int, re.search(
                    r"(?m)^  renamed: (\d+) panels got another version; versions took at most (\d+) of (\d+) bytes", result.stdout).groups())
                self.assertEqual(limit, budget)
                self.assertLessEqual(peak, budget)
                self.assertEqual(peak % version, 0)
                if budget == 0:
                    self.assertEqual(renamings, 0)
                elif threads > 1:  # the next panel is ready while tasks update
                    self.assertGreater(renamings, 0)
        self.assertEqual(len(sums), 1, sums)

    def test_cholesky_works_in_both_layouts(self):
        names = {"tiles": ["tasks"], "columns": ["tasks, by columns"], "both": ["tasks", "tasks, by columns"]}
        for layout, variants in names.items():
            for n, tile, threads in [(1, 1, 1), (100, 33, 1), (310, 100, 3)]:
                self.assertEqual(self.variants("cholesky", f"--n={n}", f"--tile={tile}", f"--layout={layout}", f"--threads={threads}"),
                                 variants)

    def test_qr_takes_inner_blocks_of_every_size(self):
        for inner in [1, 5, 30]:
            result = run("qr", "--n=100", "--tile=30", f"--inner={inner}", "--repeat=1")
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


class OrderedByData(unittest.TestCase):
    """sparselu, gauss_seidel, nbody and stream: whole blocks, smaller last blocks, one block, one number."""

    def expect_right(self, program, n, block, *arguments, says, **variables):
        for threads in [1, 3]:
            result = run(program, f"--n={n}", f"--block={block}", "--repeat=1", f"--threads={threads}", *arguments, **variables)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertIn(says, result.stdout)
            for variant in ["serial", "barriers", "tasks"]:
                self.assertRegex(result.stdout, rf"(?m)^  {variant} +\d")

    def test_sparselu_is_right(self):
        for n, block, tasks in [(1, 1, 1), (7, 7, 1), (8, 4, 5), (7, 3, 14), (100, 12, 141)]:
            self.expect_right("sparselu", n, block, says=f"sparselu: {n} rows in blocks of {block}, {tasks} task")

    def test_gauss_seidel_is_right(self):
        for n, block, tasks in [(1, 1, 4), (7, 7, 4), (8, 4, 16), (7, 3, 36), (100, 9, 576)]:
            self.expect_right("gauss_seidel", n, block, "--sweeps=4", says=f"of {block}, 4 sweeps, {tasks} tasks: every bit")

    def test_nbody_is_right(self):
        for n, block, tasks in [(1, 1, 6), (7, 7, 6), (8, 4, 18), (7, 3, 36), (100, 9, 468)]:
            self.expect_right("nbody", n, block, "--steps=3", says=f"of {block}, 3 steps, {tasks} tasks: every bit")

    def test_stream_is_right(self):
        for n, block in [(1, 1), (7, 7), (8, 4), (7, 3), (10007, 100)]:
            self.expect_right("stream", n, block, "--iterations=3", says=f"in blocks of {block}, 3 iterations: right in every bit")

    def test_a_creator_may_be_limited(self):
        for program in ["sparselu", "gauss_seidel", "nbody", "stream"]:
            self.expect_right(program, 100, 10, says=f"{program}: ", QUERN_LIVE_TASKS="3")

    def test_declare_all_that_they_access(self):
        for program, n, block, further in [("sparselu", 24, 8, []), ("sparselu", 8, 8, []), ("gauss_seidel", 20, 10, ["--sweeps=2"]),
                                           ("gauss_seidel", 70, 70, ["--sweeps=1"]), ("nbody", 30, 10, ["--steps=2"]),
                                           ("stream", 4000, 1000, ["--iterations=1"])]:
            result = run(program, f"--n={n}", f"--block={block}", "--repeat=1", "--threads=2", *further, QUERN_CHECK_ACCESSES="on")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotRegex(result.stderr, NAMED_MISTAKE)


@unittest.skipUnless(MPI, "built without MPI")
class OnSeveralRanks(unittest.TestCase):
    RING = ["ring", "--n=100", "--tile=25", "--pieces=2", "--variant=tasks-renamed", "--repeat=1", "--threads=1"]

    def bytes_of(self, library, *arguments):
        """Those of all messages of all runs of a rank, and the output."""
        result = run_ranks(library, "2", *self.RING, *arguments, "--quern:print-counter=/mpi/count/bytes",
                           "--quern:print-counter-destination=/dev/stderr")
        self.assertEqual(result.returncode, 0, result.stderr)
        units = {"B": 1, "KiB": 1024, "MiB": 1024**2}
        counted = re.findall(r"/count/bytes +(\S+) (B|KiB|MiB)", result.stderr)
        return sum(float(number) * units[unit] for number, unit in counted), result.stdout, result.stderr

    def test_dilated_messages_are_longer_by_the_factor(self):
        for library in MPI:
            plain, out, raw = self.bytes_of(library)
            self.assertGreater(plain, 0, raw)
            self.assertNotIn("dilated", out)
            dilated, out, _ = self.bytes_of(library, "--dilate=3")
            self.assertAlmostEqual(dilated / plain, 4, places=2)
            self.assertIn("  dilated: 3 bytes more with each byte of a message\n", out)

    def test_of_every_variant_may_be_dilated_beside_noise(self):
        for library in MPI:
            for program in [["hpl", "--n=60", "--tile=12"], ["cg", "--n=16", "--strip=4"], ["jacobi", "--n=32", "--tile=8", "--steps=9"],
                            ["cholesky", "--n=60", "--tile=12"], ["ring", "--n=40", "--tile=10", "--pieces=2"],
                            ["ccube", "--n=100", "--copy=100", "--number=11"]]:
                result = run_ranks(library, "2", *program, "--dilate=0.5", "--noise=0.01", "--noise-burst=1", "--noise-seed=7",
                                   "--repeat=1", "--threads=1")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("  noise on each rank: 1 ms each 0.01 s, on average; seed 7\n", result.stdout)


class Mistakes(unittest.TestCase):
    def expect(self, arguments, *parts, status=2, **variables):
        result = run(*arguments, **variables)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        self.assertEqual(result.stdout, "")
        for part in parts:
            self.assertIn(part, result.stderr)

    def test_in_settings(self):
        accepted = "accepted: a whole number from 1 to 4096, or auto"
        self.expect(["fib", "--quern:thread=2"], "unknown option --quern:thread=2", "did you mean '--quern:threads'?")
        self.expect(["fib", "--quern:threads=0"], "threads is '0' (command line); " + accepted)
        self.expect(["fib", "--threads", "0"], "threads is '0' (option --threads); " + accepted)
        self.expect(["fib", "--threads", "-1"], "threads is '-1' (option --threads); " + accepted)
        self.expect(["fib", "--bind=compct"], "bind is 'compct' (option --bind)", "did you mean 'compact'?")
        self.expect(["fib", "--bind=3999"], "bind is '3999' (option --bind)", "names CPU 3999")
        self.expect(["fib"], "policy is 'foo' (environment QUERN_POLICY)", QUERN_POLICY="foo")
        self.expect(["fib"], "QUERN_THREAD;", "did you mean 'QUERN_THREADS'?", QUERN_THREAD="2")
        self.expect(["fib"], "config is '/no/such.toml'", "No such file", QUERN_CONFIG="/no/such.toml")

    def test_in_numbers(self):
        heat = "accepted: a whole number from 1 to 1000000000000"
        for text in ["-5", "0", "x", "1e6", "1.5", "", "99999999999999999999"]:
            self.expect(["heat", "--points", text], f"--points is '{text}'; {heat}")
        for text in ["0", "1000", "atuo", "-1", "1e3"]:
            self.expect(["heat", "--points", "100", "--partition", text],
                        f"--partition is '{text}'; accepted: a whole number from 1 to --points, 100, or auto")
        self.expect(["heat", "--points"], "--points")
        self.expect(["fib", "--n", "61"], "--n is '61'; accepted: a whole number from 0 to 60")
        self.expect(["nqueens", "--n", "0"], "--n is '0'; accepted: a whole number from 1 to 17")
        self.expect(["uts", "--repeat", "-1"], "--repeat is '-1'")

    @unittest.skipUnless(HAS_BLAS, "built without OpenBLAS")
    def test_in_options_of_dense_linear_algebra(self):
        for program in DENSE:
            self.expect([program, "--n", "0"], "--n is '0'; accepted: a whole number from 1 to 100000")
            self.expect([program, "--n", "9", "--tile", "10"], "--tile is '10'; accepted: a whole number from 1 to --n, 9")
            self.expect([program, "--n", "100000"], f"{program}: ", "memory", status=1)
            self.expect([program, "--compare=of"], "--compare is 'of'; accepted: on, off; did you mean 'on'?")
        self.expect(["lu", "--rank=bth"], "--rank is 'bth'; accepted: on, off, both; did you mean 'both'?")
        self.expect(["lu", "--panel=bufer"], "--panel is 'bufer'; accepted: place, buffer, renamed, all; did you mean 'buffer'?")
        self.expect(["cholesky", "--layout=column"], "--layout is 'column'; accepted: tiles, columns, both; did you mean 'columns'?")
        self.expect(["lu", "--n=100", "--tile=50"], "lu: quern: renaming-bytes is 40023, smaller than one version of a renamed "
                    "object, 40024 bytes; accepted: as much or more, or 0 to rename nothing", QUERN_RENAMING_BYTES="40023")
        self.expect(["lu", "--n=9", "--zero-column=10"], "--zero-column is '10'; accepted: a whole number from 1 to --n, 9")
        self.expect(["qr", "--tile=9", "--inner=10"], "--inner is '10'; accepted: a whole number from 1 to --tile, 9")

    @unittest.skipUnless(HAS_BLAS, "built without OpenBLAS")
    def test_say_what_the_page_says(self):
        page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "README.md")
        with open(page, encoding="utf-8") as text:
            rows = re.findall(r"(?m)^\| `(.*)` \| (\d) \| `(.*)` \|$", text.read())
        self.assertGreater(len(rows), 12)
        for command, status, says in rows:
            words = command.split()
            variables = dict(word.split("=", 1) for word in words if word.startswith("QUERN_"))
            words = [word for word in words if not word.startswith("QUERN_")]
            if words[:2] != ["mpirun", "-n"]:
                results = [run(*words, **variables)]
            else:
                results = [run_ranks(library, *words[2:], **variables) for library in MPI]
            for result in results:
                said = [line for line in (result.stdout + result.stderr).splitlines() if not line.startswith("note: ")]
                self.assertEqual(result.returncode, int(status), f"{command}: {result.stderr}")
                self.assertRegex(said[0], "^" + ".*".join(re.escape(part) for part in says.split("…")) + "$", command)

    def test_in_blocks(self):
        for program, most, huge in [("sparselu", "100000", "100000"), ("gauss_seidel", "1000000", "1000000"),
                                    ("nbody", "1000000000", "1000000000"), ("stream", "1000000000000", "1000000000000")]:
            for text in ["0", "-1", "x", "1.5", ""]:
                self.expect([program, "--n", text], f"{program}: --n is '{text}'; accepted: a whole number from 1 to {most}")
            self.expect([program, "--block", "0"], f"--block is '0'; accepted: a whole number from 1 to {most}")
            self.expect([program, "--n", "9", "--block", "10"], "--block is '10'; accepted: a whole number from 1 to --n, 9")
            self.expect([program, "--blck", "10"], "unknown argument '--blck'", "did you mean '--block'?")
            self.expect([program, "--n", huge], f"{program}: there is not enough memory", status=1)
        self.expect(["gauss_seidel", "--sweeps", "0"], "--sweeps is '0'; accepted: a whole number from 1 to")
        self.expect(["nbody", "--steps", "0"], "--steps is '0'; accepted: a whole number from 1 to")
        self.expect(["stream", "--iterations", "0"], "--iterations is '0'; accepted: a whole number from 1 to")

    def test_in_words(self):
        self.expect(["heat", "--pionts", "4"], "unknown argument '--pionts'", "did you mean '--points'?")
        self.expect(["heat", "more"], "unknown argument 'more'")
        self.expect(["heat", "--sweep=shrt"], "--sweep is 'shrt'", "did you mean 'short'?")
        self.expect(["uts", "--tree", "T2"], "--tree is 'T2'; accepted: T1, T3, T1L")
        self.expect(["heat", "--partition", "atuo"], "did you mean 'auto'?")
        self.expect(["heat", "--tune=idlerate"], "--tune is 'idlerate'", "did you mean 'idle-rate'?")
        self.expect(["heat", "--tune=overall", "--partition", "1000"], "--partition is '1000' beside --tune; accepted: auto")
        self.expect(["heat", "--start", "1000"], "--start is '1000' without --partition auto or --tune")
        self.expect(["heat", "--partition", "auto", "--points", "100000", "--start", "1"],
                    "--start is '1'; accepted: a whole number from 1000 to")
        self.expect(["heat", "--csv", "/no/such/x.csv", "--points", "1000"], "--csv is '/no/such/x.csv'")

    def test_in_options_of_sssp_and_als(self):
        self.expect(["sssp", "--scale", "29"], "--scale is '29'; accepted: a whole number from 4 to 28")
        for text in ["0", "2", "x", "", "nan", "0.1x", "-0.1"]:
            self.expect(["sssp", "--delta", text], f"--delta is '{text}'; accepted: a number from 0.0001 to 1")
        self.expect(["sssp", "--seconds", "0"], "--seconds is '0'; accepted: a number from 0.001 to 1000000")
        self.expect(["sssp", "--seconds", "1", "--searches", "3"], "--searches and --seconds exclude each other")
        self.expect(["sssp", "--throttle", "saturatoin"], "--throttle is 'saturatoin'", "did you mean 'saturation'?")
        self.expect(["sssp", "--check=frist"], "--check is 'frist'", "did you mean 'first'?")
        self.expect(["als", "--users", "0"], "--users is '0'; accepted: a whole number from 1 to 1000000")
        self.expect(["als", "--launch", "asinc"], "--launch is 'asinc'; accepted: adaptive, async, fork, sync",
                    "did you mean 'async'?")
        self.expect(["als", "--regularization", "0"],
                    "--regularization is '0'; accepted: a number from 1e-06 to 1000000")

    def test_that_ask_for_too_much_memory(self):
        self.expect(["heat", "--points", "1000000000000", "--steps", "1"], "not enough memory", status=1)
        self.expect(["sssp", "--scale", "28"], "not enough memory", status=1)
        self.expect(["als", "--users", "1000000", "--items", "1000000"], "not enough memory", status=1)


if __name__ == "__main__":
    unittest.main()
