// The module _core: errors, and the parts.
#include "bindings.hpp"
#include "treesample/error.hpp"

namespace treesample::python {
namespace {

const char* code_word(ErrorCode code) {
  switch (code) {
    case ErrorCode::kArgument:
      return "argument";
    case ErrorCode::kParse:
      return "parse";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kWrite:
      return "write";
    case ErrorCode::kNumeric:
      return "numeric";
    case ErrorCode::kResource:
      return "resource";
    case ErrorCode::kInterrupted:
      return "interrupted";
    case ErrorCode::kInternal:
      break;
  }
  return "internal";
}

// Raises `type` with the message, and its code as an attribute.
void raise(const py::object& type, const std::string& message, ErrorCode code) {
  const py::object error = type(message);
  error.attr("code") = code_word(code);
  PyErr_SetObject(type.ptr(), error.ptr());
}

// Options are keywords here: "gap: ..." instead of "--gap: ...", "new_calls is ..." instead of "--new-calls is ...".
std::string as_keyword(const OptionError& error) {
  std::string name = error.option();
  for (char& c : name) c = c == '-' ? '_' : c;
  return name + (error.message().starts_with("is ") ? " " : ": ") + error.message();
}

void bind_errors(py::module_& module) {
  static py::object error_type, option_error_type;  // for the translator, which is a plain function
  error_type = py::exception<Error>(module, "Error", PyExc_RuntimeError);
  error_type.attr("__doc__") = "What the library refuses, or cannot do. `code` says of which kind it is.";
  const py::tuple bases = py::make_tuple(error_type, py::reinterpret_borrow<py::object>(PyExc_ValueError));
  option_error_type = py::reinterpret_steal<py::object>(PyErr_NewExceptionWithDoc(
      "treesample.OptionError", "A keyword of `infer` that is not allowed as it is.", bases.ptr(), nullptr));
  module.attr("OptionError") = option_error_type;
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const OptionError& error) {
      raise(option_error_type, as_keyword(error), error.code());
    } catch (const Error& error) {
      raise(error_type, error.what(), error.code());
    }
  });
}

}  // namespace

Rows::Rows(const States& states, int num_variables) : data_(states.data()) {
  if (states.ndim() != 2 || states.shape(1) != num_variables) {
    throw Error(ErrorCode::kArgument, "configurations are rows of one state per variable, of which there are " +
                                          std::to_string(num_variables));
  }
  size_ = static_cast<std::size_t>(states.shape(0));
  width_ = static_cast<std::size_t>(num_variables);
}

}  // namespace treesample::python

PYBIND11_MODULE(_core, module) {
  module.doc() = "The library behind the module treesample. Use that one.";
  module.attr("__version__") = TREESAMPLE_VERSION;
  treesample::python::bind_errors(module);
  treesample::python::bind_model(module);
  treesample::python::bind_infer(module);
  treesample::python::bind_paper(module);
  treesample::python::bind_train(module);
  treesample::python::bind_black_box(module);
  treesample::python::bind_program(module);
  treesample::python::bind_dag(module);
  treesample::python::bind_kept(module);
  treesample::python::bind_slices(module);
  treesample::python::bind_decisions(module);
  treesample::python::bind_formula(module);
}
