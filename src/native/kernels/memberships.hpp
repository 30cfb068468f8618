// Memberships of rows in leaves, and the sums of statistics by membership.
//
// This header is compiled once for each instruction set (see kernels.cpp); everything in it has internal linkage.
#pragma once

#include "gates.hpp"
#include "statistics.hpp"

namespace reticulum {
namespace {

void membership_sums(const Trees& trees, int k, const Block& block, const double* mass, double* out, Scratch& scratch) {
    const int c = trees.c, m = trees.m, leaves = trees.leaves(), n = block.n;
    const int64_t of_splits = int64_t{m} * n;
    Parts<double> parts(scratch, 4 * of_splits + int64_t{leaves} * n + Parts<double>::size_of_flags(m));
    Descent<double> descent;
    descent.activation = parts.next(of_splits);
    descent.gate = parts.next(of_splits);
    descent.reach = parts.next(of_splits);
    descent.soft = parts.next(of_splits);
    descent.member = parts.next(int64_t{leaves} * n);
    descent.alive = parts.next_flags(m);
    for (int tree = 0; tree < c; ++tree) {
        descend(trees, tree, block, kNegligible, false, descent);
        for (int leaf = 0; leaf < leaves; ++leaf) {
            double* member = descent.member + int64_t{leaf} * n;
            Vec count = {};
            for (int b = 0; b < n; b += kLanes) {
                const Vec share = load(member + b) * load(mass + b);
                store(member + b, share);
                count += share;
            }
            if (!block.statistics) out[(int64_t{tree} * leaves + leaf) * k + block.code] += sum(count);
        }
        if (block.statistics) add_statistics(descent.member, leaves, block, k, out + int64_t{tree} * leaves * k);
    }
}

void memberships(const Trees& trees, const Block& block, double* out, Scratch& scratch) {
    const int64_t of_splits = int64_t{trees.m} * block.n;
    Parts<double> parts(scratch, 4 * of_splits + Parts<double>::size_of_flags(trees.m));
    Descent<double> descent;
    descent.activation = parts.next(of_splits);
    descent.gate = parts.next(of_splits);
    descent.reach = parts.next(of_splits);
    descent.soft = parts.next(of_splits);
    descent.member = out;
    descent.alive = parts.next_flags(trees.m);
    descend(trees, 0, block, 0.0, false, descent);
}

}  // namespace
}  // namespace reticulum
