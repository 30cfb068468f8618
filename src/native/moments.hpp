// The request for moments of the columns, by code of the target.
#pragma once

#include <optional>

#include "blocks.hpp"
#include "instruction_sets.hpp"

namespace reticulum {

// Adds to second (pairs of columns) and cross (k, width), see Kernels::moments, for targets with codes.
inline void moments(const Table& table, int threads, Out<1> second, Out<2> cross) {
    const int width = table.width();
    const int64_t pairs = int64_t{width} * (width + 1) / 2, size = int64_t{table.n_statistics()} * width;
    require(table.has_codes(), "only targets with codes have such moments");
    require(static_cast<int64_t>(second.size()) == pairs, "second has another size");
    require(static_cast<int64_t>(cross.size()) == size, "cross has another size");
    nb::gil_scoped_release release;
    sum_blocks<double>(table, table.plan(block_rows(width)), threads, {{second.data(), pairs}, {cross.data(), size}},
                       [&](const Block& block, int64_t start, double* const* sums, Scratch&) {
                           kernels.moments(block, width, table.mass() + start, sums[0], sums[1]);
                       });
}

// The same for numbers, and size: see Kernels::moments_of_numbers.
inline void moments_of_numbers(const Table& table, std::optional<In<double, 1>> coefficients, int threads,
                               Out<1> second, Out<1> cross, Out<1> size) {
    const int width = table.width();
    const int64_t pairs = int64_t{width} * (width + 1) / 2;
    const int64_t of_cross = coefficients ? pairs + width : 3 * int64_t{width};
    const int64_t of_size = coefficients ? width + 1 : 3;
    require(table.has_factors(), "only numbers have such moments");
    if (coefficients)
        require(static_cast<int>(coefficients->size()) == table.n_factors() - 1,
                "a leaf has one coefficient for each of its columns");
    require(static_cast<int64_t>(second.size()) == pairs && static_cast<int64_t>(cross.size()) == of_cross &&
                static_cast<int64_t>(size.size()) == of_size,
            "moments have another size");
    const double* of_leaf = coefficients ? coefficients->data() : nullptr;
    nb::gil_scoped_release release;
    sum_blocks<double>(table, table.plan(block_rows(width + table.n_factors())), threads,
                       {{second.data(), pairs}, {cross.data(), of_cross}, {size.data(), of_size}},
                       [&](const Block& block, int64_t start, double* const* sums, Scratch& scratch) {
                           kernels.moments_of_numbers(block, width, table.mass() + start, of_leaf, sums[0], sums[1],
                                                      sums[2], scratch);
                       });
}

}  // namespace reticulum
