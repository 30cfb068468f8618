// Gates of splits, and memberships as products of gates on the way down a tree.
//
// This header is compiled once for each instruction set (see kernels.cpp); everything in it has internal linkage.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels.hpp"
#include "tiles.hpp"
#include "vectors.hpp"

namespace reticulum {
namespace {

template <typename Real>
constexpr bool kIsDouble = std::is_same_v<Real, double>;
// Activations are clipped here so that exp cannot overflow.
template <typename Real>
constexpr Real kLargestActivation = kIsDouble<Real> ? Real(500) : Real(80);
// A normal activation of variance v has on average the gate of its mean over √(1 + π / 8 v); half of the variance over
// missing cells softens gates, as SOFTENING in gates.py.
constexpr double kSoftening = 0.5 * 0.39269908169872414;
// A responsibility below this counts as 0.
constexpr double kNegligible = 1e-13;

// Sets `out` (count, n) to the activations of `count` splits of the stack, from the split `first` on.
//
// In blocks with missing cells activations are softened by the factors that are left in `soft` (count, n).
template <typename Real>
void activate(const TreesOf<Real>& trees, int64_t first, int count, const BlockOf<Real>& block, Real* out, Real* soft) {
    const int n = block.n;
    product(trees.hyperplanes + first * trees.width, count, trees.width, block.design, block.stride, out, n);
    if (!block.missing) return;
    product(trees.variance + first * trees.gaps, count, trees.gaps, block.missing, block.stride, soft, n);
    for (int64_t at = 0; at < int64_t{count} * n; ++at) {
        soft[at] = Real(1) / std::sqrt(Real(1) + Real(kSoftening) * soft[at]);
        out[at] *= soft[at];
    }
}

// Sets gates to the left from V vectors of activations, and splits the membership `above` into `left` and `right`.
template <int V, typename Real>
inline void gate_tile(const Real* activation, const Real* above, Real* gate, Real* left, Real* right,
                      VecOf<Real>& most_left, VecOf<Real>& most_right) {
    using Vec = VecOf<Real>;
    constexpr int kLanes = kLanesOf<Real>;
    const Vec least = all(-kLargestActivation<Real>), most = all(kLargestActivation<Real>);
    // Both gates come from one exponential, each to full relative precision.
    Vec odds[V];
    for (int v = 0; v < V; ++v) odds[v] = -smaller(larger(load(activation + v * kLanes), least), most);
    exp_within(odds);
    for (int v = 0; v < V; ++v) {
        const Vec opened = Real(1) / (Real(1) + odds[v]), reached = load(above + v * kLanes);
        const Vec to_left = reached * opened, to_right = reached * (opened * odds[v]);
        store(gate + v * kLanes, opened);
        store(left + v * kLanes, to_left);
        store(right + v * kLanes, to_right);
        most_left = larger(most_left, to_left);
        most_right = larger(most_right, to_right);
    }
}

// Numbers on the way down one tree.
template <typename Real>
struct Descent {
    Real* activation;  // (m, n)
    Real* soft;        // (m, n): factors that soften activations; unused in blocks without gaps
    Real* gate;        // (m, n): gates to the left
    Real* reach;       // (m, n): membership in all leaves below each split
    Real* member;      // (leaves, n)
    char* alive;       // (m): whether some row of the block reaches the split
};

// Where the numbers of a child lie: of a split in `of_splits`, of a leaf in `of_leaves`.
template <typename Number>
Number* of_child(int64_t child, Number* of_splits, Number* of_leaves, int n) {
    return child >= 0 ? of_splits + child * n : of_leaves + ~child * n;
}

// Sets gates, and memberships as the products of gates on each leaf's path.
//
// A split that no row of the block reaches with a membership above `negligible` is not alive: its gates are left out,
// and memberships below it are 0. Activations are made on the way, a few splits at a time, unless `is_activated`.
template <typename Real>
void descend(const TreesOf<Real>& trees, int tree, const BlockOf<Real>& block, Real negligible, bool is_activated,
             const Descent<Real>& to) {
    using Vec = VecOf<Real>;
    constexpr int kLanes = kLanesOf<Real>;
    const int n = block.n, m = trees.m;
    Real *activation = to.activation, *soft = to.soft, *gate = to.gate, *reach = to.reach, *member = to.member;
    char* alive = to.alive;
    std::fill_n(alive, m, char{1});
    std::fill_n(m == 0 ? member : reach, n, Real(1));
    for (int split = 0; split < m; ++split) {
        if (!is_activated && split % kTileRows == 0) {
            const int count = std::min(kTileRows, m - split);
            bool any = false;
            for (int j = split; j < split + count; ++j) any |= alive[j] != 0;
            if (any)
                activate(trees, int64_t{tree} * m + split, count, block, activation + int64_t{split} * n,
                         soft + int64_t{split} * n);
        }
        const int64_t* pair = trees.children + 2 * split;
        Real* left = of_child(pair[0], reach, member, n);
        Real* right = of_child(pair[1], reach, member, n);
        if (!alive[split]) {
            for (int side = 0; side < 2; ++side) {
                if (pair[side] >= 0)
                    alive[pair[side]] = 0;
                else
                    std::fill_n(side ? right : left, n, Real(0));
            }
            continue;
        }
        const Real* above = reach + int64_t{split} * n;
        const Real* a = activation + int64_t{split} * n;
        Real* g = gate + int64_t{split} * n;
        Vec most_left = {}, most_right = {};
        int b = 0;
        for (; b + kTileGates * kLanes <= n; b += kTileGates * kLanes)
            gate_tile<kTileGates>(a + b, above + b, g + b, left + b, right + b, most_left, most_right);
        for (; b < n; b += kLanes) gate_tile<1>(a + b, above + b, g + b, left + b, right + b, most_left, most_right);
        if (pair[0] >= 0) alive[pair[0]] = any_above<Real>(most_left, negligible);
        if (pair[1] >= 0) alive[pair[1]] = any_above<Real>(most_right, negligible);
    }
}

}  // namespace
}  // namespace reticulum
