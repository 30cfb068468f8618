// The metric of Newton's steps: the inverse of information plus prior precision, for each split of a tree.
#pragma once

#include <algorithm>
#include <cstdint>

#include "information.hpp"
#include "instruction_sets.hpp"
#include "prices.hpp"

namespace reticulum {

// The observed information gives the longer steps but need not be positive definite far from the optimum. There the
// complete-data information, which always is, takes its place, so that the step is one of ascent.
class Metric {
  public:
    Metric(const Columns& columns, int m) : columns_(columns), m_(m) {
        const int64_t lead = columns_.lead();
        observed_.assign(m * columns_.pairs(), 0.0);
        complete_.assign(m * columns_.pairs(), 0.0);
        inverse_.assign(m * lead * lead, 0.0);
        tail_inverse_.assign(int64_t{m} * columns_.tail(), 0.0);
    }

    // Whether complete-data information was of use when the metric was last made. A pass without it takes a third less
    // time.
    bool needs_complete() const { return needs_complete_; }

    // Takes information (m, pairs); complete-data information that is not given stays as it was.
    void set_information(const double* observed, const double* complete) {
        std::copy_n(observed, observed_.size(), observed_.begin());
        if (complete) std::copy_n(complete, complete_.size(), complete_.begin());
    }

    // Damping is in units of the mean diagonal of complete-data information and prior; a damped metric looks at both
    // kinds of information.
    void invert(const Values& precisions, double damping) {
        needs_complete_ = damping > 0.0;
        for (int split = 0; split < m_; ++split) invert_split(split, precisions[split], damping);
    }

    // The step (m, width) along a gradient of this shape.
    void apply(const double* gradient, double* step) const {
        const int lead = columns_.lead(), tail = columns_.tail();
        std::fill(step, step + int64_t{m_} * columns_.width, 0.0);
        for (int split = 0; split < m_; ++split, gradient += columns_.width, step += columns_.width) {
            for (int row = 0; row < lead; ++row) {
                const double* inverse = inverse_.data() + (int64_t{split} * lead + row) * lead;
                for (int j = 0; j < lead; ++j) step[j] += inverse[j] * gradient[row];
            }
            const double* tail_inverse = tail_inverse_.data() + int64_t{split} * tail;
            for (int j = 0; j < tail; ++j) step[lead + j] = tail_inverse[j] * gradient[lead + j];
        }
    }

  private:
    // Share of complete-data information in a damped metric.
    static constexpr double kCaution = 0.2;

    void invert_split(int split, double precision, double relative_damping) {
        const int n = columns_.lead();
        const double* observed = observed_.data() + split * columns_.pairs();
        const double* complete = complete_.data() + split * columns_.pairs();
        const double caution = relative_damping > 0.0 ? kCaution : 0.0;
        double trace = 0.0;
        for_leading_pairs(columns_, [&](int row, int column, int64_t place) {
            if (row == column) trace += complete[place] + prior_precision(precision, row);
        });
        const double damping = relative_damping * trace / n;
        Values matrix(static_cast<size_t>(n) * n), work(matrix.size());
        for (double share : {caution, 1.0}) {
            for_leading_pairs(columns_, [&](int row, int column, int64_t place) {
                matrix[int64_t{row} * n + column] = (1.0 - share) * observed[place] + share * complete[place];
            });
            for (int j = 0; j < n; ++j) matrix[int64_t{j} * (n + 1)] += prior_precision(precision, j) + damping;
            if (kernels.cholesky(matrix.data(), n)) {
                kernels.inverse_from_cholesky(matrix.data(), n, work.data(), inverse_.data() + int64_t{split} * n * n);
                break;
            }
            needs_complete_ = true;
        }
        const double of_observed = activation_information(columns_, observed);
        const double of_complete = activation_information(columns_, complete);
        double* tail_inverse = tail_inverse_.data() + int64_t{split} * columns_.tail();
        for (double variance : columns_.tail_variances) {
            const double prior = precision + damping;
            double information = ((1.0 - caution) * of_observed + caution * of_complete) * variance;
            if (!(information + prior > 0.0)) {
                information = of_complete * variance;
                needs_complete_ = true;
            }
            *tail_inverse++ = 1.0 / (information + prior);
        }
    }

    Columns columns_;
    int m_;
    Values observed_, complete_, inverse_, tail_inverse_;
    bool needs_complete_ = true;
};

}  // namespace reticulum
