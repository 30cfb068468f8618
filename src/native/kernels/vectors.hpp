// Vectors of doubles and of floats, as wide as the instruction set has them, with exp, log and log gamma.
//
// This header is compiled once for each instruction set (see kernels.cpp); everything in it has internal linkage.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <typename Real>
constexpr int kLanesOf = kVectorBytes / static_cast<int>(sizeof(Real));

template <typename Real>
struct Vectors;
template <>
struct Vectors<double> {
    typedef double Vec __attribute__((vector_size(kVectorBytes)));
    typedef int64_t Bits __attribute__((vector_size(kVectorBytes)));
};
template <>
struct Vectors<float> {
    typedef float Vec __attribute__((vector_size(kVectorBytes)));
    typedef int32_t Bits __attribute__((vector_size(kVectorBytes)));
    typedef float Half __attribute__((vector_size(kVectorBytes / 2)));
};

template <typename Real>
using VecOf = typename Vectors<Real>::Vec;
template <typename Real>
using BitsOf = typename Vectors<Real>::Bits;

// Names without a type are those of doubles, which most kernels work with.
using Vec = VecOf<double>;
using Bits = BitsOf<double>;
constexpr int kLanes = kLanesOf<double>;

template <typename Real>
inline VecOf<Real> load(const Real* from) {
    VecOf<Real> out;
    std::memcpy(&out, from, sizeof out);
    return out;
}

inline void store(double* to, Vec value) { std::memcpy(to, &value, sizeof value); }
inline void store(float* to, VecOf<float> value) { std::memcpy(to, &value, sizeof value); }

template <typename Real = double>
inline VecOf<Real> all(Real value) {
    return value - VecOf<Real>{};
}

#if defined(__AVX512F__)
// Compilers would make two instructions, a comparison and a choice, of the plain form below.
inline Vec larger(Vec a, Vec b) { return _mm512_maskz_max_pd(0xff, a, b); }
inline Vec smaller(Vec a, Vec b) { return _mm512_maskz_min_pd(0xff, a, b); }
inline VecOf<float> larger(VecOf<float> a, VecOf<float> b) { return _mm512_maskz_max_ps(0xffff, a, b); }
inline VecOf<float> smaller(VecOf<float> a, VecOf<float> b) { return _mm512_maskz_min_ps(0xffff, a, b); }
#else
inline Vec larger(Vec a, Vec b) { return a > b ? a : b; }
inline Vec smaller(Vec a, Vec b) { return a < b ? a : b; }
inline VecOf<float> larger(VecOf<float> a, VecOf<float> b) { return a > b ? a : b; }
inline VecOf<float> smaller(VecOf<float> a, VecOf<float> b) { return a < b ? a : b; }
#endif

inline double sum(Vec value) {
    // Halves are added to each other, so that the order of additions is the same for every source of the lanes.
    double parts[kLanes];
    std::memcpy(parts, &value, sizeof value);
    for (int width = kLanes / 2; width > 0; width /= 2)
        for (int lane = 0; lane < width; ++lane) parts[lane] += parts[lane + width];
    return parts[0];
}

// The lower and the upper half of floats, as doubles.
inline void widen(VecOf<float> value, Vec& lower, Vec& upper) {
    Vectors<float>::Half half[2];
    std::memcpy(half, &value, sizeof value);
    lower = __builtin_convertvector(half[0], Vec);
    upper = __builtin_convertvector(half[1], Vec);
}

inline double sum(VecOf<float> value) {
    Vec lower, upper;
    widen(value, lower, upper);
    return sum(lower + upper);
}

// A sum of many vectors, in doubles also where the vectors hold floats.
struct WideSum {
    Vec total = {};
    void add(Vec value) { total += value; }
    void add(VecOf<float> value) {
        Vec lower, upper;
        widen(value, lower, upper);
        total += lower;
        total += upper;
    }
};

// Adding this leaves the nearest whole number in the low bits.
template <typename Real>
constexpr Real kRounder = std::is_same_v<Real, double> ? Real(0x1.8p52) : Real(0x1.8p23);

// Replaces each x, which must lie in [-708, 709], by exp(x), to about one unit in the last place.
//
// All V vectors take a step before any takes the next one: a step has to wait for the step before it, and the other
// vectors fill the time.
template <int V>
inline void exp_within(Vec (&x)[V]) {
    Bits exponent[V], bits[V];
    Vec square[V], even[V], odd[V];
    for (Vec& exponents : x) exponents *= 0x1.71547652b82fep0;
    for (int v = 0; v < V; ++v) {
        const Vec shifted = x[v] + kRounder<double>;
        std::memcpy(&exponent[v], &shifted, sizeof shifted);
        x[v] -= shifted - kRounder<double>;
    }
    // The minimax polynomial of 2^x on [-1/2, 1/2]; its even and odd parts run side by side.
    for (int v = 0; v < V; ++v) {
        square[v] = x[v] * x[v];
        even[v] = square[v] * 0x1.e8b775c26ac5dp-28 + 0x1.62be6855ef16dp-20;
        odd[v] = square[v] * 0x1.b689b8a80bd46p-24 + 0x1.ffcb3f16e7f56p-17;
    }
    for (int v = 0; v < V; ++v) even[v] = even[v] * square[v] + 0x1.43091387cd23cp-13;
    for (int v = 0; v < V; ++v) odd[v] = odd[v] * square[v] + 0x1.5d87fea4a8cb9p-10;
    for (int v = 0; v < V; ++v) even[v] = even[v] * square[v] + 0x1.3b2ab6fb82071p-7;
    for (int v = 0; v < V; ++v) odd[v] = odd[v] * square[v] + 0x1.c6b08d703954ep-5;
    for (int v = 0; v < V; ++v) even[v] = even[v] * square[v] + 0x1.ebfbdff82c61fp-3;
    for (int v = 0; v < V; ++v) odd[v] = odd[v] * square[v] + 0x1.62e42fefa3a28p-1;
    for (int v = 0; v < V; ++v) {
        const Vec value = (even[v] * square[v] + 1.0) + odd[v] * x[v];
        std::memcpy(&bits[v], &value, sizeof value);
        bits[v] += exponent[v] << 52;
        std::memcpy(&x[v], &bits[v], sizeof value);
    }
}

// The same for floats in [-87, 88].
template <int V>
inline void exp_within(VecOf<float> (&x)[V]) {
    using Floats = VecOf<float>;
    BitsOf<float> exponent[V], bits[V];
    Floats square[V], even[V], odd[V];
    for (int v = 0; v < V; ++v) {
        const Floats shifted = x[v] * 0x1.715476p0f + kRounder<float>;
        std::memcpy(&exponent[v], &shifted, sizeof shifted);
        const Floats power = shifted - kRounder<float>;
        // log 2 is subtracted in two parts, as one product would leave too few digits where the power is large.
        x[v] = (x[v] - power * 0x1.62e4p-1f) - power * 0x1.7f7d1cp-20f;
    }
    // The minimax polynomial of exp on [-log(2) / 2, log(2) / 2].
    for (int v = 0; v < V; ++v) {
        square[v] = x[v] * x[v];
        even[v] = square[v] * 0x1.6ae6ep-10f + 0x1.555824p-5f;
        odd[v] = square[v] * 0x1.1267d8p-7f + 0x1.555418p-3f;
    }
    for (int v = 0; v < V; ++v) even[v] = even[v] * square[v] + 0x1.fffffcp-2f;
    for (int v = 0; v < V; ++v) odd[v] = odd[v] * square[v] + 1.0f;
    for (int v = 0; v < V; ++v) {
        const Floats value = (even[v] * square[v] + 1.0f) + odd[v] * x[v];
        std::memcpy(&bits[v], &value, sizeof value);
        bits[v] += exponent[v] << 23;
        std::memcpy(&x[v], &bits[v], sizeof value);
    }
}

// exp(x) for any x, clipped to the range of `exp_within`.
inline Vec exp(Vec x) {
    Vec out[1] = {smaller(larger(x, all(-708.0)), all(709.0))};
    exp_within(out);
    return out[0];
}

inline VecOf<float> exp(VecOf<float> x) {
    VecOf<float> out[1] = {smaller(larger(x, all(-87.0f)), all(88.0f))};
    exp_within(out);
    return out[0];
}

// log(x) for positive, normal x, to about one unit in the last place.
inline Vec log(Vec x) {
    Bits bits;
    std::memcpy(&bits, &x, sizeof x);
    // Mantissas are taken from [sqrt(1/2), sqrt(2)), where the series is shortest.
    const Bits shifted = bits - 0x3fe6a09e667f3bcdLL;
    const Bits power = shifted >> 52;
    const Bits mantissa_bits = bits - (power << 52);
    Vec mantissa;
    std::memcpy(&mantissa, &mantissa_bits, sizeof mantissa);
    const Bits biased = power + 0x4338000000000000LL;
    Vec exponent;
    std::memcpy(&exponent, &biased, sizeof exponent);
    exponent -= kRounder<double>;
    const Vec f = mantissa - 1.0;
    const Vec s = f / (f + 2.0);
    const Vec ss = s * s;
    Vec series = all(2.0 / 21.0);
    series = series * ss + 2.0 / 19.0;
    series = series * ss + 2.0 / 17.0;
    series = series * ss + 2.0 / 15.0;
    series = series * ss + 2.0 / 13.0;
    series = series * ss + 2.0 / 11.0;
    series = series * ss + 2.0 / 9.0;
    series = series * ss + 2.0 / 7.0;
    series = series * ss + 2.0 / 5.0;
    series = series * ss + 2.0 / 3.0;
    // 2 s = f - s f keeps what s alone would round away.
    const Vec tail = exponent * 0x1.ef35793c76730p-45 + (series * ss * s - s * f);
    return exponent * 0x1.62e42fefa3800p-1 + (f + tail);
}

// The same for floats.
inline VecOf<float> log(VecOf<float> x) {
    using Floats = VecOf<float>;
    BitsOf<float> bits;
    std::memcpy(&bits, &x, sizeof x);
    const BitsOf<float> power = (bits - 0x3f3504f3) >> 23;
    const BitsOf<float> mantissa_bits = bits - (power << 23);
    Floats mantissa;
    std::memcpy(&mantissa, &mantissa_bits, sizeof mantissa);
    const BitsOf<float> biased = power + 0x4b400000;
    Floats exponent;
    std::memcpy(&exponent, &biased, sizeof exponent);
    exponent -= kRounder<float>;
    const Floats f = mantissa - 1.0f;
    const Floats s = f / (f + 2.0f);
    const Floats ss = s * s;
    Floats series = all(2.0f / 9.0f);
    series = series * ss + 2.0f / 7.0f;
    series = series * ss + 2.0f / 5.0f;
    series = series * ss + 2.0f / 3.0f;
    const Floats tail = exponent * -0x1.05c61p-29f + (series * ss * s - s * f);
    return exponent * 0x1.62e43p-1f + (f + tail);
}

// Log of the gamma function for x between 1e-30 and 1e30, plus the log of a divisor between 1e-28 and 1e7, which is
// multiplied into `factor`: the caller subtracts log(factor) once for several gamma functions. Exact to about 1e-13
// relative to the larger of the result and 1.
inline Vec log_gamma(Vec x, Vec& factor) {
    // Stirling's series is exact enough from 7 on; smaller arguments are moved there by the recurrence.
    const Vec moved = x + 7.0;
    const Vec product = ((x * (x + 1.0)) * ((x + 2.0) * (x + 3.0))) * ((x + 4.0) * ((x + 5.0) * (x + 6.0)));
    const auto is_small = x < 7.0;
    const Vec y = is_small ? moved : x;
    const Vec inverse = 1.0 / y, square = inverse * inverse;
    Vec series = all(1.0 / 1188.0);
    series = series * square - 1.0 / 1680.0;
    series = series * square + 1.0 / 1260.0;
    series = series * square - 1.0 / 360.0;
    series = series * square + 1.0 / 12.0;
    factor *= is_small ? product : all(1.0);
    return (y - 0.5) * log(y) - y + 0.91893853320467274178 + series * inverse;
}

// Whether any lane is above a limit.
template <typename Real>
bool any_above(const VecOf<Real>& values, Real limit) {
    for (int lane = 0; lane < kLanesOf<Real>; ++lane)
        if (values[lane] > limit) return true;
    return false;
}

}  // namespace
