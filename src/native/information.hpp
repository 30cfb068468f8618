// Information of splits, packed by rows of the upper triangle.
#pragma once

#include <cstdint>
#include <vector>

namespace reticulum {

using Values = std::vector<double>;

// Columns of a design with its leading 1. Information is a matrix for the leading columns; those behind them, the tail,
// share one more number, the information of the activation: times the variance of a column, that of its slope.
struct Columns {
    int width = 0;
    Values tail_variances;

    int tail() const { return static_cast<int>(tail_variances.size()); }
    int lead() const { return width - tail(); }
    int packed_width() const { return tail() ? lead() + 1 : width; }
    // Numbers of the packed information of one split.
    int64_t pairs() const { return int64_t{packed_width()} * (packed_width() + 1) / 2; }
};

// Calls `work(row, column, place)` for each entry of the leading matrix in the upper triangle, with its packed place.
template <typename Work>
void for_leading_pairs(const Columns& columns, Work work) {
    const int lead = columns.lead(), packed = columns.packed_width();
    int64_t place = 0;
    for (int row = 0; row < lead; ++row, place += packed - lead)
        for (int column = row; column < lead; ++column, ++place) work(row, column, place);
}

// Information of the activation, by which that of the tail is known; 0 without a tail.
inline double activation_information(const Columns& columns, const double* packed) {
    return columns.tail() ? packed[columns.pairs() - 1] : 0.0;
}

// Sets what the packed information says of a column to 0.
inline void hide_column(const Columns& columns, int hidden, double* packed) {
    const int width = columns.packed_width();
    for (int row = 0; row < width; ++row)
        for (int column = row; column < width; ++column, ++packed)
            if (row == hidden || column == hidden) *packed = 0.0;
}

}  // namespace reticulum
