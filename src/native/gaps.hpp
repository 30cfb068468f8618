// Gaps: how much missing cells leave open, and what that adds to gradients and information.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "arrays.hpp"
#include "kernels/kernels.hpp"
#include "units.hpp"

namespace reticulum {

// How often the regressions are applied to a row, as _FILLINGS in data/gaps.py.
constexpr int kFillings = 2;

// The columns of X in which cells may be missing, as `Gaps` in data/gaps.py. A gap is one such column.
//
// The activation of a hyperplane varies over a gap by the sum of squares of the gap's loadings times the hyperplane.
struct Gaps {
    std::vector<int64_t> sources;               // (size): columns of X
    std::vector<int64_t> group, start, column;  // loadings by compressed rows: each belongs to the gap in `group`
    std::vector<double> value;
    // The regression of each column of the design on the others (width - 1, width - 1), and the variances that they
    // leave open (width - 1); or both empty.
    std::vector<double> coefficients, left_open;

    Gaps() = default;
    Gaps(In<int64_t, 1> sources_, In<int64_t, 1> group_, In<int64_t, 1> start_, In<int64_t, 1> column_,
         In<double, 1> value_, std::optional<In<double, 2>> coefficients_, std::optional<In<double, 1>> left_open_)
        : sources(copied(sources_)), group(copied(group_)), start(copied(start_)), column(copied(column_)),
          value(copied(value_)) {
        require(coefficients_.has_value() == left_open_.has_value(), "coefficients and left_open belong together");
        if (coefficients_) {
            coefficients.assign(coefficients_->data(), coefficients_->data() + coefficients_->size());
            left_open = copied(*left_open_);
        }
        require(start.size() == group.size() + 1 && column.size() == value.size() && start.front() == 0 &&
                    start.back() == static_cast<int64_t>(value.size()),
                "loadings do not fit together");
        for (size_t k = 0; k < group.size(); ++k)
            require(group[k] >= 0 && group[k] < size() && start[k] <= start[k + 1], "a loading belongs to no gap");
    }

    int64_t size() const { return static_cast<int64_t>(sources.size()); }

    void require_within(const Cells& X, int width) const {
        for (int64_t source : sources)
            require(source >= 0 && source < static_cast<int64_t>(X.shape(1)), "a gap lies outside of X");
        for (int64_t j : column) require(j >= 0 && j + 1 < width, "a loading lies outside of the columns");
        require(left_open.empty() || (static_cast<int>(left_open.size()) == width - 1 &&
                                      static_cast<int64_t>(coefficients.size()) == int64_t{width - 1} * (width - 1)),
                "the regressions have another size than the columns");
    }

    // Sets `open` (size, stride) to the share of variance that each cell leaves open: 0 where it is there, 1 where it
    // is missing and nothing else is known of it. With regressions, missing cells of the design are put at what follows
    // from the rest of the row, and leave less open.
    void fill(const Cells& X, const Units& units, const int64_t* index, int n, double* design, double* open,
              int64_t stride) const {
        mark(X, index, n, open, stride);
        if (left_open.empty()) return;
        RowFiller filler(*this, units);
        for (int b = 0; b < n; ++b) filler.fill(design + b, open + b, stride);
    }

    // Variance of the activations of hyperplanes (splits, width) over each gap, (splits, size).
    std::vector<double> variances(const double* hyperplanes, int64_t splits, int width) const {
        std::vector<double> out(static_cast<size_t>(splits * size()), 0.0);
        for (int64_t split = 0; split < splits; ++split)
            for (size_t k = 0; k < group.size(); ++k) {
                const double pull = loading_times(k, hyperplanes + split * width);
                out[split * size() + group[k]] += pull * pull;
            }
        return out;
    }

    // Multiplies the sums by gap by the derivatives of variances, and adds them to gradient and information: as the end
    // of `GapSums` in rows/gap_sums.py.
    void finish(const Trees& trees, const Sums& sums) const {
        std::vector<double> steps(static_cast<size_t>(size() * trees.width)), half(steps.size());
        for (int64_t split = 0; split < int64_t{trees.c} * trees.m; ++split) {
            set_half_derivatives(trees.hyperplanes + split * trees.width, trees.width, steps);
            const double* by_gap = sums.by_gap + split * size();
            if (sums.gradient) {
                double* gradient = sums.gradient + split * trees.width;
                for (int64_t g = 0; g < size(); ++g)
                    for (int j = 0; j < trees.width; ++j) gradient[j] -= by_gap[g] * steps[g * trees.width + j];
            }
            if (!sums.observed) continue;
            const int64_t pairs = trees.pairs(), mixed = trees.lead * size(), gap_pairs = size() * (size() + 1) / 2;
            add_products(trees, steps, half, sums.observed_by_gap + split * mixed,
                         sums.observed_by_gaps + split * gap_pairs, sums.observed + split * pairs);
            if (sums.complete)
                add_products(trees, steps, half, sums.complete_by_gap + split * mixed,
                             sums.complete_by_gaps + split * gap_pairs, sums.complete + split * pairs);
            add_second_derivatives(trees, by_gap, sums.observed + split * pairs);
        }
    }

  private:
    // Puts missing cells of a row at what follows from the rest of it, as `Regressions.fill` in data/gaps.py.
    class RowFiller {
      public:
        RowFiller(const Gaps& gaps, const Units& units)
            : gaps_(gaps), units_(units), row_(static_cast<size_t>(units.n_columns())) {}

        // Fills one row: a column of the design and of `open`.
        void fill(double* design, double* open, int64_t stride) {
            find_missing(open, stride);
            if (column_.empty()) return;
            const int64_t width = units_.n_columns();
            for (int64_t j = 0; j < width; ++j) row_[j] = design[(j + 1) * stride];
            filled_.resize(column_.size());
            for (int filling = 0; filling < kFillings; ++filling) {
                for (size_t i = 0; i < column_.size(); ++i) {
                    const double* coefficients = gaps_.coefficients.data() + column_[i] * width;
                    double sum = 0.0;
                    for (int64_t j = 0; j < width; ++j) sum += coefficients[j] * row_[j];
                    filled_[i] = sum;
                }
                for (size_t i = 0; i < column_.size(); ++i) row_[column_[i]] = filled_[i];
            }
            for (size_t i = 0; i < column_.size(); ++i) design[(column_[i] + 1) * stride] = filled_[i];
            for (size_t i = 0; i < column_.size();) {
                double left = 0.0, whole = 0.0;
                const int64_t g = gap_[i];
                for (; i < column_.size() && gap_[i] == g; ++i) {
                    left += variance(column_[i]);
                    whole += units_.variance(column_[i]);
                }
                open[g * stride] = whole > 0.0 ? left / whole : 1.0;
            }
        }

      private:
        // Columns of the design that are made of missing cells, and their gaps.
        void find_missing(const double* open, int64_t stride) {
            column_.clear();
            gap_.clear();
            for (int64_t g = 0; g < gaps_.size(); ++g)
                if (open[g * stride] != 0.0)
                    for (int64_t j = 0; j < units_.n_columns(); ++j)
                        if (units_.source[j] == gaps_.sources[g] && units_.code[j] != kMissing) {
                            column_.push_back(j);
                            gap_.push_back(g);
                        }
        }

        // Variance that a missing column leaves open: that of its regression, and what other missing cells add to it.
        double variance(int64_t column) const {
            const double* coefficients = gaps_.coefficients.data() + column * units_.n_columns();
            double sum = gaps_.left_open[column];
            for (int64_t j : column_) sum += coefficients[j] * coefficients[j] * units_.variance(j);
            return std::min(sum, units_.variance(column));
        }

        const Gaps& gaps_;
        const Units& units_;
        std::vector<int64_t> column_, gap_;
        std::vector<double> row_, filled_;
    };

    // Sets `open` (size, stride) to 1 where a cell is missing, and to 0 elsewhere.
    void mark(const Cells& X, const int64_t* index, int n, double* open, int64_t stride) const {
        with_cells(X, [&](const auto* cells, int64_t row_stride, int64_t column_stride) {
            for (int64_t g = 0; g < size(); ++g)
                for (int b = 0; b < n; ++b) {
                    double cell = 0.0;
                    if (index[b] >= 0)
                        cell = static_cast<double>(cells[index[b] * row_stride + sources[g] * column_stride]);
                    open[g * stride + b] = cell != cell ? 1.0 : 0.0;
                }
        });
    }

    double loading_times(size_t loading, const double* hyperplane) const {
        double sum = 0.0;
        for (int64_t e = start[loading]; e < start[loading + 1]; ++e) sum += value[e] * hyperplane[1 + column[e]];
        return sum;
    }

    // Sets `steps` (size, width) to half the derivatives of one activation's variances by its hyperplane.
    void set_half_derivatives(const double* hyperplane, int width, std::vector<double>& steps) const {
        std::fill(steps.begin(), steps.end(), 0.0);
        for (size_t k = 0; k < group.size(); ++k) {
            const double pull = loading_times(k, hyperplane);
            for (int64_t e = start[k]; e < start[k + 1]; ++e)
                steps[group[k] * width + 1 + column[e]] += pull * value[e];
        }
    }

    // Adds products of derivatives with columns, and with each other, to the packed information of one split. `half`
    // (size, width) is overwritten: `out` gets half' steps + steps' half.
    void add_products(const Trees& trees, const std::vector<double>& steps, std::vector<double>& half,
                      const double* mixed, const double* together, double* out) const {
        const int width = trees.width, lead = trees.lead, packed = trees.packed();
        const int64_t q = size();
        for (int64_t g = 0; g < q; ++g)
            for (int j = 0; j < lead; ++j) half[g * width + j] = mixed[int64_t{j} * q + g];
        for (int64_t g = 0, at = 0; g < q; ++g)
            for (int64_t h = g; h < q; ++h, ++at) {
                for (int j = 0; j < lead; ++j) {
                    half[g * width + j] += 0.5 * together[at] * steps[h * width + j];
                    if (h != g) half[h * width + j] += 0.5 * together[at] * steps[g * width + j];
                }
            }
        for (int64_t g = 0; g < q; ++g) {
            const double* a = half.data() + g * width;
            const double* b = steps.data() + g * width;
            double* at = out;
            for (int i = 0; i < lead; ++i, at += packed - lead)
                for (int j = i; j < lead; ++j) *at++ += a[i] * b[j] + b[i] * a[j];
        }
    }

    // Adds second derivatives of variances to the packed observed information of one split.
    void add_second_derivatives(const Trees& trees, const double* by_gap, double* observed) const {
        const int packed = trees.packed();
        for (size_t k = 0; k < group.size(); ++k)
            for (int64_t e = start[k]; e < start[k + 1]; ++e)
                for (int64_t f = start[k]; f < start[k + 1]; ++f) {
                    const int64_t i = 1 + column[e], j = 1 + column[f];
                    if (i <= j && j < trees.lead)
                        observed[i * packed - i * (i - 1) / 2 + j - i] += by_gap[group[k]] * value[e] * value[f];
                }
    }
};

}  // namespace reticulum
