// Units: how cells become the columns that hyperplanes are written for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "arrays.hpp"

namespace reticulum {

// Codes of columns that stand for no level, as NUMBER and MISSING in data/units.py.
constexpr int64_t kNumber = -1, kMissing = -2;

struct Units {
    std::vector<double> center, scale, low, high;
    std::vector<int64_t> source, code;

    Units(In<double, 1> center_, In<double, 1> scale_, In<double, 1> low_, In<double, 1> high_, In<int64_t, 1> source_,
          In<int64_t, 1> code_)
        : center(copied(center_)), scale(copied(scale_)), low(copied(low_)), high(copied(high_)),
          source(copied(source_)), code(copied(code_)) {
        for (size_t size : {scale.size(), low.size(), high.size(), source.size(), code.size()})
            require(size == center.size(), "center, scale, low, high, source and code must be equally long");
    }

    int64_t n_columns() const { return static_cast<int64_t>(center.size()); }

    // Variance of a column, as `Schema.variances`.
    double variance(int64_t j) const {
        if (!(low[j] < high[j])) return 0.0;
        return code[j] >= 0 ? center[j] * (1.0 - center[j]) / (scale[j] * scale[j]) : 1.0;
    }

    void require_cells(const Cells& X) const {
        require(X.dtype() == nb::dtype<double>() || X.dtype() == nb::dtype<float>(), "X must be float32 or float64");
        for (int64_t column : source)
            require(column >= 0 && column < static_cast<int64_t>(X.shape(1)),
                    "X and its units differ in their columns");
    }

    // Sets the design (1 + columns, stride) from the cells of the n rows in `index`, where -1 is padding. Missing cells
    // are put at the column's mean.
    //
    // Returns whether a cell is missing.
    bool fill(const Cells& X, const int64_t* index, int n, double* design, int64_t stride) const {
        bool has_gaps = false;
        with_cells(X, [&](const auto* cells, int64_t row_stride, int64_t column_stride) {
            for (int b = 0; b < n; ++b) design[b] = index[b] >= 0 ? 1.0 : 0.0;
            std::vector<double> cell(static_cast<size_t>(n));
            for (int64_t j = 0; j < n_columns(); ++j) {
                // All columns of one source are made of cells that are fetched once.
                if (j == 0 || source[j] != source[j - 1]) {
                    const auto* column = cells + source[j] * column_stride;
                    for (int b = 0; b < n; ++b) {
                        cell[b] = index[b] >= 0 ? static_cast<double>(column[index[b] * row_stride]) : 0.0;
                        has_gaps |= cell[b] != cell[b];
                    }
                }
                double* out = design + (j + 1) * stride;
                fill_column(j, cell.data(), n, out);
                for (int b = 0; b < n; ++b)
                    if (index[b] < 0) out[b] = 0.0;
            }
        });
        return has_gaps;
    }

  private:
    void fill_column(int64_t j, const double* cell, int n, double* out) const {
        // Divided by the scale, not multiplied by its inverse, which is infinite for the smallest scales.
        const auto standard = [&](double value) { return (value - center[j]) / scale[j]; };
        const double yes = standard(1.0), no = standard(0.0), level = static_cast<double>(code[j]);
        if (code[j] == kNumber)
            for (int b = 0; b < n; ++b) {
                const double value = standard(std::min(std::max(cell[b], low[j]), high[j]));
                out[b] = cell[b] == cell[b] ? value : 0.0;
            }
        else if (code[j] == kMissing)
            for (int b = 0; b < n; ++b) out[b] = cell[b] == cell[b] ? no : yes;
        else
            for (int b = 0; b < n; ++b) {
                const double value = cell[b] == level ? yes : no;
                out[b] = cell[b] == cell[b] ? value : 0.0;
            }
    }
};

}  // namespace reticulum
