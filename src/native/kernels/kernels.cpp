// The kernels of one instruction set: this file is compiled once for each, with RETICULUM_KERNELS as the name of the
// table that it fills. All that it includes but kernels.hpp has internal linkage, so that the copies do not mix.

#include "kernels.hpp"

#include "below.hpp"
#include "cholesky.hpp"
#include "gains.hpp"
#include "histogram.hpp"
#include "memberships.hpp"
#include "moments.hpp"
#include "normal.hpp"
#include "pass.hpp"
#include "views.hpp"

namespace reticulum {

extern const Kernels RETICULUM_KERNELS;
const Kernels RETICULUM_KERNELS = {RETICULUM_NAME,     pass<double>, pass<float>,           membership_sums,
                                   memberships,        leaf_views,   likelihoods_below,     moments,
                                   moments_of_numbers, project,      threshold_gains,       threshold_gains_of_numbers,
                                   histogram,          cholesky,     inverse_from_cholesky, normal_leaf};

}  // namespace reticulum
