#include "infer/call_methods.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace treesample {
namespace {

// Written once, before main() begins.
std::optional<CallMethods>& linked() {
  static std::optional<CallMethods> methods;
  return methods;
}

}  // namespace

const CallMethods* call_methods() { return linked() ? &*linked() : nullptr; }
void link_call_methods(const CallMethods& methods) { linked() = methods; }

const CallMethods& call_methods_for(std::string_view option) {
  if (!linked()) throw OptionError(std::string(option), "needs the library treesample-calls, which is not linked");
  return *linked();
}

void run_learned(Findings& found, const Task& task, const PhaseClock& clock) {
  call_methods_for("method").run_learned(found, task, clock);
}
void run_monotone(Findings& found, const Task& task, const PhaseClock& clock) {
  call_methods_for("method").run_monotone(found, task, clock);
}

bool wants_learning(const FactorGraph& graph, std::int64_t calls, std::string& why) {
  return call_methods() != nullptr && call_methods()->wants_learning(graph, calls, why);
}

bool wants_boxes(const FactorGraph& graph, std::string& why) {
  return call_methods() != nullptr && call_methods()->wants_boxes(graph, why);
}

}  // namespace treesample
