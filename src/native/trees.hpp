// Stacks of trees and their leaves' likelihoods, made ready for the kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "arrays.hpp"
#include "kernels/kernels.hpp"
#include "table.hpp"

namespace reticulum {

inline void require_tree(int m, const int64_t* children) {
    for (int split = 0; split < m; ++split)
        for (int side = 0; side < 2; ++side) {
            const int64_t child = children[2 * split + side];
            require(child >= 0 ? child > split && child < m : ~child <= m, "children do not form a tree");
        }
}

// A stack of hyperplanes (c, m, width) on one tree of children (m, 2), for the columns of a table.
inline Trees checked_trees(const Table& table, const In<double, 3>& hyperplanes, const In<int64_t, 2>& children) {
    Trees trees = {static_cast<int>(hyperplanes.shape(0)), static_cast<int>(hyperplanes.shape(1)),
                   static_cast<int>(hyperplanes.shape(2)), hyperplanes.data(), children.data()};
    trees.lead = table.lead();
    require(trees.width == table.width(), "hyperplanes need one slope for each column");
    require(static_cast<int>(children.shape(0)) == trees.m && children.shape(1) == 2, "each split has two children");
    require_tree(trees.m, children.data());
    return trees;
}

inline void require_parameters(const Table& table, const Trees& trees, const In<double, 3>& parameters) {
    require(static_cast<int>(parameters.shape(0)) == trees.c &&
                static_cast<int>(parameters.shape(1)) == trees.leaves() &&
                static_cast<int>(parameters.shape(2)) == table.n_statistics(),
            "parameters have another shape");
}

// Trees with the variances of their activations over the gaps of a table, which soften them.
class SoftenedTrees {
  public:
    SoftenedTrees(const Table& table, const Trees& given)
        : trees(given), variance_(table.gaps().variances(given.hyperplanes, int64_t{given.c} * given.m, given.width)) {
        trees.lead = table.lead();
        trees.gaps = static_cast<int>(table.gaps().size());
        trees.variance = variance_.data();
    }
    SoftenedTrees(const SoftenedTrees&) = delete;

    Trees trees;

  private:
    std::vector<double> variance_;
};

// Likelihoods of a table's targets from expected parameters (c, leaves, k). Where targets have codes, they are copied
// in the order in which blocks need them, which have one code each.
class LikelihoodTable {
  public:
    LikelihoodTable(const Table& table, const Trees& trees, const double* parameters) {
        const int k = table.n_statistics();
        if (table.has_codes()) fill(trees, parameters, k);
        likelihoods = {k, table.has_codes(), likelihood_.data(), offset_.data(), log_likelihood_.data(), parameters};
    }
    LikelihoodTable(const LikelihoodTable&) = delete;

    Likelihoods likelihoods;

  private:
    void fill(const Trees& trees, const double* parameters, int k) {
        const int c = trees.c, leaves = trees.leaves();
        likelihood_.resize(static_cast<size_t>(k) * c * leaves);
        log_likelihood_.resize(likelihood_.size());
        offset_.resize(static_cast<size_t>(k) * c);
        for (int code = 0; code < k; ++code)
            for (int tree = 0; tree < c; ++tree) {
                const double* by_leaf = parameters + int64_t{tree} * leaves * k + code;
                double top = -std::numeric_limits<double>::infinity();
                for (int leaf = 0; leaf < leaves; ++leaf) top = std::max(top, by_leaf[int64_t{leaf} * k]);
                const int64_t at = int64_t{code} * c + tree;
                offset_[at] = top;
                for (int leaf = 0; leaf < leaves; ++leaf) {
                    log_likelihood_[at * leaves + leaf] = by_leaf[int64_t{leaf} * k];
                    likelihood_[at * leaves + leaf] = std::exp(by_leaf[int64_t{leaf} * k] - top);
                }
            }
    }

    std::vector<double> likelihood_, offset_, log_likelihood_;
};

}  // namespace reticulum
