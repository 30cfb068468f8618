// The request for likelihoods below each split.
#pragma once

#include "blocks.hpp"
#include "instruction_sets.hpp"
#include "trees.hpp"

namespace reticulum {

// Adds to out (m) and statistics (leaves, k) of one tree, see Kernels::likelihoods_below.
inline void likelihoods_below(const Table& table, In<double, 3> hyperplanes, In<int64_t, 2> children,
                              In<double, 3> parameters, int threads, Out<1> out, Out<2> statistics) {
    const SoftenedTrees softened(table, checked_trees(table, hyperplanes, children));
    const Trees& trees = softened.trees;
    const int k = table.n_statistics();
    require_parameters(table, trees, parameters);
    const LikelihoodTable likelihood_table(table, trees, parameters.data());
    const int64_t size = int64_t{trees.leaves()} * k;
    require(trees.c == 1 && static_cast<int>(out.size()) == trees.m, "out has another size");
    require(static_cast<int64_t>(statistics.size()) == size, "statistics have another size");
    nb::gil_scoped_release release;
    const Plan plan = table.plan(block_rows(trees.width + table.n_factors() + 5 * trees.leaves()));
    sum_blocks<double>(table, plan, threads, {{out.data(), trees.m}, {statistics.data(), size}},
                       [&](const Block& block, int64_t, double* const* sums, Scratch& scratch) {
                           kernels.likelihoods_below(trees, likelihood_table.likelihoods, block, sums[0], sums[1],
                                                     scratch);
                       });
}

}  // namespace reticulum
