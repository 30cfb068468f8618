// The request for moments of the columns, by code of the target.
#pragma once

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

}  // namespace reticulum
