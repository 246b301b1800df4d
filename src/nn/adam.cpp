#include "treesample/nn/adam.hpp"

#include <fmt/format.h>

#include <cmath>

#include "nn/kernels.hpp"
#include "treesample/error.hpp"

namespace treesample {

Adam::Adam(const AdamOptions& adam_options, std::size_t num_parameters)
    : options(adam_options), first_moment(num_parameters, 0.0F), second_moment(num_parameters, 0.0F) {
  check_at_least("Adam", "learning_rate", options.learning_rate, 0.0);
  check_argument(options.beta1 >= 0.0 && options.beta1 < 1.0 && options.beta2 >= 0.0 && options.beta2 < 1.0, "Adam",
                 fmt::format("beta1 is {} and beta2 is {}, allowed are values from 0 up to but not including 1",
                             options.beta1, options.beta2));
  check_at_least("Adam", "epsilon", options.epsilon, 0.0);
}

void Adam::step(std::span<float> parameters, std::span<const float> gradient) {
  check_argument(parameters.size() == first_moment.size() && gradient.size() == first_moment.size(), "Adam::step",
                 fmt::format("{} parameters and {} gradients, expected are {}", parameters.size(), gradient.size(),
                             first_moment.size()));
  check_aligned("Adam::step", parameters);
  check_aligned("Adam::step", gradient);
  ++num_steps;
  const auto t = static_cast<double>(num_steps);
  nn::adam_step({.count = parameters.size(),
                 .beta1 = static_cast<float>(options.beta1),
                 .beta2 = static_cast<float>(options.beta2),
                 .step_size = static_cast<float>(options.learning_rate / (1.0 - std::pow(options.beta1, t))),
                 .second_scale = static_cast<float>(1.0 / (1.0 - std::pow(options.beta2, t))),
                 .epsilon = static_cast<float>(options.epsilon),
                 .gradient = gradient.data(),
                 .values = parameters.data(),
                 .first = first_moment.data(),
                 .second = second_moment.data()});
}

}  // namespace treesample
