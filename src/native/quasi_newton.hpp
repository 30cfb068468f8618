// Quasi-Newton steps (L-BFGS) for hyperplanes and leaf statistics together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "information.hpp"
#include "metric.hpp"
#include "prices.hpp"

namespace reticulum {

inline Values joined(const Values& of_planes, const Values& of_sums) {
    Values both(of_planes);
    both.insert(both.end(), of_sums.begin(), of_sums.end());
    return both;
}

inline double dot(const Values& a, const Values& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

inline void add(Values& to, double share, const Values& added) {
    for (size_t j = 0; j < to.size(); ++j) to[j] += share * added[j];
}

// Hyperplanes and statistics of a tree, the gradient of the penalised bound there, and its E step (of statistics).
struct Point {
    Values place, gradient, e_step;
};

// Plain steps, which are gradients seen through a metric, converge slowly where the metric leaves out how unknowns
// depend on each other. The last few moves with the change of the gradient along each say how they do. The metric of
// hyperplanes is given each time and may change; that of statistics is only seen in their E steps.
class QuasiNewton {
  public:
    void forget() { pairs_.clear(); }

    // Learns from the move between two points. Where the gradient did not fall along it, the move says nothing of a
    // maximum and is left out.
    void learn(Point before, const Point& after) {
        Pair pair = {std::move(before.place), std::move(before.gradient), std::move(before.e_step)};
        for (size_t j = 0; j < pair.move.size(); ++j) pair.move[j] = after.place[j] - pair.move[j];
        add(pair.fall, -1.0, after.gradient);
        add(pair.shift, -1.0, after.e_step);
        double size = 0.0;
        for (size_t j = 0; j < pair.move.size(); ++j) size += std::abs(pair.move[j] * pair.fall[j]);
        if (!(dot(pair.move, pair.fall) > kLeastFall * size)) return;
        if (pairs_.size() == kMemory) pairs_.erase(pairs_.begin());
        pairs_.push_back(std::move(pair));
    }

    // Keeps the memory true when slope precisions (m) change: their effect on the gradient is known.
    void change_precisions(const Values& before, const Values& after, int width) {
        const int64_t size = static_cast<int64_t>(before.size()) * width;
        for (Pair& pair : pairs_)
            for (int64_t j = 0; j < size; ++j) {
                const int column = static_cast<int>(j % width);
                const double added =
                    prior_precision(after[j / width], column) - prior_precision(before[j / width], column);
                pair.fall[j] += added * pair.move[j];
            }
    }

    // Empty where nothing is in memory: a plain step then is as good.
    Values step(const Metric& metric, Values gradient, Values e_step) const {
        Values inverse;
        for (const Pair& pair : pairs_) {
            const double curvature = dot(pair.move, pair.fall);
            inverse.push_back(curvature > 0.0 ? 1.0 / curvature : 0.0);
        }
        if (std::all_of(inverse.begin(), inverse.end(), [](double value) { return value == 0.0; })) return {};
        Values shares(inverse.size());
        for (size_t p = shares.size(); p-- > 0;) {
            const Pair& pair = pairs_[p];
            shares[p] = inverse[p] * dot(pair.move, gradient);
            add(gradient, -shares[p], pair.fall);
            add(e_step, -shares[p], pair.shift);
        }
        Values step(gradient.size() - e_step.size());
        metric.apply(gradient.data(), step.data());
        step.insert(step.end(), e_step.begin(), e_step.end());
        for (size_t p = 0; p < shares.size(); ++p) {
            const Pair& pair = pairs_[p];
            add(step, shares[p] - inverse[p] * dot(pair.fall, step), pair.move);
        }
        return step;
    }

  private:
    // Twelve moves reach the optimum of trees of 4 splits, to 1e-8 nats, in 49 passes instead of 534.
    static constexpr size_t kMemory = 12;
    // Share of its products with the fall of the gradient that a move must not lose when they are added up: it is the
    // same in any units.
    static constexpr double kLeastFall = 1e-10;

    // A move of hyperplanes and statistics, and by how much the gradient and the E step fell along it.
    struct Pair {
        Values move, fall, shift;
    };

    std::vector<Pair> pairs_;  // the newest last
};

}  // namespace reticulum
