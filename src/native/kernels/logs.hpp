// Memberships and joints as logarithms, for rows whose products of gates and likelihoods might vanish.
//
// This header is compiled once for each instruction set (see kernels.cpp); everything in it has internal linkage.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gates.hpp"
#include "statistics.hpp"

namespace reticulum {
namespace {

// Products of gates and likelihoods may stand for their logs while their sum is above kSmallestTotal, and while the log
// of what the rest of the tree adds to it is below kLargestExtra.
template <typename Real>
constexpr Real kSmallestTotal = kIsDouble<Real> ? Real(1e-200) : Real(1e-30);
template <typename Real>
constexpr Real kLargestExtra = kIsDouble<Real> ? Real(400) : Real(60);
// Stands for the log of 0: unlike an infinity it does not turn differences into NaN.
template <typename Real>
constexpr Real kLogOfNothing = kIsDouble<Real> ? Real(-1e308) : Real(-1e38);

inline Vec log_of_sum(Vec a, Vec b) {
    const Vec top = larger(a, b);
    return top + log(1.0 + exp(smaller(a, b) - top));
}

// Sets log memberships `member` (leaves, n) and log reach (m, n) from activations (m, n).
template <typename Real>
void descend_logs(const TreesOf<Real>& trees, const Real* activation, int n, Real* reach, Real* member) {
    using Vec = VecOf<Real>;
    constexpr int kLanes = kLanesOf<Real>;
    std::fill_n(trees.m == 0 ? member : reach, n, Real(0));
    for (int split = 0; split < trees.m; ++split) {
        const int64_t* pair = trees.children + 2 * split;
        Real* left = of_child(pair[0], reach, member, n);
        Real* right = of_child(pair[1], reach, member, n);
        const Real* above = reach + int64_t{split} * n;
        for (int b = 0; b < n; b += kLanes) {
            const Vec a = load(activation + int64_t{split} * n + b);
            const Vec down = smaller(a, Vec{}) - log(Real(1) + exp(smaller(a, -a)));
            const Vec reached = load(above + b) + down;
            store(left + b, reached);
            store(right + b, reached - a);
        }
    }
}

// Replaces log memberships `member` (leaves, n) by joints of membership and likelihood over exp(shift), and sets
// `total` (n) to their sum and `shift` (n) to the largest log joint.
//
// Log likelihoods are those of the rows (leaves, n), or where these are null those of the block's code (leaves).
template <typename Real>
void joints_from_logs(int leaves, const BlockOf<Real>& block, const Real* row_log_likelihood,
                      const Real* code_log_likelihood, Real* member, Real* total, Real* shift) {
    using Vec = VecOf<Real>;
    constexpr int kLanes = kLanesOf<Real>;
    const int n = block.n;
    for (int b = 0; b < n; b += kLanes) {
        const Vec reach = block.log_reach ? load(block.log_reach + b) : Vec{};
        Vec top = block.log_other ? load(block.log_other + b) : all(kLogOfNothing<Real>);
        for (int leaf = 0; leaf < leaves; ++leaf) {
            const Vec likelihood =
                row_log_likelihood ? load(row_log_likelihood + int64_t{leaf} * n + b) : all(code_log_likelihood[leaf]);
            const Vec joint = load(member + int64_t{leaf} * n + b) + reach + likelihood;
            store(member + int64_t{leaf} * n + b, joint);
            top = larger(top, joint);
        }
        Vec joint_sum = block.log_other ? exp(load(block.log_other + b) - top) : Vec{};
        for (int leaf = 0; leaf < leaves; ++leaf) {
            // Differences that exp clips stand for joints too small to count.
            const Vec joint = exp(load(member + int64_t{leaf} * n + b) - top);
            store(member + int64_t{leaf} * n + b, joint);
            joint_sum += joint;
        }
        store(total + b, joint_sum);
        store(shift + b, top);
    }
}

// Sets log memberships `member` and log likelihoods, both (leaves, n), of one tree.
void log_parts(const Trees& trees, const Likelihoods& likelihoods, const Block& block, double* activation,
               double* reach, double* member, double* log_likelihood) {
    const int leaves = trees.leaves(), n = block.n;
    // `reach` holds the softening factors first: descend_logs sets it once they have been used.
    activate(trees, 0, trees.m, block, activation, reach);
    descend_logs(trees, activation, n, reach, member);
    if (likelihoods.by_code) {
        for (int leaf = 0; leaf < leaves; ++leaf)
            std::fill_n(log_likelihood + int64_t{leaf} * n, n,
                        likelihoods.log_likelihood[int64_t{block.code} * leaves + leaf]);
    } else {
        multiply_statistics(likelihoods.parameters, leaves, likelihoods.k, block, log_likelihood);
    }
}

}  // namespace
}  // namespace reticulum
