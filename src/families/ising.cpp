#include "treesample/families/ising.hpp"

#include "families/option_fields.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

// Both noises are drawn even if their scale is 0, so that couplings of one seed differ only in scale.
double draw_value(double constant, double normal, double uniform, Random& random) {
  const double z = random.normal();
  return constant + normal * z + uniform * (2.0 * random.uniform() - 1.0);
}

int num_columns(const IsingOptions& options) { return options.columns == 0 ? options.n : options.columns; }

void add_couplings(const IsingOptions& options, Random random, FamilyInstance& result) {
  const auto join = [&](int i, int j) {
    const double coupling = draw_value(options.coupling, options.coupling_normal, options.coupling_uniform, random);
    add_factor(result, "pair", {i, j}, {coupling, -coupling, -coupling, coupling});
  };
  const int rows = options.n;
  const int columns = num_columns(options);
  const bool wraps_right = options.torus && columns > 2;
  const bool wraps_down = options.torus && rows > 2;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const int here = row * columns + column;
      if (column + 1 < columns || wraps_right) join(here, row * columns + (column + 1) % columns);
      if (row + 1 < rows || wraps_down) join(here, (row + 1) % rows * columns + column);
    }
  }
}

}  // namespace

std::span<const OptionField<IsingOptions>> ising_fields() {
  static constexpr double kMax = kMaxPotential;
  static constexpr OptionField<IsingOptions> kFields[] = {
      {"n", &IsingOptions::n, 1, 1000, "number of rows of the grid"},
      {"columns", &IsingOptions::columns, 0, 1000, "number of columns of the grid, 0: as many as rows"},
      {"torus", &IsingOptions::torus, 0, 1, "join the last row and column to the first"},
      {"coupling", &IsingOptions::coupling, -kMax, kMax, "coupling of neighbours"},
      {"coupling_normal", &IsingOptions::coupling_normal, 0, kMax, "standard deviation of Gaussian couplings"},
      {"coupling_uniform", &IsingOptions::coupling_uniform, 0, kMax, "half the width of uniform couplings"},
      {"field", &IsingOptions::field, -kMax, kMax, "field of each variable"},
      {"field_normal", &IsingOptions::field_normal, 0, kMax, "standard deviation of Gaussian fields"},
      {"field_uniform", &IsingOptions::field_uniform, 0, kMax, "half the width of uniform fields"},
  };
  return kFields;
}

IsingOptions ising_options(Reading) { return {}; }

FamilyInstance make_ising(const IsingOptions& options, std::uint64_t seed, std::uint64_t instance) {
  check_fields("make_ising", options, ising_fields());
  const int num_variables = options.n * num_columns(options);
  FamilyInstance result = empty_instance(num_variables, 2);
  add_couplings(options, family_stream("ising", seed, instance, "couplings"), result);
  if (options.field == 0.0 && options.field_normal == 0.0 && options.field_uniform == 0.0) return result;
  Random random = family_stream("ising", seed, instance, "fields");
  for (int v = 0; v < num_variables; ++v) {
    const double field = draw_value(options.field, options.field_normal, options.field_uniform, random);
    add_factor(result, "unary", {v}, {-field, field});
  }
  return result;
}

}  // namespace treesample
