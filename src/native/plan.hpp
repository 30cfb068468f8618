// The plan of a request: blocks of rows that stay in cache, and chunks of blocks that one thread adds up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/kernels.hpp"

namespace reticulum {

// Numbers of one block, which should stay in a core's second-level cache: 512 kB of doubles.
constexpr int64_t kBlockFloats = int64_t{1} << 16;
// Rows, at least, of a chunk. Fixed, so that sums do not depend on the number of threads.
constexpr int64_t kChunkRows = 512;
// The same for histograms, whose sums are large.
constexpr int64_t kHistogramRows = 1024;

// Rows of a block for which a kernel needs so many doubles a row.
inline int block_rows(int64_t floats_per_row) {
    const int64_t rows = kBlockFloats / std::max<int64_t>(floats_per_row, 1);
    return static_cast<int>(std::clamp<int64_t>(rows, 64, 1024)) / kPad * kPad;
}

// A block of a table: n rows from `start` on, all of one code.
struct Part {
    int64_t start;
    int n, code;
    bool has_gaps;
};

// Blocks, and the first block of each chunk; at the end of `chunks`, the number of blocks.
struct Plan {
    std::vector<Part> parts;
    std::vector<size_t> chunks;

    int64_t n_chunks() const { return static_cast<int64_t>(chunks.size()) - 1; }
};

// The segments of a table: rows of equal code, with those that have gaps at the end.
struct Segments {
    const int64_t* start;      // (size + 1)
    const int64_t* gap_start;  // (size): the first row with gaps, or the segment's end
    const int32_t* code;       // (size)
    size_t size;
};

// Blocks of at most `rows` rows within segments.
inline Plan plan_blocks(const Segments& segments, int rows, int64_t chunk_rows) {
    Plan plan;
    int64_t in_chunk = chunk_rows;
    for (size_t s = 0; s < segments.size; ++s) {
        const int64_t stop = segments.start[s + 1];
        for (int64_t start = segments.start[s]; start < stop; start += rows) {
            if (in_chunk >= chunk_rows) {
                plan.chunks.push_back(plan.parts.size());
                in_chunk = 0;
            }
            const int n = static_cast<int>(std::min<int64_t>(rows, stop - start));
            plan.parts.push_back({start, n, segments.code[s], start + n > segments.gap_start[s]});
            in_chunk += n;
        }
    }
    plan.chunks.push_back(plan.parts.size());
    return plan;
}

}  // namespace reticulum
