// Likelihoods of the branches below each split.
//
// This header is compiled once for each instruction set (see kernels.cpp); everything in it has internal linkage.
#pragma once

#include "logs.hpp"

namespace reticulum {
namespace {

void likelihoods_below(const Trees& trees, const Likelihoods& likelihoods, const Block& block, double* out,
                       double* statistics, Scratch& scratch) {
    const int m = trees.m, leaves = trees.leaves(), n = block.n, k = likelihoods.k;
    Parts<double> parts(scratch, int64_t{n} * (3 * m + 2 * leaves + 1));
    double* activation = parts.next(int64_t{m} * n);
    double* reach = parts.next(int64_t{m} * n);
    double* below = parts.next(int64_t{m} * n);  // log of the joint below each split
    double* member = parts.next(int64_t{leaves} * n);
    double* log_joint = parts.next(int64_t{leaves} * n);  // log likelihoods first
    double* total = parts.next(n);
    log_parts(trees, likelihoods, block, activation, reach, member, log_joint);
    for (int64_t at = 0; at < int64_t{leaves} * n; at += kLanes)
        store(log_joint + at, load(log_joint + at) + load(member + at));
    for (int split = m - 1; split >= 0; --split) {
        const int64_t* pair = trees.children + 2 * split;
        const double* first = of_child(pair[0], below, log_joint, n);
        const double* second = of_child(pair[1], below, log_joint, n);
        for (int b = 0; b < n; b += kLanes)
            store(below + int64_t{split} * n + b, log_of_sum(load(first + b), load(second + b)));
    }
    const double* whole = m ? below : log_joint;
    for (int b = 0; b < n; b += kLanes) {
        Vec log_total = load(whole + b);
        if (block.log_other) {
            const Vec reached = load(block.log_reach + b);
            log_total = log_of_sum(log_total + reached, load(block.log_other + b)) - reached;
        }
        store(total + b, log_total);
    }
    for (int split = 0; split < m; ++split) {
        Vec sum_below = {};
        for (int b = 0; b < n; b += kLanes) {
            const int64_t at = int64_t{split} * n + b;
            const Vec log_joint_below = load(below + at);
            const Vec share = load(block.weight + b) * exp(log_joint_below - load(total + b));
            sum_below += share * (log_joint_below - load(reach + at));
        }
        out[split] += sum(sum_below);
    }
    for (int leaf = 0; leaf < leaves; ++leaf) {
        Vec count = {};
        for (int b = 0; b < n; b += kLanes) {
            const int64_t at = int64_t{leaf} * n + b;
            const Vec responsibility = load(block.weight + b) * exp(load(log_joint + at) - load(total + b));
            store(member + at, responsibility);
            count += responsibility;
        }
        if (likelihoods.by_code) statistics[int64_t{leaf} * k + block.code] += sum(count);
    }
    if (!likelihoods.by_code) add_statistics(member, leaves, block, k, statistics);
}

}  // namespace
}  // namespace reticulum
