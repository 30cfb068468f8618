// Moments of the columns of a block.
//
// This header is compiled once for each instruction set (see kernels.cpp); everything in it has internal linkage.
#pragma once

#include "kernels.hpp"
#include "tiles.hpp"

namespace reticulum {
namespace {

void moments(const Block& block, int width, const double* mass, double* second, double* cross) {
    const int64_t pairs = int64_t{width} * (width + 1) / 2;
    add_curvatures(mass, 1, block.n, block.design, block.stride, width, 0, second, pairs);
    add_dots(mass, 1, block.n, block.design, block.stride, width, cross + int64_t{block.code} * width);
}

void project(const double* directions, int count, int width, const Block& block, double* out, int64_t stride) {
    product(directions, count, width, block.design, block.stride, out, stride, block.n);
}

}  // namespace
}  // namespace reticulum
