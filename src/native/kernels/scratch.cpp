#include "scratch.hpp"

#include <cstddef>

namespace reticulum {

double* Scratch::doubles(int64_t size) {
    const std::size_t with_line = static_cast<std::size_t>(size) + kLine / sizeof(double);
    if (memory_.size() < with_line) memory_.resize(with_line);
    return aligned(memory_.data());
}

}  // namespace reticulum
