// NumPy arrays as the core reads and writes them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
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

// A NumPy array that holds a copy of the values, for a call of Python.
inline nb::object copy_to_python(const double* values, std::initializer_list<size_t> shape) {
    const nb::ndarray<nb::numpy, const double> array(values, shape.size(), shape.begin());
    return nb::cast(array, nb::rv_policy::copy);
}

// Copies the numbers of an array that a call of Python returned; `message` is the error if they are not so many.
inline void copy_from_python(nb::handle answer, int64_t size, const char* message, double* out) {
    const auto values = nb::cast<nb::ndarray<const double, nb::c_contig, nb::device::cpu>>(answer);
    require(static_cast<int64_t>(values.size()) == size, message);
    std::copy_n(values.data(), size, out);
}

}  // namespace reticulum
