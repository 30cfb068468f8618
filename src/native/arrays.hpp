// NumPy arrays as the core reads and writes them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace reticulum {

template <typename T, int N>
using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <int N>
using Out = nb::ndarray<double, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
// The cells of a table of the user: float64 or float32, wherever they lie in memory.
using Cells = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

inline void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

template <typename T>
std::vector<T> copied(const In<T, 1>& values) {
    return std::vector<T>(values.data(), values.data() + values.size());
}

// Calls `work` with the first cell, and the distances between rows and between columns.
template <typename Work>
void with_cells(const Cells& X, Work work) {
    if (X.dtype() == nb::dtype<double>())
        work(static_cast<const double*>(X.data()), X.stride(0), X.stride(1));
    else
        work(static_cast<const float*>(X.data()), X.stride(0), X.stride(1));
}

// A NumPy array that takes the values over.
template <typename T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> numpy_array(std::vector<T>& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    const size_t shape[1] = {kept->size()};
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), 1, shape, owner);
}

}  // namespace reticulum
