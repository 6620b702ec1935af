// SPDX-License-Identifier: BSL-1.0
// The screen of `quern top`, by curses.
#include "top/screen.hpp"

#include <quern/counters/programs.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#define NCURSES_NOMACROS  // functions instead, for names with ::
#include <langinfo.h>
#include <ncurses.h>
#include <unistd.h>

namespace quern::tool {

namespace {

using clock = std::chrono::steady_clock;

constexpr const char* k_help[] = {
    "",
    "  q      leave",
    "  s      sort workers, or ranks, by another column",
    "  p      pause, or go on",
    "  +, -   look less or more often",
    "  up, down, page up, page down   move through the workers",
    "  ?      this help, or back",
    "",
    "  state      what the worker does: running a task, managing (the scheduler), idle",
    "  mean task  time in task bodies for each task that ended",
    "  parts/s    pieces of loops, and scopes: work that makes no tasks",
    "  overhead   share of the time that the scheduler took",
    "  idle       share of the time without work",
    "  queued     ready tasks that wait for a worker",
    "  stolen/s   tasks taken from another worker",
    "  time       below: share of the workers' time in tasks of one kind, by samples",
    "  W          power of the machine's packages, whoever uses it",
};

/// Curses owns the terminal while this lives.
class terminal {
public:
    terminal() {
        std::setlocale(LC_CTYPE, "");
        ::initscr();
        ::cbreak();
        ::noecho();
        ::keypad(stdscr, TRUE);
        ::curs_set(0);
    }
    terminal(const terminal&) = delete;
    terminal& operator=(const terminal&) = delete;
    ~terminal() { ::endwin(); }
};

/// On a terminal without UTF-8 the only character that is not ASCII is replaced.
std::string for_terminal(std::string_view line) {
    const bool is_utf8 = std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
    constexpr std::string_view k_micro = "µ";
    std::string made;
    while (!line.empty()) {
        const std::size_t plain = is_utf8 ? line.size() : std::min(line.find(k_micro), line.size());
        made.append(line.substr(0, plain));
        line.remove_prefix(plain);
        if (!line.empty()) {
            made.push_back('u');
            line.remove_prefix(k_micro.size());
        }
    }
    return made;
}

class screen {
public:
    screen(top_subject& subject, std::chrono::milliseconds interval)
        : m_subject(subject), m_interval(interval), m_due(clock::now() + k_first) {}

    /// False: the user quits.
    bool step() {
        const auto next = m_paused ? m_due : std::min(m_due, m_next_look);
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - clock::now()).count();
        ::timeout(static_cast<int>(std::clamp<long>(left, 0, k_longest_wait)));
        const int key = ::getch();
        if (key == 'q') {
            return false;
        }
        obey(key);
        const auto now = clock::now();
        const bool is_due = now >= m_due;
        if (is_due) {
            m_due = now + m_interval;
        }
        if (is_due && !m_paused) {
            m_subject.renew();
        } else if (now >= m_next_look && !m_paused) {
            m_subject.look();
            m_next_look = now + top_subject::pause();
        }
        if (is_due || key != ERR) {
            draw();
        }
        return true;
    }

private:
    static constexpr auto k_first = std::chrono::milliseconds(200);  // an early first frame
    static constexpr long k_longest_wait = 1000;                     // milliseconds
    static constexpr auto k_shortest = std::chrono::milliseconds(50);
    static constexpr auto k_longest = std::chrono::milliseconds(60'000);

    void obey(int key) {
        const int page = std::max(LINES - 4, 1);
        switch (key) {
            case 's':
                m_order = static_cast<top_order>((static_cast<std::size_t>(m_order) + 1) %
                                                 std::size(k_top_orders));
                break;
            case 'p':
                m_paused = !m_paused;
                break;
            case '?':
            case 'h':
                m_helps = !m_helps;
                break;
            case '+':
                m_interval = std::min<std::chrono::milliseconds>(2 * m_interval, k_longest);
                break;
            case '-':
                m_interval = std::max<std::chrono::milliseconds>(m_interval / 2, k_shortest);
                m_due = std::min(m_due, clock::now() + m_interval);
                break;
            case KEY_DOWN:
            case KEY_UP:
                m_first += key == KEY_DOWN ? 1 : -1;
                break;
            case KEY_NPAGE:
            case KEY_PPAGE:
                m_first += key == KEY_NPAGE ? page : -page;
                break;
            default:
                break;
        }
    }

    void draw() {
        ::erase();
        const int height = LINES - 1;  // the last line shows the keys
        if (m_helps) {
            for (int i = 0; i < std::min<int>(height, std::size(k_help)); ++i) {
                ::mvaddstr(i, 0, k_help[i]);
            }
        } else {
            draw_lines(height);
        }
        ::attron(A_REVERSE);
        ::mvaddnstr(height, 0, status().c_str(), COLS);
        ::attroff(A_REVERSE);
        ::refresh();
    }

    void draw_lines(int height) {
        const auto lines = m_subject.lines(m_order, static_cast<std::size_t>(COLS));
        const int most = std::max(static_cast<int>(lines.size()) - height, 0);
        m_first = std::clamp(m_first, 0, most);
        const auto first = static_cast<std::size_t>(m_first);
        for (int row = 0; row < height && m_first + row < static_cast<int>(lines.size()); ++row) {
            const std::size_t at = first + static_cast<std::size_t>(row);
            const bool is_heading = at == 0 || lines[at].starts_with("worker") ||
                                    lines[at].starts_with("  rank") ||
                                    lines[at].starts_with("  time  ");
            ::attrset(is_heading ? A_BOLD : A_NORMAL);
            ::mvaddstr(row, 0, for_terminal(lines[at]).c_str());
        }
        ::attrset(A_NORMAL);
    }

    std::string status() const {
        return fmt::format(" q leave  s sort: {}  p {}  +- every {} ms  ? help ",
                           k_top_orders[static_cast<std::size_t>(m_order)],
                           m_paused ? "go on (paused)" : "pause", m_interval.count());
    }

    top_subject& m_subject;
    std::chrono::milliseconds m_interval;
    clock::time_point m_due;  ///< the next frame
    clock::time_point m_next_look;
    top_order m_order = top_order::rank;
    bool m_paused = false;
    bool m_helps = false;
    int m_first = 0;  ///< the line at the top
};

}  // namespace

bool has_screen() {
    const char* const kind = std::getenv("TERM");
    return ::isatty(STDOUT_FILENO) == 1 && ::isatty(STDIN_FILENO) == 1 && kind != nullptr &&
           *kind != '\0' && std::string_view(kind) != "dumb";
}

std::string watch_on_screen(top_subject& subject, std::chrono::milliseconds interval) {
    screen shown(subject, interval);
    const terminal whole;
    try {
        while (shown.step()) {
        }
    } catch (const counters::cannot_ask& error) {
        return error.what();
    }
    return "";
}

}  // namespace quern::tool
