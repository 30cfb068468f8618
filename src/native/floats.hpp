// Rounding from doubles to floats, for passes in which speed is worth more than digits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <type_traits>
#include <vector>

#include "kernels/kernels.hpp"

namespace reticulum {

// Rounds expected log likelihoods by code (c, leaves, k) so that floats hold the likelihoods that a pass makes of them,
// and the largest of their logs, exactly. If the pass rounded them, it would err alike for all rows of a code: by more
// than the last steps of an ascent gain.
inline void round_to_floats(double* parameters, int c, int leaves, int k) {
    for (int tree = 0; tree < c; ++tree)
        for (int code = 0; code < k; ++code) {
            double* by_leaf = parameters + int64_t{tree} * leaves * k + code;
            double largest = by_leaf[0];
            for (int leaf = 1; leaf < leaves; ++leaf) largest = std::max(largest, by_leaf[int64_t{leaf} * k]);
            const double top = static_cast<float>(largest);
            for (int leaf = 0; leaf < leaves; ++leaf) {
                double& log = by_leaf[int64_t{leaf} * k];
                const float likelihood = log == largest ? 1.0f : static_cast<float>(std::exp(log - top));
                // Likelihoods below the smallest normal float stay as they are: the pass counts them as 0.
                if (likelihood >= std::numeric_limits<float>::min())
                    log = top + std::log(static_cast<double>(std::min(likelihood, 1.0f)));
            }
        }
}

// Trees and likelihoods in the type that a pass reads: copies in floats, or the doubles themselves.
template <typename Real>
class Rounded {
  public:
    Rounded(const Trees& from, const Likelihoods& by) {
        const int64_t splits = int64_t{from.c} * from.m, leaves = int64_t{from.c} * from.leaves();
        const int64_t coded = by.by_code ? by.k : 0;
        trees = {from.c,
                 from.m,
                 from.width,
                 rounded(from.hyperplanes, splits * from.width, hyperplanes_),
                 from.children,
                 from.gaps,
                 rounded(from.variance, splits * from.gaps, variance_),
                 from.lead};
        likelihoods = {by.k,
                       by.by_code,
                       rounded(by.likelihood, coded * leaves, likelihood_),
                       rounded(by.offset, coded * from.c, offset_),
                       rounded(by.log_likelihood, coded * leaves, log_likelihood_),
                       rounded(by.parameters, by.by_code ? 0 : leaves * by.k, parameters_)};
    }
    Rounded(const Rounded&) = delete;

    TreesOf<Real> trees;
    LikelihoodsOf<Real> likelihoods;

  private:
    static const Real* rounded(const double* values, int64_t size, std::vector<Real>& copy) {
        if constexpr (std::is_same_v<Real, double>) return values;
        copy.assign(values, values + size);
        return copy.data();
    }

    std::vector<Real> hyperplanes_, variance_, likelihood_, offset_, log_likelihood_, parameters_;
};

// The rows of a table in floats, made by the first pass that reads them.
struct FloatRows {
    std::once_flag design_is_made, weights_are_made;
    std::vector<float> design, weights, log_reach, log_other;
};

}  // namespace reticulum
