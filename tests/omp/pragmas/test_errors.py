# SPDX-License-Identifier: BSL-1.0
"""Wrong pragmas: each message names file, line and column, what was read, and what is accepted."""

import quern_cc

INT = "void f(int *a);"
# Name, source, the place of the mistake, and parts of the message. "as printed": misprints of the thesis's figures.
WRONG = [
    ("a clause with a typing error", f"#pragma omp task inuot(a)\n{INT}", "1:18",
     "omp task: unknown clause 'inuot'; did you mean 'inout'?"),
    ("a directive with a typing error", f"#pragma omp tsak inout(a)\n{INT}", "1:13",
     "omp: unknown directive 'tsak'; did you mean 'task'? accepted: task, taskwait"),
    ("figure 6.23 as printed: no task", f"#pragma css input(a)\n{INT}", "1:13",
     "css: unknown directive 'input'; a task is written 'css task input...'"),
    ("figure 5.3 as printed: reg", "#pragma css task input(buf) output(reg)\nvoid f(double buf[8], int *req);", "1:36",
     "'reg' is no parameter; did you mean 'req'? accepted: buf, req"),
    ("figure 6.23 as printed: ))", "#pragma css task input(a[n])) output(b[n])\nvoid f(double *a, double *b, int n);", "1:29",
     "css task: unknown text ')'"),
    ("figure 5.2 as printed: restart;", "void f(void) {\n#pragma css restart;\n}", "2:20",
     "css restart takes no clause, and ';' follows; accepted: #pragma css restart"),
    ("target without its underscore", f"#pragma css task input(a) target(comm thread)\n{INT}", "1:34",
     "target: 'comm thread'; accepted: comm_thread, device(smp)"),
    ("an open parenthesis", f"#pragma omp task in(a\n{INT}", "1:20", "the parenthesis after 'in' is not closed; accepted: in(...)"),
    ("a result", "#pragma omp task inout(a)\nint f(int *a);", "1:9",
     "'f' returns int, which its caller would have to wait for; accepted: void"),
    ("an output by value", "#pragma omp task out(n)\nvoid f(int n);", "1:22",
     "'n' is passed by value, so the task cannot write it; accepted: in(n), or a pointer"),
    ("an operator", f"#pragma omp task reduction(plus: a)\n{INT}", "1:28", "'plus: a' is not 'operator: data'; operator accepted: &,"),
    ("a device", f"#pragma omp task target(device(cuda)) in(a)\n{INT}", "1:32", "target: device 'cuda' is not supported; accepted: smp"),
    ("no function", "#pragma omp task in(a)\nint x;", "1:9", "stands before no function; accepted: directly before a declaration"),
    ("a void pointer", "#pragma omp task in(p)\nvoid f(void *p);", "1:21", "'p': a void * says no size; accepted: a pointer to a type"),
    ("a range without length", f"#pragma omp task in(a[0;])\n{INT}", "1:22", "'[0;]' is no range; accepted: [a;length], [a:last]"),
    ("too many indices", "#pragma omp task in(a[1;2][3;4])\nvoid f(int a[9]);", "1:21", "has 2 indices and 'a' 1 dimensions"),
    ("a wait for nothing", "void f(void) {\n#pragma css wait\n}", "2:13", "css wait: waits for what? accepted: css wait on(...)"),
    ("a wait outside", "#pragma omp taskwait\n", "1:9", "stands outside of every function; accepted: within one"),
    ("an unknown variable", "void f(int n) {\n#pragma omp task shared(m)\n{ n++; }\n}", "2:25", "'m' is no variable here; accepted: n"),
    ("a return", "int f(int n) {\n#pragma omp task\n{ return n; }\n return 0; }", "3:3", "returns from the function around it"),
    ("no name", "#pragma omp task in(a)\nvoid f(int *);", "1:9", "parameter 1 of 'f' has no name; accepted: parameters with names"),
    ("two pragmas", f"#pragma omp task in(a)\n{INT}\n#pragma omp task out(a)\n{INT}", "3:9",
     "is a task function already, by another pragma at bad.c:1"),
    ("a continued line", f"#pragma omp task \\\n    in(a) \\\n    priorty(3)\n{INT}", "3:5", "did you mean 'priority'?"),
    ("parameters behind the parentheses", "#pragma omp task inout(*a)\nvoid f(a) int *a; { ++*a; }", "1:9",
     "'f' declares its parameters behind the parentheses; accepted: types and names within them"),
    ("a wait as a branch", "int f(int n) {\nif (n)\n#pragma omp taskwait\nn = 1;\nreturn n; }", "3:9",
     "would take the place of the statement that 'if' executes; accepted: braces around both"),
    ("a range within an expression", "struct s { int **p; };\n#pragma omp task in(a->p[0;2][1])\nvoid f(struct s *a);", "2:27",
     "'a->p[0;2][1]': a range within an expression; accepted: one range with both ends, behind all else"),
    ("a kind of dependence", f"#pragma omp task depend(inn: a)\n{INT}", "1:25", "'inn' is no kind of dependence; did you mean 'in'?"),
]


class Errors(quern_cc.Case):
    """All of them, each in one sentence."""

    # A wrong pragma gets a message that names file, line, column, what was read, what is accepted and the nearest match.
    def test_messages(self):
        for name, source, place, what in WRONG:
            with self.subTest(name):
                self.write("bad.c", source + "\n")
                done = self.run_in_folder(quern_cc.QUERN, "cc", "-c", "bad.c")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertTrue(done.stderr.startswith(f"bad.c:{place}: error: "), done.stderr)
                self.assertIn(what, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)

    def test_cpp(self):
        for source, what in (("template <class T>\nvoid f(T *a);", "'f' is a template"),
                             ("void f(int &&a);", "parameter 'a' of 'f' is an rvalue reference")):
            self.write("bad.cpp", f"#pragma omp task inout(a)\n{source}\n")
            done = self.run_in_folder(quern_cc.QUERN, "c++", "-c", "bad.cpp")
            self.assertEqual(done.returncode, 2)
            self.assertIn(what, done.stderr)

    # Fortran is refused in words.
    def test_fortran(self):
        self.write("solve.f90", "end\n")
        done = self.run_in_folder(quern_cc.QUERN, "cc", "-c", "solve.f90")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'solve.f90' is Fortran, which this front end cannot read; accepted: C and C++", done.stderr)

    def test_command_line(self):
        for words, what in ((["--kep", "x.c"], "unknown option '--kep'; did you mean '--keep'?"),
                            (["--mpi", "opnmpi", "x.c"], "--mpi opnmpi; did you mean 'openmpi'? accepted: mpich, openmpi"),
                            (["-c", "-o", "x.o", "a.c", "b.c"], "accepted: one source, or no -o")):
            done = self.run_in_folder(quern_cc.QUERN, "cc", *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(what, done.stderr)


if __name__ == "__main__":
    quern_cc.main()
