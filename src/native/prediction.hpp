// Predictions: memberships of new rows in the leaves of one tree, or means of leaf values by membership.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "arrays.hpp"
#include "gaps.hpp"
#include "instruction_sets.hpp"
#include "plan.hpp"
#include "threads.hpp"
#include "trees.hpp"
#include "units.hpp"

namespace reticulum {

// Where predictions are read from and written to.
struct Prediction {
    const Cells& X;
    const Units& units;
    const Gaps* gaps;  // null: rows with missing cells cannot be predicted
    Trees trees;
    const double* values;  // (leaves, n_values), or null
    double* out;           // (rows, n_values or leaves)
    int n_values;
};

// One thread's part in a prediction.
class Predictor {
  public:
    Predictor(const Prediction& prediction, int block_rows, std::atomic<bool>& lacks_gaps)
        : to_(prediction), block_rows_(block_rows), lacks_gaps_(lacks_gaps) {}

    void work(int64_t chunk) {
        const int64_t stop = std::min(static_cast<int64_t>(to_.X.shape(0)), (chunk + 1) * kChunkRows);
        for (int64_t start = chunk * kChunkRows; start < stop && !lacks_gaps_; start += block_rows_)
            predict(start, static_cast<int>(std::min<int64_t>(block_rows_, stop - start)));
    }

    void add(int64_t) {}

  private:
    void predict(int64_t start, int count) {
        const int n = (count + kPad - 1) / kPad * kPad, width = to_.trees.width;
        index_.assign(n, -1);
        for (int b = 0; b < count; ++b) index_[b] = start + b;
        design_.resize(static_cast<size_t>(width + to_.trees.gaps) * n);
        member_.resize(static_cast<size_t>(to_.trees.leaves()) * n);
        Block block{};
        block.n = n;
        block.design = design_.data();
        block.stride = n;
        if (to_.units.fill(to_.X, index_.data(), n, design_.data(), n)) {
            if (!to_.gaps) {
                lacks_gaps_ = true;
                return;
            }
            double* missing = design_.data() + static_cast<int64_t>(width) * n;
            to_.gaps->fill(to_.X, to_.units, index_.data(), n, design_.data(), missing, n);
            block.missing = missing;
        }
        kernels.memberships(to_.trees, block, member_.data(), scratch_);
        if (to_.values)
            write_means(start, count, n);
        else
            write_memberships(start, count, n);
    }

    void write_memberships(int64_t start, int count, int n) {
        const int leaves = to_.trees.leaves();
        double* out = to_.out + start * leaves;
        for (int b = 0; b < count; ++b)
            for (int leaf = 0; leaf < leaves; ++leaf) *out++ = member_[int64_t{leaf} * n + b];
    }

    void write_means(int64_t start, int count, int n) {
        const int leaves = to_.trees.leaves(), q = to_.n_values;
        double* out = to_.out + start * q;
        for (int b = 0; b < count; ++b)
            for (int v = 0; v < q; ++v) {
                double mean = 0.0;
                for (int leaf = 0; leaf < leaves; ++leaf)
                    mean += member_[int64_t{leaf} * n + b] * to_.values[int64_t{leaf} * q + v];
                *out++ = mean;
            }
    }

    const Prediction& to_;
    int block_rows_;
    std::atomic<bool>& lacks_gaps_;
    std::vector<int64_t> index_;
    std::vector<double> design_, member_;
    Scratch scratch_;
};

// Sets out (n, leaves) to memberships of the rows of X, or out (n, q) to means of leaf values (leaves, q) if there are
// any.
//
// Returns whether cells are missing although no `gaps` were given: then out is not to be used.
inline bool predict(Cells X, const Units& units, const Gaps* gaps, In<double, 2> hyperplanes, In<int64_t, 2> children,
                    std::optional<In<double, 2>> values, int threads, Out<2> out) {
    const int m = static_cast<int>(hyperplanes.shape(0)), width = static_cast<int>(hyperplanes.shape(1));
    const int leaves = m + 1, q = static_cast<int>(out.shape(1));
    units.require_cells(X);
    require(width == static_cast<int>(units.n_columns()) + 1, "hyperplanes need one slope for each column");
    if (gaps) gaps->require_within(X, width);
    require(static_cast<int>(children.shape(0)) == m && children.shape(1) == 2, "each split has two children");
    require_tree(m, children.data());
    require(out.shape(0) == X.shape(0), "out has another size");
    if (values)
        require(static_cast<int>(values->shape(0)) == leaves && static_cast<int>(values->shape(1)) == q,
                "each leaf needs values");
    else
        require(q == leaves, "out has another size");
    const int n_gaps = gaps ? static_cast<int>(gaps->size()) : 0;
    std::vector<double> variance;
    if (gaps) variance = gaps->variances(hyperplanes.data(), m, width);
    const Trees trees = {1, m, width, hyperplanes.data(), children.data(), n_gaps, variance.data()};
    const Prediction prediction = {X, units, gaps, trees, values ? values->data() : nullptr, out.data(), q};
    std::atomic<bool> lacks_gaps{false};
    nb::gil_scoped_release release;
    const int rows = block_rows(width + n_gaps + 4 * leaves + q);
    const int64_t chunks = (static_cast<int64_t>(X.shape(0)) + kChunkRows - 1) / kChunkRows;
    in_order(chunks, threads, [&] { return Predictor(prediction, rows, lacks_gaps); });
    return lacks_gaps;
}

}  // namespace reticulum
