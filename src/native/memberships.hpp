// The request for sums of statistics by membership, whatever the targets are.
#pragma once

#include "blocks.hpp"
#include "instruction_sets.hpp"
#include "trees.hpp"

namespace reticulum {

// Adds mass * membership * statistic to out (c, leaves, k).
inline void membership_sums(const Table& table, In<double, 3> hyperplanes, In<int64_t, 2> children, int threads,
                            Out<3> out) {
    const SoftenedTrees softened(table, checked_trees(table, hyperplanes, children));
    const Trees& trees = softened.trees;
    const int k = table.n_statistics();
    const int64_t size = int64_t{trees.c} * trees.leaves() * k;
    require(static_cast<int64_t>(out.size()) == size, "out has another size");
    nb::gil_scoped_release release;
    const int64_t floats = trees.width + table.n_factors() + int64_t{trees.c} * trees.m + 3 * trees.leaves();
    sum_blocks<double>(table, table.plan(block_rows(floats)), threads, {{out.data(), size}},
                       [&](const Block& block, int64_t start, double* const* sums, Scratch& scratch) {
                           kernels.membership_sums(trees, k, block, table.mass() + start, sums[0], scratch);
                       });
}

}  // namespace reticulum
