// The compiled part of `bayesian_reticulum.native`.

#include <nanobind/nanobind.h>

#include <atomic>

#include "ascent.hpp"
#include "table.hpp"

using namespace reticulum;

namespace {

// Memberships of rows of X, or their means of leaf values (leaves, q) if there are any: out (n, leaves or q).
//
// Returns whether cells are missing that `gaps` are not told of: then out is not to be used.
bool predict(Cells X, const Units& units, const Gaps* gaps, In<double, 2> hyperplanes, In<int64_t, 2> children,
             std::optional<In<double, 2>> values, int threads, Out<2> out) {
    const int m = static_cast<int>(hyperplanes.shape(0)), width = static_cast<int>(hyperplanes.shape(1));
    const int leaves = m + 1, q = static_cast<int>(out.shape(1));
    units.require_cells(X);
    require(width == static_cast<int>(units.center.size()) + 1, "hyperplanes need one slope for each column");
    if (gaps) gaps->require_within(X, width);
    require(static_cast<int>(children.shape(0)) == m && children.shape(1) == 2, "each split has two children");
    require_tree(m, children.data());
    require(out.shape(0) == X.shape(0), "out has another size");
    if (values)
        require(static_cast<int>(values->shape(0)) == leaves && static_cast<int>(values->shape(1)) == q,
                "each leaf needs values");
    else
        require(q == leaves, "out has another size");
    const int q_gaps = gaps ? static_cast<int>(gaps->size()) : 0;
    std::vector<double> variance;
    if (gaps) variance = gaps->variances(hyperplanes.data(), m, width);
    const Trees trees = {1, m, width, hyperplanes.data(), children.data(), q_gaps, variance.data()};
    std::atomic<bool> is_untold{false};
    const int64_t n = static_cast<int64_t>(X.shape(0));
    const int rows = block_rows(width + q_gaps + 4 * leaves + q);
    nb::gil_scoped_release release;
    struct Worker {
        const Cells& X;
        const Units& units;
        const Gaps* gaps;
        const Trees& trees;
        std::atomic<bool>& is_untold;
        const double* values;
        double* out;
        int64_t n;
        int rows, q;
        std::vector<int64_t> index;
        std::vector<double> tile, member, scratch;

        void work(int64_t chunk) {
            const int64_t stop = std::min(n, (chunk + 1) * kChunkRows);
            const int leaves = trees.leaves();
            for (int64_t start = chunk * kChunkRows; start < stop; start += rows) {
                const int count = static_cast<int>(std::min<int64_t>(rows, stop - start));
                const int padded = (count + kPad - 1) / kPad * kPad;
                index.assign(padded, -1);
                for (int b = 0; b < count; ++b) index[b] = start + b;
                tile.resize(static_cast<size_t>(trees.width + trees.gaps) * padded);
                member.resize(static_cast<size_t>(leaves) * padded);
                const bool has_gaps = units.fill(X, index.data(), padded, tile.data(), padded);
                Block block{};
                block.n = padded;
                block.design = tile.data();
                block.stride = padded;
                if (has_gaps && !gaps) {
                    is_untold = true;
                    return;
                }
                if (has_gaps) {
                    double* missing = tile.data() + static_cast<int64_t>(trees.width) * padded;
                    gaps->fill(X, units, index.data(), padded, tile.data(), missing, padded);
                    block.missing = missing;
                }
                kernels.memberships(trees, block, member.data(), scratch);
                double* to = out + start * q;
                if (!values) {
                    for (int b = 0; b < count; ++b)
                        for (int leaf = 0; leaf < leaves; ++leaf) to[int64_t{b} * q + leaf] = member[leaf * padded + b];
                    continue;
                }
                for (int b = 0; b < count; ++b)
                    for (int v = 0; v < q; ++v) {
                        double mean = 0.0;
                        for (int leaf = 0; leaf < leaves; ++leaf)
                            mean += member[static_cast<size_t>(leaf) * padded + b] * values[int64_t{leaf} * q + v];
                        to[int64_t{b} * q + v] = mean;
                    }
            }
        }
        void add(int64_t) {}
    };
    in_order((n + kChunkRows - 1) / kChunkRows, threads, [&] {
        const double* means = values ? values->data() : nullptr;
        return Worker{X, units, gaps, trees, is_untold, means, out.data(), n, rows, q, {}, {}, {}, {}};
    });
    return is_untold;
}

}  // namespace

NB_MODULE(_native, module) {
    module.attr("instruction_set") = kernels.name;
    module.attr("pad") = kPad;
    module.attr("group_pad") = kGroupPad;
    nb::class_<Units>(module, "Units")
        .def(nb::init<In<double, 1>, In<double, 1>, In<double, 1>, In<double, 1>, In<int64_t, 1>, In<int64_t, 1>>());
    nb::class_<Gaps>(module, "Gaps")
        .def(nb::init<>())
        .def(nb::init<In<int64_t, 1>, In<int64_t, 1>, In<int64_t, 1>, In<int64_t, 1>, In<double, 1>,
                      std::optional<In<double, 2>>>(),
             nb::arg("sources"), nb::arg("group"), nb::arg("start"), nb::arg("column"), nb::arg("value"),
             nb::arg("precision").none());
    nb::class_<Table>(module, "Table")
        .def(nb::init<Cells, In<int64_t, 1>, In<int64_t, 1>, In<int64_t, 1>, In<int32_t, 1>, int,
                      std::optional<In<double, 2>>, In<double, 1>, In<double, 1>, std::optional<In<double, 1>>,
                      std::optional<In<double, 1>>, const Units&, const Gaps&, In<double, 1>, bool, const Table*,
                      std::optional<In<int64_t, 1>>>(),
             nb::arg("X"), nb::arg("index"), nb::arg("segments"), nb::arg("gap_starts"), nb::arg("codes"), nb::arg("k"),
             nb::arg("statistics").none(), nb::arg("weights"), nb::arg("mass"), nb::arg("log_reach").none(),
             nb::arg("log_other").none(), nb::arg("units"), nb::arg("gaps"), nb::arg("tail"), nb::arg("keep"),
             nb::arg("whole").none() = nb::none(), nb::arg("places").none() = nb::none())
        .def("pass_", &Table::pass, nb::arg("hyperplanes"), nb::arg("children"), nb::arg("parameters"),
             nb::arg("threads"), nb::arg("log_normalizer"), nb::arg("statistics"), nb::arg("gradient"),
             nb::arg("observed").none(), nb::arg("complete").none(), nb::arg("in_floats") = false)
        .def("membership_sums", &Table::membership_sums)
        .def("moments", &Table::moments)
        .def("leaf_views", &Table::leaf_views)
        .def("likelihoods_below", &Table::likelihoods_below)
        .def("histogram", &Table::histogram)
        .def("scan", &Table::scan)
        .def("quantiles", &Table::quantiles);
    module.def("ascend", &ascend);
    module.def("predict", &predict, nb::arg("X"), nb::arg("units"), nb::arg("gaps").none(), nb::arg("hyperplanes"),
               nb::arg("children"), nb::arg("values").none(), nb::arg("threads"), nb::arg("out"));
}
