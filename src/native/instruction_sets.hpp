// The choice among the instruction sets that the kernels were compiled for.
#pragma once

#include <cstdlib>
#include <string>

#include "kernels/kernels.hpp"

namespace reticulum {

// The kernels of the best instruction set that the processor runs, or of the one that the environment names if the
// processor runs that one.
inline const Kernels& best_kernels() {
#if defined(RETICULUM_X86_LEVELS)
    __builtin_cpu_init();
    const char* named = std::getenv("BAYESIAN_RETICULUM_INSTRUCTIONS");
    const auto wanted = [&](const char* name) { return !named || std::string(named) == name; };
    if (wanted("v4") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return v4_kernels;
    if ((wanted("v3") || wanted("v4")) && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return v3_kernels;
#endif
    return baseline_kernels;
}

inline const Kernels& kernels = best_kernels();

}  // namespace reticulum
