// The request for weighted quantiles of the rows along directions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "blocks.hpp"
#include "instruction_sets.hpp"

namespace reticulum {

// Bins of values with their weights, in which quantiles are looked for before any values are sorted.
struct WeightedBins {
    std::vector<int> bin;               // of each value
    std::vector<double> weight_before;  // (bins + 1): the cumulated weight

    WeightedBins(const std::vector<double>& values, const std::vector<double>& weights) : bin(values.size()) {
        const size_t n = values.size();
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        const double start = *low, spread = *high - *low;
        const int bins = static_cast<int>(std::clamp<size_t>(n / 4, 1, 4096));
        // Values that are all equal, or too near to or too far from each other for bins, go to one bin.
        const double per_unit = std::isfinite(bins / spread) ? bins / spread : 0.0;
        weight_before.assign(bins + 1, 0.0);
        for (size_t i = 0; i < n; ++i) {
            bin[i] = per_unit > 0.0 ? std::min(bins - 1, static_cast<int>((values[i] - start) * per_unit)) : 0;
            weight_before[bin[i] + 1] += weights[i];
        }
        for (int b = 0; b < bins; ++b) weight_before[b + 1] += weight_before[b];
    }

    int size() const { return static_cast<int>(weight_before.size()) - 1; }

    // The bin in which the cumulated weight reaches a target; there is a value in it, as it is the first bin or one
    // with weight.
    int bin_of(double target) const {
        const auto reached = std::lower_bound(weight_before.begin() + 1, weight_before.end(), target);
        return std::min(static_cast<int>(reached - weight_before.begin()) - 1, size() - 1);
    }
};

// Sets `out` to the values at which the cumulated weight first reaches shares of the whole; `values` and `weights`
// belong together.
inline void weighted_quantiles(const std::vector<double>& values, const std::vector<double>& weights,
                               const double* probabilities, int n_probabilities, double* out) {
    const WeightedBins bins(values, weights);
    // A hair below the share, so that rounding of the sum cannot move a quantile to the next row.
    const auto target = [&](int p) { return probabilities[p] * bins.weight_before.back() * (1 - 1e-12); };
    // Only values in the bins of quantiles are sorted.
    std::vector<int> wanted(n_probabilities), place(bins.size(), -1);
    std::vector<std::vector<std::pair<double, double>>> rows_of_bins;
    for (int p = 0; p < n_probabilities; ++p) {
        wanted[p] = bins.bin_of(target(p));
        if (place[wanted[p]] >= 0) continue;
        place[wanted[p]] = static_cast<int>(rows_of_bins.size());
        rows_of_bins.emplace_back();
    }
    for (size_t i = 0; i < values.size(); ++i)
        if (place[bins.bin[i]] >= 0) rows_of_bins[place[bins.bin[i]]].emplace_back(values[i], weights[i]);
    for (auto& rows : rows_of_bins) std::sort(rows.begin(), rows.end());
    for (int p = 0; p < n_probabilities; ++p) {
        const auto& rows = rows_of_bins[place[wanted[p]]];
        double reached = bins.weight_before[wanted[p]];
        size_t at = 0;
        for (; at + 1 < rows.size(); ++at) {
            reached += rows[at].second;
            if (reached >= target(p)) break;
        }
        out[p] = rows[at].first;
    }
}

// Sets `values` (count, n) to the places of all rows of the table along directions (count, width).
inline void project_rows(const Table& table, const double* directions, int count, int threads, double* values) {
    const Plan plan = table.plan(block_rows(table.width() + count));
    for_each_number(static_cast<int64_t>(plan.parts.size()), threads, [&] {
        return [&, memory = BlockMemory()](int64_t part) mutable {
            const Block rows = table.block<double>(plan.parts[part], memory);
            kernels.project(directions, count, table.width(), rows, values + plan.parts[part].start, table.n_rows());
        };
    });
}

// Sets out (directions, probabilities) to weighted quantiles, as `weighted_quantiles` in data/quantiles.py.
inline void quantiles(const Table& table, In<double, 2> directions, In<double, 1> probabilities, int threads,
                      Out<2> out) {
    const int D = static_cast<int>(directions.shape(0)), P = static_cast<int>(probabilities.size());
    const int64_t n = table.n_rows();
    require(static_cast<int>(directions.shape(1)) == table.width(), "directions need one slope for each column");
    require(static_cast<int>(out.shape(0)) == D && static_cast<int>(out.shape(1)) == P, "out has another size");
    nb::gil_scoped_release release;
    std::vector<int64_t> places;
    std::vector<double> weights;
    for (int64_t b = 0; b < n; ++b)
        if (table.is_row(b)) {
            places.push_back(b);
            weights.push_back(table.mass()[b]);
        }
    require(!places.empty(), "no rows have no quantiles");
    // Neither set to zero nor kept: of many rows there are many values.
    const std::unique_ptr<double[]> projected(new double[static_cast<size_t>(D) * n]);
    project_rows(table, directions.data(), D, threads, projected.get());
    for_each_number(D, threads, [&] {
        return [&, values = std::vector<double>(places.size())](int64_t d) mutable {
            for (size_t i = 0; i < places.size(); ++i) values[i] = projected[d * n + places[i]];
            weighted_quantiles(values, weights, probabilities.data(), P, out.data() + d * P);
        };
    });
}

}  // namespace reticulum
