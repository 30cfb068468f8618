// The requests for histograms, and for scans of thresholds that are made from them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "blocks.hpp"
#include "instruction_sets.hpp"
#include "leaves.hpp"

namespace reticulum {

inline Grid checked_grid(const Table& table, const In<double, 2>& directions, const In<double, 2>& edges,
                         const In<double, 2>& cuts) {
    const int width = table.width();
    require(static_cast<int>(directions.shape(1)) == width && static_cast<int>(cuts.shape(1)) == width,
            "directions and cuts need one slope for each column");
    require(edges.shape(0) == directions.shape(0), "each direction needs edges");
    return {static_cast<int>(directions.shape(0)),
            static_cast<int>(edges.shape(1)),
            static_cast<int>(cuts.shape(0)),
            width,
            directions.data(),
            edges.data(),
            cuts.data()};
}

// Coefficients of the leaf whose residuals are scanned, if leaves are linear.
using Coefficients = std::optional<In<double, 1>>;

// Statistics of a histogram: those of the rows or, where leaves are linear, of residuals with a slope.
inline int scanned_statistics(const Table& table, const Coefficients& coefficients) {
    if (coefficients)
        require(table.has_factors() && static_cast<int>(coefficients->size()) == table.n_factors() - 1,
                "a leaf has one coefficient for each of its columns");
    return coefficients ? 6 : table.n_statistics();
}

inline int64_t histogram_size(const Grid& grid, int k) {
    return int64_t{grid.directions} * (grid.edges + 1) * k * padded_groups(1 + grid.cuts);
}

inline void add_histogram(const Table& table, const Grid& grid, const Coefficients& coefficients, int threads,
                          double* out) {
    const int k = scanned_statistics(table, coefficients);
    const double* of_leaf = coefficients ? coefficients->data() : nullptr;
    const Plan plan = table.plan(block_rows(grid.width + grid.directions + grid.cuts), kHistogramRows);
    sum_blocks<double>(table, plan, threads, {{out, histogram_size(grid, k)}},
                       [&](const Block& block, int64_t start, double* const* sums, Scratch& scratch) {
                           kernels.histogram(grid, block, k, table.mass() + start, of_leaf, sums[0], scratch);
                       });
}

// Adds to out (directions, bins, k, padded groups), see Kernels::histogram.
inline void histogram(const Table& table, In<double, 2> directions, In<double, 2> edges, In<double, 2> cuts,
                      Coefficients coefficients, int threads, Out<4> out) {
    const Grid grid = checked_grid(table, directions, edges, cuts);
    const int k = scanned_statistics(table, coefficients);
    require(static_cast<int64_t>(out.size()) == histogram_size(grid, k), "out has another size");
    nb::gil_scoped_release release;
    add_histogram(table, grid, coefficients, threads, out.data());
}

struct ScanCounts {
    std::vector<double> numbers;
};

// Sets out (cuts, 2, directions, edges) to the evidence gained by each edge on each side of cuts, as `leaves` price it.
inline void scan(const Table& table, In<double, 2> directions, In<double, 2> edges, In<double, 2> cuts,
                 const Leaves& leaves, Coefficients coefficients, int threads, Out<4> out) {
    const int k = scanned_statistics(table, coefficients);
    require(leaves.can_scan(table.has_codes()) && leaves.n_statistics() == k,
            "leaves of this kind cannot be scanned for these targets");
    const Grid grid = checked_grid(table, directions, edges, cuts);
    const int64_t D = grid.directions, E = grid.edges;
    require(static_cast<int64_t>(out.size()) == grid.cuts * 2 * D * E && E > 0, "out has another size");
    nb::gil_scoped_release release;
    const int size = padded_groups(1 + grid.cuts);
    const int64_t cells = (E + 1) * k * size;
    std::vector<double>& counts = kept_by_thread<ScanCounts>().numbers;
    counts.assign(static_cast<size_t>(D * cells), 0.0);
    add_histogram(table, grid, coefficients, threads, counts.data());
    for_each_number(D, threads, [&] {
        return [&, gains = std::vector<double>(static_cast<size_t>(size) * 2 * E),
                scratch = Scratch()](int64_t d) mutable {
            leaves.threshold_gains(counts.data() + d * cells, static_cast<int>(E + 1), size, gains.data(), scratch);
            for (int64_t cut = 0; cut < grid.cuts; ++cut)
                for (int64_t side = 0; side < 2; ++side)
                    std::copy_n(gains.data() + ((1 + cut) * 2 + side) * E, E,
                                out.data() + ((cut * 2 + side) * D + d) * E);
        };
    });
}

}  // namespace reticulum
