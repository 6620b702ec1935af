# SPDX-License-Identifier: BSL-1.0
"""What a pragma says: its directive, its clauses, and the data that they name."""

from dataclasses import dataclass, field

from .lexer import tokens_of
from .mistakes import Mistake, Place, accepted

# Of a clause: what the runtime is told. SMPSs's names are accepted in OmpSs's pragmas too, as OmpSs does.
ACCESSES = {"in": "in", "input": "in", "out": "out", "output": "out", "inout": "inout", "concurrent": "concurrent",
            "commutative": "commutative"}
SHAPES_IN_CLAUSE = ("input", "output")  # q[n] is the shape of q there, and in all clauses of css
DEPEND = {"in": "in", "out": "out", "inout": "inout", "mutexinoutset": "commutative", "inoutset": "concurrent"}
OPERATORS = {"+": "+", "-": "-", "*": "*", "&": "&", "|": "|", "^": "^", "&&": "A", "||": "O", "min": "m", "max": "M"}
WITH_EXPRESSION = ("priority", "if", "final")
ALONE = ("highpriority", "untied", "mergeable", "noflush")
SHARING = ("shared", "private", "firstprivate")
OF_FUNCTIONS = (*ACCESSES, "reduction", "depend", *WITH_EXPRESSION, *ALONE[:3], "target", "label")
OF_STATEMENTS = (*OF_FUNCTIONS, *SHARING, "default")
CSS = ("task", "start", "finish", "barrier", "wait", "restart")
OMP = ("task", "taskwait")
OPENMP = ("atomic", "barrier", "cancel", "cancellation", "critical", "declare", "depobj", "distribute", "end", "error", "flush",
          "for", "interop", "loop", "masked", "master", "metadirective", "nothing", "ordered", "parallel", "requires", "scan",
          "scope", "section", "sections", "simd", "single", "target", "taskgroup", "taskloop", "taskyield", "teams",
          "threadprivate", "tile", "unroll", "assume", "assumes", "allocate", "begin", "dispatch")
DEVICES = ("smp",)


@dataclass
class Section:
    """One index of an item: an element; from lower to upper; a length from lower on; or everything."""
    kind: str          # "element", "bounds", "length", "all"
    first: str = ""
    second: str = ""


@dataclass
class Item:
    """Data that a clause names: [shape] name sections, or any other expression that is an object."""
    text: str
    token: object
    kind: str
    operator: str = ""
    name: str = ""
    shape: list = field(default_factory=list)
    sections: list = field(default_factory=list)
    is_expression: bool = False
    is_pointee: bool = False  # *name
    base: str = ""  # of an expression with a range behind it: what stands before the range


class Reader:
    """The tokens of one pragma, with their places in the user's source."""

    def __init__(self, words, file, line):
        self.words, self.file, self.line = words, file, line
        self.tokens = tokens_of(words)
        self.next = 0
        self._columns = self._columns_in_source()

    def _columns_in_source(self):
        """(line, column) of each token, from the source itself if its words are the same."""
        try:
            with open(self.file, encoding="utf-8", errors="surrogateescape") as source:
                lines = source.read().split("\n")[self.line - 1:]
        except OSError:
            return None
        joined, starts = "", []
        for text in lines:
            starts.append(len(joined))
            if not text.endswith("\\"):
                joined += text
                break
            joined += text[:-1] + " "
        found = tokens_of(joined)
        if [one.text for one in found[2:]] != [one.text for one in self.tokens]:
            return None
        at = []
        for one in found[2:]:
            row = max(i for i, start in enumerate(starts) if start <= one.at)
            at.append((self.line + row, one.at - starts[row] + 1))
        return at

    def place(self, token=None):
        if self._columns is None:
            return Place(self.file, self.line)
        if token is None:
            line, column = self._columns[-1]
            return Place(self.file, line, column + len(self.tokens[-1].text))
        return Place(self.file, *self._columns[self.tokens.index(token)])

    def fail(self, what, token=None):
        raise Mistake(what, self.place(token))

    def peek(self):
        return self.tokens[self.next] if self.next < len(self.tokens) else None

    def take(self):
        one = self.peek()
        self.next += 1
        return one

    def text_of(self, tokens):
        return self.words[tokens[0].at:tokens[-1].at + len(tokens[-1].text)] if tokens else ""

    def parentheses(self, after):
        """The tokens within the parentheses that follow."""
        opening = self.take()
        if opening is None or opening.text != "(":
            self.fail(f"'{after.text}' needs parentheses; accepted: {after.text}(...)", opening or after)
        depth, inside = 1, []
        while True:
            one = self.take()
            if one is None:
                self.fail(f"the parenthesis after '{after.text}' is not closed; accepted: {after.text}(...)", opening)
            depth += (one.text in "([{") - (one.text in ")]}")
            if depth == 0:
                if not inside:
                    self.fail(f"'{after.text}()' names nothing; accepted: {after.text}(...) with at least one word", after)
                return inside
            inside.append(one)


def split_at(tokens, separator):
    """Parts between separators outside of brackets, and the separators."""
    parts, depth = [[]], 0
    for one in tokens:
        depth += (one.text in "([{") - (one.text in ")]}")
        if one.text == separator and depth == 0:
            parts.append([])
        else:
            parts[-1].append(one)
    return parts


def closing(tokens, at, reader):
    """The index of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i].text in "([{") - (tokens[i].text in ")]}")
        if depth == 0:
            return i
    reader.fail(f"'{tokens[at].text}' is not closed", tokens[at])
    return None


def section_of(tokens, bracket, is_openmp, reader):
    """What stands between brackets."""
    inside = tokens[1:-1]
    text = reader.text_of
    if not inside:
        return Section("all")
    for separator in ("..", ";", ":"):
        parts = split_at(inside, separator)
        if len(parts) == 1:
            continue
        if len(parts) != 2 or (separator != ":" and not all(parts)):
            reader.fail(f"'{text(tokens)}' is no range; accepted: [a;length], [a:last], {{a..last}}, {{a:length}}, {{}}",
                        tokens[0])
        lower = text(parts[0]) or "0"
        if not parts[1]:
            return Section("from", lower)
        is_length = separator == ";" or (separator == ":" and (bracket == "{" or is_openmp))
        return Section("length" if is_length else "bounds", lower, text(parts[1]))
    return Section("element", text(inside))


def item_of(tokens, kind, reader, is_openmp=False):
    """[e1][e2] name [..]{..}, *name, or an expression."""
    item = Item(reader.text_of(tokens), tokens[0], kind)
    at = 0
    while at < len(tokens) and tokens[at].text == "[":
        end = closing(tokens, at, reader)
        size = section_of(tokens[at:end + 1], "[", False, reader)
        if size.kind != "element":
            reader.fail(f"'{reader.text_of(tokens[at:end + 1])}' before a name is a number of elements; accepted: [n] p",
                        tokens[at])
        item.shape.append(size.first)
        at = end + 1
    if not item.shape and len(tokens) == 2 and tokens[0].text == "*" and tokens[1].is_name:
        item.name, item.token, item.is_pointee = tokens[1].text, tokens[1], True
        return item
    if at < len(tokens) and tokens[at].is_name:
        item.name, item.token = tokens[at].text, tokens[at]
        at += 1
        while at < len(tokens) and tokens[at].text in "[{":
            end = closing(tokens, at, reader)
            item.sections.append(section_of(tokens[at:end + 1], tokens[at].text, is_openmp, reader))
            at = end + 1
        if at == len(tokens):
            return item
    if item.shape:
        reader.fail(f"'{item.text}' is no array; accepted after [n]: the name of a pointer", tokens[min(at, len(tokens) - 1)])
    names = [one for one in tokens if one.is_name]
    if not names:
        reader.fail(f"'{item.text}' names no data; accepted: a parameter, p[a;length], p[a:last], {{a..last}}, [n] p, *p",
                    tokens[0])
    item.name, item.token, item.is_expression, item.sections = names[0].text, names[0], True, []
    range_behind(item, tokens, reader, is_openmp)
    return item


def range_behind(item, tokens, reader, is_openmp):
    """s->x[0;n]: elements from where an expression points to."""
    at, last = 0, None
    while at < len(tokens):
        end = closing(tokens, at, reader) if tokens[at].text in "([{" else at
        last = (at, end) if tokens[at].text in "[{" else None
        at = end + 1
    ranges = [one for one in tokens if one.text in (";", "..", "{")]
    if last is not None and last[0] > 0:
        section = section_of(tokens[last[0]:], tokens[last[0]].text, is_openmp, reader)
        if section.kind in ("length", "bounds"):
            item.base, item.sections = reader.text_of(tokens[:last[0]]), [section]
            ranges = [one for one in tokens[:last[0]] if one.text in (";", "..", "{")]
    if ranges:
        reader.fail(f"'{item.text}': a range within an expression; accepted: one range with both ends, behind all else, such as "
                    "s->p[a;length]", ranges[0])


class Statement:
    """What the pragma asks for: `what` is task, taskwait, wait_on, restart or nothing; of a task its clauses."""

    def __init__(self, reader, dialect, what):
        self.reader, self.dialect, self.what = reader, dialect, what
        self.items, self.sharing, self.expressions, self.flags = [], {}, {}, set()
        self.label = None
        self.default = None

    def read_clauses(self, known):
        reader = self.reader
        while reader.peek() is not None:
            word = reader.take()
            if word.text in (",",) and reader.peek() is not None:
                continue
            if word.text not in known:
                what = "clause" if word.is_name else "text"
                reader.fail(f"{self.dialect} {self.what}: unknown {what} '{word.text}'; {accepted(word.text, known)}", word)
            self._clause(word)

    def _clause(self, word):
        name = word.text
        reader = self.reader
        if name in ALONE:
            self.flags.add(name)
            return
        inside = reader.parentheses(word)
        if name in ACCESSES:
            self._items(inside, ACCESSES[name])
            if name in SHAPES_IN_CLAUSE or self.dialect == "css":
                self._brackets_are_shapes()
        elif name == "reduction":
            self._reduction(word, inside)
        elif name == "depend":
            self._depend(word, inside)
        elif name in WITH_EXPRESSION:
            self.expressions[name] = reader.text_of(inside)
        elif name == "target":
            self._target(inside)
        elif name in SHARING:
            for part in split_at(inside, ","):
                if len(part) != 1 or not part[0].is_name:
                    reader.fail(f"{name}: '{reader.text_of(part)}' is no variable; accepted: names, separated by commas",
                                (part or inside)[0])
                self.sharing[part[0].text] = (name, part[0])
        elif name == "default":
            if inside[0].text not in ("shared", "firstprivate") or len(inside) != 1:
                reader.fail(f"default: '{reader.text_of(inside)}'; {accepted(inside[0].text, ('shared', 'firstprivate'))}",
                            inside[0])
            self.default = inside[0].text
        elif name == "label":
            self.label = reader.text_of(inside)
        else:  # on
            self._items(inside, "inout")
            if self.dialect == "css":
                self._brackets_are_shapes()

    def _items(self, inside, kind, is_openmp=False, operator=""):
        for part in split_at(inside, ","):
            if not part:
                self.reader.fail("nothing stands between two commas, or a comma is the last; accepted: data, separated by "
                                 "commas", inside[0])
            item = item_of(part, kind, self.reader, is_openmp)
            item.operator = operator
            self.items.append(item)

    def _brackets_are_shapes(self):
        """q[n] of SMPSs says how large q is; {..} says which part."""
        for item in self.items:
            if not item.shape and item.sections and not item.is_expression:
                kinds = [one.kind for one in item.sections]
                shapes = kinds.count("element")
                if kinds[:shapes] == ["element"] * shapes and not getattr(item, "is_shaped", False):
                    item.shape = [one.first for one in item.sections[:shapes]]
                    item.sections = item.sections[shapes:]
            item.is_shaped = True

    def _reduction(self, word, inside):
        parts = split_at(inside, ":")
        if len(parts) == 1 and self.dialect == "css":  # SMPSs names no operator: one at a time
            self._items(inside, "commutative")
            return
        operator = "".join(one.text for one in parts[0])
        if len(parts) != 2 or operator not in OPERATORS or not parts[1]:
            self.reader.fail(f"reduction: '{self.reader.text_of(inside)}' is not 'operator: data'; operator "
                             f"{accepted(operator, OPERATORS)}", inside[0])
        self._items(parts[1], "reduction", operator=OPERATORS[operator])

    def _depend(self, word, inside):
        parts = split_at(inside, ":")
        kind = parts[0][0].text if len(parts[0]) == 1 else self.reader.text_of(parts[0])
        if len(parts) < 2 or kind not in DEPEND:
            self.reader.fail(f"depend: '{kind}' is no kind of dependence; {accepted(kind, DEPEND)}", inside[0])
        self._items(inside[2:], DEPEND[kind], is_openmp=True)

    def _target(self, inside):
        reader = self.reader
        word = inside[0]
        if word.text == "comm_thread" and len(inside) == 1:
            self.flags.add("comm_thread")
        elif word.text == "device" and len(inside) >= 4:
            for one in inside[2:-1:2]:
                if one.text not in DEVICES:
                    reader.fail(f"target: device '{one.text}' is not supported; {accepted(one.text, DEVICES)}", one)
        else:
            reader.fail(f"target: '{reader.text_of(inside)}'; {accepted(word.text, ('comm_thread', 'device(smp)'))}", word)


def read_pragma(pragma):
    """The statement of a pragma, or None: it is not one of ours."""
    reader = Reader(pragma.words, pragma.file, pragma.line)
    if len(reader.tokens) == 0 or reader.tokens[0].text not in ("omp", "css"):
        return None
    dialect = reader.take().text
    word = reader.take()
    directives = CSS if dialect == "css" else OMP
    if word is None:
        reader.fail(f"{dialect}: no directive; accepted: {', '.join(directives)}", reader.tokens[0])
    if dialect == "omp" and word.text in OPENMP:
        return None
    if word.text not in directives:
        what = f"{dialect}: unknown directive '{word.text}'"
        if word.text in OF_FUNCTIONS:
            reader.fail(f"{what}; a task is written '{dialect} task {word.text}...'; accepted: {', '.join(directives)}", word)
        reader.fail(f"{what}; {accepted(word.text, directives)}", word)
    return directive(reader, dialect, word)


def directive(reader, dialect, word):
    if word.text == "task":
        return Statement(reader, dialect, "task")  # its clauses are read when it is known what it stands before
    if word.text in ("taskwait", "wait"):
        wait = Statement(reader, dialect, word.text)
        wait.read_clauses(("on", "noflush") if dialect == "omp" else ("on",))
        if dialect == "css" and not wait.items:
            reader.fail("css wait: waits for what? accepted: css wait on(...); css barrier waits for all", word)
        wait.what = "wait_on" if wait.items else "taskwait"
        return wait
    rest = reader.peek()
    if rest is not None:
        reader.fail(f"{dialect} {word.text} takes no clause, and '{rest.text}' follows; accepted: #pragma {dialect} {word.text}",
                    rest)
    what = {"start": "nothing", "finish": "taskwait", "barrier": "taskwait", "restart": "restart"}[word.text]
    return Statement(reader, dialect, what)
