// SPDX-License-Identifier: BSL-1.0
// drift: particles on a ring repel those in the same cell, and drift in a dense cloud through all
// cells, so that the work moves from cell to cell. The cells are global objects; each locality
// drives a part of them, wherever they are. With --balance they move after the work.
#include "../in_session.hpp"

#include <quern/localities/balance.hpp>
#include <quern/localities/communicator.hpp>
#include <quern/localities/object.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace drift {

namespace {

namespace at = quern::localities;

constexpr const char* k_examples = R"(Examples:
  quern run -n 2 drift.openmpi
  quern run -n 4 drift.openmpi --cells 256 --particles 20000 --threads 1
  quern run -n 2 drift.openmpi --variant refine --every 5)";

struct problem {
    std::uint32_t cells = 128;
    std::uint32_t particles = 8000;
    std::uint32_t steps = 100;
    std::uint32_t every = 10;  ///< steps between two chances to move
};

struct particle {
    std::uint32_t id = 0;
    double x = 0;  ///< in [0, 1)
    double v = 0;
};

constexpr double k_time = 2e-3;  // of a step

std::uint32_t cell_of(double x, std::uint32_t cells) {
    return std::min(static_cast<std::uint32_t>(x * cells), cells - 1);
}

/// A particle of the cloud at the beginning, by nothing but its number.
particle made(std::uint32_t id, std::uint32_t particles) {
    const double place = (id + 0.5) / particles;
    double x = 0.25 + 0.06 * std::atanh(2 * place - 1);  // a logistic distribution
    x -= std::floor(x);
    return {id, x, 1.0 + 0.05 * std::sin(12.9898 * id)};
}

/// The particles of a part of the ring. All that it does is in the order of their numbers, so that
/// the bits do not depend on the order in which they come.
class cell {
public:
    cell() = default;
    explicit cell(std::vector<particle> own) : m_own(std::move(own)) {}

    void add(const std::vector<particle>& more) {
        m_own.insert(m_own.end(), more.begin(), more.end());
    }

    /// A step. Returns the particles that leave `number`, which is the cell's.
    std::vector<particle> advance(std::uint32_t number, std::uint32_t cells) {
        std::sort(m_own.begin(), m_own.end(),
                  [](const particle& a, const particle& b) { return a.id < b.id; });
        std::vector<double> force(m_own.size(), 0.0);
        for (std::size_t i = 0; i < m_own.size(); ++i) {
            for (std::size_t j = 0; j < m_own.size(); ++j) {
                const double distance = m_own[i].x - m_own[j].x;
                force[i] += 1e-7 * distance / (distance * distance + 1e-6);
            }
        }
        for (std::size_t i = 0; i < m_own.size(); ++i) {
            m_own[i].v += k_time * force[i];
            m_own[i].x += k_time * m_own[i].v;
            m_own[i].x -= std::floor(m_own[i].x);
        }
        const auto stay = std::stable_partition(
            m_own.begin(), m_own.end(),
            [&](const particle& each) { return cell_of(each.x, cells) == number; });
        std::vector<particle> leave(stay, m_own.end());
        m_own.erase(stay, m_own.end());
        return leave;
    }

    std::vector<particle> all() const { return m_own; }

    template <class Archive>
    void serialize(Archive& archive) {
        archive(m_own);
    }

private:
    std::vector<particle> m_own;
};

std::vector<std::vector<particle>> at_begin(const problem& p) {
    std::vector<std::vector<particle>> all(p.cells);
    for (std::uint32_t id = 0; id < p.particles; ++id) {
        const particle one = made(id, p.particles);
        all[cell_of(one.x, p.cells)].push_back(one);
    }
    return all;
}

/// By cell.
std::vector<std::vector<particle>> by_destination(const std::vector<particle>& leaving,
                                                  std::uint32_t cells) {
    std::vector<std::vector<particle>> to(cells);
    for (const particle& each : leaving) {
        to[cell_of(each.x, cells)].push_back(each);
    }
    return to;
}

/// A number that differs if any bit of any particle does.
std::uint64_t hash_of(std::vector<particle> all) {
    std::sort(all.begin(), all.end(),
              [](const particle& a, const particle& b) { return a.id < b.id; });
    std::uint64_t hash = all.size();
    for (const particle& each : all) {
        for (const double value : {each.x, each.v}) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &value, sizeof bits);
            hash = (hash ^ bits) * 0x100000001B3ULL;
        }
    }
    return hash;
}

std::uint64_t serial(const problem& p) {
    std::vector<cell> cells;
    for (auto& own : at_begin(p)) {
        cells.emplace_back(std::move(own));
    }
    for (std::uint32_t step = 0; step < p.steps; ++step) {
        std::vector<particle> leaving;
        for (std::uint32_t i = 0; i < p.cells; ++i) {
            const auto some = cells[i].advance(i, p.cells);
            leaving.insert(leaving.end(), some.begin(), some.end());
        }
        const auto to = by_destination(leaving, p.cells);
        for (std::uint32_t i = 0; i < p.cells; ++i) {
            cells[i].add(to[i]);
        }
    }
    std::vector<particle> all;
    for (const cell& each : cells) {
        const auto some = each.all();
        all.insert(all.end(), some.begin(), some.end());
    }
    return hash_of(std::move(all));
}

using cells_type = std::vector<at::object<cell>>;

/// The cells of this locality's part at the beginning.
cells_type make_own(const problem& p, std::uint32_t first, std::uint32_t last) {
    cells_type own;
    auto all = at_begin(p);
    for (std::uint32_t i = first; i < last; ++i) {
        own.push_back(at::make_at<cell>(at::here(), std::move(all[i])));
    }
    return own;
}

/// All cells, at all localities.
cells_type all_cells(const at::communicator& world, const cells_type& own) {
    cells_type all;
    for (const cells_type& some : world.all_gather(own).get()) {
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

void step(const problem& p, const cells_type& all, std::uint32_t first, std::uint32_t last,
          const at::communicator& world) {
    std::vector<quern::future<std::vector<particle>>> advanced;
    for (std::uint32_t i = first; i < last; ++i) {
        advanced.push_back(all[i].call(&cell::advance, i, p.cells));
    }
    std::vector<particle> leaving;
    for (auto& each : advanced) {
        const std::vector<particle> some = each.get();
        leaving.insert(leaving.end(), some.begin(), some.end());
    }
    world.barrier().get();  // all have advanced before any gets more
    auto to = by_destination(leaving, p.cells);
    std::vector<quern::future<void>> added;
    for (std::uint32_t i = 0; i < p.cells; ++i) {
        if (!to[i].empty()) {
            added.push_back(all[i].call(&cell::add, std::move(to[i])));
        }
    }
    for (auto& each : added) {
        each.get();
    }
    world.barrier().get();
}

struct outcome {
    double seconds = 0;
    std::uint64_t hash = 0;  ///< at the root
    std::uint64_t moved = 0;
    double moving = 0;  ///< seconds
    std::string why{};
};

/// Runs in a task of each locality.
outcome run_cells(const problem& p, at::balance_rule rule) {
    const auto ranks = static_cast<std::uint32_t>(at::count());
    const auto own = static_cast<std::uint32_t>(at::here());
    const std::uint32_t first = p.cells * own / ranks;
    const std::uint32_t last = p.cells * (own + 1) / ranks;
    const at::communicator world("drift");
    const cells_type all = all_cells(world, make_own(p, first, last));
    const at::balancer<cell> balance(all, rule);
    outcome result;
    result.seconds = apps::mpi::seconds_of_all([&] {
        for (std::uint32_t i = 0; i < p.steps; ++i) {
            step(p, all, first, last, world);
            if (rule != at::balance_rule::none && (i + 1) % p.every == 0) {
                if (at::here() == at::root) {
                    const at::rebalanced done = balance.rebalance().get();
                    result.moved += done.moved;
                    result.moving += done.seconds;
                    result.why = done.why;
                }
                world.barrier().get();
            }
        }
    });
    if (at::here() == at::root) {
        std::vector<particle> particles;
        for (const at::object<cell>& each : all) {
            const auto some = each.call(&cell::all).get();
            particles.insert(particles.end(), some.begin(), some.end());
        }
        result.hash = hash_of(std::move(particles));
    }
    world.barrier().get();
    return result;
}

int run(const apps::mpi::place& of, int argc, char** argv) {
    cli::command_line app("Particles whose work moves through the cells of a ring.", "drift");
    problem p;
    apps::mpi::variant_options common({"static", "refine", "greedy"});
    apps::add_count(app, "--cells", p.cells, 1, 100'000, "cells of the ring");
    apps::add_count(app, "--particles", p.particles, 1, 10'000'000, "particles");
    apps::add_count(app, "--steps", p.steps, 1, 1'000'000, "time steps");
    apps::add_count(app, "--every", p.every, 1, 1'000'000, "steps between two moves of cells");
    common.add_to(app);
    if (!common.parse(app, k_examples, argc, argv)) {
        return apps::k_success;
    }
    apps::mpi::require_at_least_ranks("--cells", p.cells, of);
    const std::uint64_t expected = of.is_first() ? serial(p) : 0;
    std::vector<std::string> lines;
    const auto with = [&](at::balance_rule rule, std::string name) {
        return apps::variant{
            name, [&, rule, name] {
                const outcome one = apps::localities::in_session(
                    argc, argv, [&](auto&) { return run_cells(p, rule); });
                apps::mpi::require_on_all(!of.is_first() || one.hash == expected,
                                          "bits of particles with " + name);
                std::erase_if(lines,
                              [&](const std::string& line) { return line.starts_with(name); });
                lines.push_back(fmt::format("{}: {} cells have moved, in {:.3f} ms; {}", name,
                                            one.moved, 1e3 * one.moving, one.why));
                return one.seconds;
            }};
    };
    std::vector<apps::variant> variants = common.chosen({with(at::balance_rule::none, "static"),
                                                         with(at::balance_rule::refine, "refine"),
                                                         with(at::balance_rule::greedy, "greedy")});
    apps::mpi::run_in_turns(variants, common.repeat);
    fmt::print("drift: {} particles in {} cells, {} steps: the bits of the serial run in each\n",
               p.particles, p.cells, p.steps);
    for (const std::string& each : lines) {
        if (!each.starts_with("static")) {
            fmt::print("last run, {}\n", each);
        }
    }
    apps::mpi::print_all(variants, common.repeat, of, p.steps, "steps/s");
    return apps::k_success;
}

}  // namespace

}  // namespace drift

int main(int argc, char** argv) { return apps::mpi::guarded_main("drift", argc, argv, drift::run); }
