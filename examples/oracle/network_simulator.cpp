// A program that computes a factor, for model_cpp.json. It speaks the protocol of docs/model_file.md
// itself: one JSON object per line, each answer flushed.
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "network.hpp"

int main() {
  using nlohmann::json;
  std::string line;
  std::getline(std::cin, line);  // describes our factors; this program has only one and knows its scope
  std::cout << json{{"ready", true}} << std::endl;
  while (std::getline(std::cin, line)) {
    const json request = json::parse(line);
    json values = json::array();
    for (const json& states : request["assignments"]) {
      const double value = network::log_likelihood(states.get<std::vector<int>>());
      values.push_back(std::isinf(value) ? json("-inf") : json(value));
    }
    std::cout << json{{"id", request["id"]}, {"log_values", values}} << std::endl;
  }
}
