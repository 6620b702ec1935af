// SPDX-License-Identifier: BSL-1.0
// All places of n queens by tasks with exceptions: each task throws and catches its own dead ends,
// and sums up the answers of its children behind a taskgroup. Counts and sums of all solutions must
// be those of the serial search.
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace {

constexpr int k_task_levels = 3;

class board {
public:
    explicit board(int n) : m_size(n) {}

    int size() const { return m_size; }
    int rows() const { return static_cast<int>(m_columns.size()); }
    void place(int column) {
        for (int row = 0; row < rows(); ++row) {
            const int distance = column - m_columns[row];
            if (distance == 0 || distance == rows() - row || distance == row - rows())
                throw std::domain_error("attacked");
        }
        m_columns.push_back(column);
    }
    std::uint64_t code() const {
        std::uint64_t code = 1;
        for (const int column : m_columns)
            code = code * 31 + static_cast<std::uint64_t>(column);
        return code;
    }

private:
    int m_size;
    std::vector<int> m_columns;
};

struct answer {
    long count = 0;
    std::uint64_t sum = 0;
};

bool try_place(board& b, int column) {
    try {
        b.place(column);
        return true;
    } catch (const std::domain_error&) {
        return false;
    }
}

void search_serially(const board& b, answer& to) {
    if (b.rows() == b.size()) {
        ++to.count;
        to.sum += b.code();
        return;
    }
    for (int column = 0; column < b.size(); ++column) {
        board next = b;
        if (try_place(next, column)) search_serially(next, to);
    }
}

// The answers of the children are complete at the end of the taskgroup.
void search(const board& b, answer& to) {
    if (b.rows() >= k_task_levels) {
        search_serially(b, to);
        return;
    }
    std::vector<answer> answers(b.size());
#pragma omp taskgroup
    for (int column = 0; column < b.size(); ++column) {
#pragma omp task firstprivate(b, column) shared(answers)
        {
            board next = b;
            if (try_place(next, column)) search(next, answers[column]);
        }
    }
    for (const answer& a : answers) {
        to.count += a.count;
        to.sum += a.sum;
    }
}

}  // namespace

int main() {
    std::uint64_t sum = 0;
    long total = 0;
    for (int n = 4; n <= 7; ++n) {
        answer parallel, serial;
        const board empty(n);
#pragma omp parallel
#pragma omp single
        search(empty, parallel);
        search_serially(empty, serial);
        if (parallel.count != serial.count || parallel.sum != serial.sum) {
            std::fprintf(stderr, "queens: %ld solutions for %d queens, serially %ld\n",
                         parallel.count, n, serial.count);
            return 1;
        }
        sum = sum * 31 + parallel.sum;
        total += parallel.count;
    }
    std::printf("queens %ld %016llx\n", total, static_cast<unsigned long long>(sum));
}
