// Views of rows from single leaves: what the rest of the tree says of each row.
//
// This header is compiled once for each instruction set (see kernels.cpp); everything in it has internal linkage.
#pragma once

#include "logs.hpp"

namespace reticulum {
namespace {

// Log of the sum of `outside` and of all joints but one, from log joints (leaves, n).
Vec log_of_others(int leaves, int but, const double* log_joint, int n, Vec outside) {
    Vec top = outside;
    for (int leaf = 0; leaf < leaves; ++leaf)
        if (leaf != but) top = larger(top, load(log_joint + int64_t{leaf} * n));
    Vec rest = exp(outside - top);
    for (int leaf = 0; leaf < leaves; ++leaf)
        if (leaf != but) rest += exp(load(log_joint + int64_t{leaf} * n) - top);
    return top + log(rest);
}

void leaf_views(const Trees& trees, const Likelihoods& likelihoods, const Block& block, const int64_t* wanted,
                int count, double* out, Scratch& scratch) {
    const int m = trees.m, leaves = trees.leaves(), n = block.n;
    Parts<double> parts(scratch, int64_t{n} * 2 * (m + leaves) + int64_t{leaves} * kLanes);
    double* activation = parts.next(int64_t{m} * n);
    double* reach = parts.next(int64_t{m} * n);
    double* member = parts.next(int64_t{leaves} * n);
    double* log_joint = parts.next(int64_t{leaves} * n);  // log likelihoods first
    double* joint = parts.next(int64_t{leaves} * kLanes);
    log_parts(trees, likelihoods, block, activation, reach, member, log_joint);
    for (int b = 0; b < n; b += kLanes) {
        const Vec log_reach = block.log_reach ? load(block.log_reach + b) : Vec{};
        const Vec outside = block.log_other ? load(block.log_other + b) : all(kLogOfNothing<double>);
        Vec top = outside;
        for (int leaf = 0; leaf < leaves; ++leaf) {
            double* at = log_joint + int64_t{leaf} * n + b;
            store(at, load(at) + load(member + int64_t{leaf} * n + b) + log_reach);
            top = larger(top, load(at));
        }
        for (int leaf = 0; leaf < leaves; ++leaf)
            store(joint + int64_t{leaf} * kLanes, exp(load(log_joint + int64_t{leaf} * n + b) - top));
        const Vec outer_joint = exp(outside - top);
        for (int v = 0; v < count; ++v) {
            const int seen = static_cast<int>(wanted[v]);
            // All joints but one are added up: subtracting that one from the whole would cost digits.
            Vec rest = outer_joint;
            for (int leaf = 0; leaf < leaves; ++leaf)
                if (leaf != seen) rest += load(joint + int64_t{leaf} * kLanes);
            const bool safe = !any_above<double>(-rest, -kSmallestTotal<double>);
            const Vec other = safe ? top + log(rest) : log_of_others(leaves, seen, log_joint + b, n, outside);
            const Vec share = load(member + int64_t{seen} * n + b) + log_reach;
            const Vec both = load(log_joint + int64_t{seen} * n + b);
            double* to = out + int64_t{v} * n + b;
            store(to, share);
            store(to + int64_t{count} * n, larger(share, both - log_of_sum(both, other)));
            store(to + int64_t{2 * count} * n, other);
        }
    }
}

}  // namespace
}  // namespace reticulum
