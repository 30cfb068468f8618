// Memory for one block of rows, kept by its thread from block to block.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace reticulum {

// Bytes in a line of the cache: vectors that do not begin at a multiple of it may lie in two lines.
constexpr int kLine = 64;

// The first place from here on that begins a line; less than a line away.
template <typename T>
T* aligned(T* from) {
    return reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(from) + kLine - 1) / kLine * kLine);
}

// Memory that grows to the largest request. What a request finds in it is undefined.
//
// Defined in a file of its own, which is compiled once for any processor: of functions of the standard library that
// kernels would instantiate themselves the linker keeps one copy for all, possibly one with instructions that this
// processor does not have.
class Scratch {
  public:
    double* doubles(int64_t size);  // the beginning of a line

  private:
    std::vector<double> memory_;
};

// Deals out parts of a scratch, one after the other.
template <typename Real>
class Parts {
  public:
    Parts(Scratch& scratch, int64_t size)
        : at_(reinterpret_cast<Real*>(scratch.doubles((size * int64_t{sizeof(Real)} + 7) / 8))) {}

    Real* next(int64_t size) { return std::exchange(at_, at_ + size); }

    // Flags take up space for so many numbers; they come last, so that numbers stay at the beginning of lines.
    static int64_t size_of_flags(int64_t count) { return count / int64_t{sizeof(Real)} + 1; }
    char* next_flags(int64_t count) { return reinterpret_cast<char*>(next(size_of_flags(count))); }

  private:
    Real* at_;
};

}  // namespace reticulum
