// The compiled part of `bayesian_reticulum.native`.

#include <nanobind/nanobind.h>

#include "ascent.hpp"
#include "table.hpp"

using namespace reticulum;

namespace {

// Memberships of rows of X, or their means of leaf values (leaves, q) if there are any: out (n, leaves or q).
void predict(Cells X, In<double, 1> center, In<double, 1> scale, In<double, 1> low, In<double, 1> high,
             In<double, 2> hyperplanes, In<int64_t, 2> children, std::optional<In<double, 2>> values, int threads,
             Out<2> out) {
    const Units units(center, scale, low, high);
    const int m = static_cast<int>(hyperplanes.shape(0)), width = static_cast<int>(hyperplanes.shape(1));
    const int leaves = m + 1, q = static_cast<int>(out.shape(1));
    require_floats(X, center.size());
    require(width == static_cast<int>(center.size()) + 1, "hyperplanes need one slope for each column");
    require(static_cast<int>(children.shape(0)) == m && children.shape(1) == 2, "each split has two children");
    require_tree(m, children.data());
    require(out.shape(0) == X.shape(0), "out has another size");
    if (values)
        require(static_cast<int>(values->shape(0)) == leaves && static_cast<int>(values->shape(1)) == q,
                "each leaf needs values");
    else
        require(q == leaves, "out has another size");
    const Trees trees = {1, m, width, hyperplanes.data(), children.data()};
    const int64_t n = static_cast<int64_t>(X.shape(0));
    const int rows = block_rows(width + 4 * leaves + q);
    nb::gil_scoped_release release;
    struct Worker {
        const Cells& X;
        const Units& units;
        const Trees& trees;
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
                tile.resize(static_cast<size_t>(trees.width) * padded);
                member.resize(static_cast<size_t>(leaves) * padded);
                units.fill(X, index.data(), padded, tile.data(), padded);
                Block block{};
                block.n = padded;
                block.design = tile.data();
                block.stride = padded;
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
        return Worker{X, units, trees, values ? values->data() : nullptr, out.data(), n, rows, q, {}, {}, {}, {}};
    });
}

}  // namespace

NB_MODULE(_native, module) {
    module.attr("instruction_set") = kernels.name;
    module.attr("pad") = kPad;
    nb::class_<Table>(module, "Table")
        .def(nb::init<Cells, In<int64_t, 1>, In<int64_t, 1>, In<int32_t, 1>, int, std::optional<In<double, 2>>,
                      In<double, 1>, In<double, 1>, std::optional<In<double, 1>>, std::optional<In<double, 1>>,
                      In<double, 1>, In<double, 1>, In<double, 1>, In<double, 1>, bool>())
        .def("pass_", &Table::pass)
        .def("membership_sums", &Table::membership_sums)
        .def("leaf_views", &Table::leaf_views)
        .def("likelihoods_below", &Table::likelihoods_below)
        .def("histogram", &Table::histogram)
        .def("scan", &Table::scan)
        .def("quantiles", &Table::quantiles);
    module.def("ascend", &ascend);
    module.def("predict", &predict);
}
