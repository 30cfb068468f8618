// The Python module `bayesian_reticulum._native`: its classes, functions and names of arguments, as in _native.pyi.

#include <nanobind/nanobind.h>

#include "ascent.hpp"
#include "below.hpp"
#include "histogram.hpp"
#include "leaves.hpp"
#include "memberships.hpp"
#include "moments.hpp"
#include "pass.hpp"
#include "prediction.hpp"
#include "quantiles.hpp"
#include "table.hpp"
#include "views.hpp"

using namespace reticulum;
using nb::arg;

namespace {

void bind_columns(nb::module_& module) {
    nb::class_<Units>(module, "Units")
        .def(nb::init<In<double, 1>, In<double, 1>, In<double, 1>, In<double, 1>, In<int64_t, 1>, In<int64_t, 1>>(),
             arg("center"), arg("scale"), arg("low"), arg("high"), arg("source"), arg("code"));
    nb::class_<Gaps>(module, "Gaps")
        .def(nb::init<>())
        .def(nb::init<In<int64_t, 1>, In<int64_t, 1>, In<int64_t, 1>, In<int64_t, 1>, In<double, 1>,
                      std::optional<In<double, 2>>, std::optional<In<double, 1>>>(),
             arg("sources"), arg("group"), arg("start"), arg("column"), arg("value"), arg("coefficients").none(),
             arg("left_open").none());
}

void bind_leaves(nb::module_& module) {
    nb::class_<Leaves>(module, "Leaves")
        .def("evaluate", &evaluate_leaves, arg("statistics"), arg("expected").none(), arg("log_evidence").none());
    nb::class_<DirichletLeaves, Leaves>(module, "DirichletLeaves").def(nb::init<In<double, 1>>(), arg("prior"));
    nb::class_<PythonLeaves, Leaves>(module, "PythonLeaves")
        .def(nb::init<nb::object, int>(), arg("family"), arg("n_statistics"));
    nb::class_<NormalLeaves, Leaves>(module, "NormalLeaves")
        .def(nb::init<int, double, double, double, double, In<double, 1>>(), arg("n_slopes"), arg("scale"),
             arg("offset_precision"), arg("shape"), arg("rate"), arg("slope_precisions"))
        .def_prop_ro("n_slopes", &NormalLeaves::n_slopes)
        .def("average", &average_leaf, arg("statistics"), arg("out"));
}

void bind_table(nb::module_& module) {
    nb::class_<Table>(module, "Table")
        .def(nb::init<Cells, In<int64_t, 1>, In<int64_t, 1>, In<int64_t, 1>, In<int32_t, 1>, int,
                      std::optional<In<double, 2>>, std::optional<In<double, 2>>, std::optional<In<double, 2>>,
                      In<double, 1>, In<double, 1>, std::optional<In<double, 1>>, std::optional<In<double, 1>>,
                      const Units&, const Gaps&, In<double, 1>, bool, const Table*, std::optional<In<int64_t, 1>>>(),
             arg("X"), arg("index"), arg("segments"), arg("gap_starts"), arg("codes"), arg("k"),
             arg("statistics").none(), arg("targets").none(), arg("basis").none(), arg("weights"), arg("mass"),
             arg("log_reach").none(), arg("log_other").none(), arg("units"), arg("gaps"), arg("tail"), arg("keep"),
             arg("whole").none() = nb::none(), arg("places").none() = nb::none())
        .def("pass_", &pass, arg("hyperplanes"), arg("children"), arg("parameters"), arg("threads"),
             arg("log_normalizer"), arg("statistics"), arg("gradient"), arg("observed").none(), arg("complete").none(),
             arg("in_floats") = false)
        .def("membership_sums", &membership_sums, arg("hyperplanes"), arg("children"), arg("threads"), arg("out"))
        .def("moments", &moments, arg("threads"), arg("second"), arg("cross"))
        .def("moments_of_numbers", &moments_of_numbers, arg("coefficients").none(), arg("threads"), arg("second"),
             arg("cross"), arg("size"))
        .def("leaf_views", &leaf_views, arg("hyperplanes"), arg("children"), arg("parameters"), arg("leaves"),
             arg("log_share"), arg("threads"))
        .def("likelihoods_below", &likelihoods_below, arg("hyperplanes"), arg("children"), arg("parameters"),
             arg("threads"), arg("out"), arg("statistics"))
        .def("histogram", &histogram, arg("directions"), arg("edges"), arg("cuts"), arg("coefficients").none(),
             arg("threads"), arg("out"))
        .def("scan", &scan, arg("directions"), arg("edges"), arg("cuts"), arg("leaves"), arg("coefficients").none(),
             arg("threads"), arg("out"))
        .def("quantiles", &quantiles, arg("directions"), arg("probabilities"), arg("threads"), arg("out"));
}

void bind_ascent(nb::module_& module) {
    nb::class_<PassSource>(module, "PassSource");
    nb::class_<TablePasses, PassSource>(module, "TablePasses")
        .def(nb::init<const Table&, const Table&, double, int, int64_t, bool>(), arg("table"), arg("hessian_rows"),
             arg("rows_per_hessian_row"), arg("threads"), arg("fewest_gates"), arg("in_floats"), nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>());
    nb::class_<CallbackPasses, PassSource>(module, "CallbackPasses")
        .def(nb::init<nb::object, int, int, In<double, 1>>(), arg("function"), arg("width"), arg("n_statistics"),
             arg("tail"));
    module.def("ascend", &ascend, arg("passes"), arg("leaves"), arg("children"), arg("hyperplanes"), arg("precisions"),
               arg("statistics"), arg("fixed"), arg("sparse"), arg("tolerance"), arg("rounds"), arg("max_passes"),
               arg("least"), arg("log_evidence"), arg("prices"));
}

}  // namespace

NB_MODULE(_native, module) {
    module.attr("instruction_set") = kernels.name;
    module.attr("pad") = kPad;
    module.attr("group_pad") = kGroupPad;
    bind_columns(module);
    bind_leaves(module);
    bind_table(module);
    bind_ascent(module);
    module.def("predict", &predict, arg("X"), arg("units"), arg("gaps").none(), arg("hyperplanes"), arg("children"),
               arg("values").none(), arg("threads"), arg("out"));
}
