// The parts of the module _core. Written in what pybind11 and nanobind share: functions, classes, NumPy arrays.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace treesample::python {

namespace py = pybind11;

using Doubles = py::array_t<double, py::array::c_style | py::array::forcecast>;
using States = py::array_t<std::int32_t, py::array::c_style | py::array::forcecast>;

void bind_model(py::module_& module);
void bind_infer(py::module_& module);
void bind_paper(py::module_& module);
void bind_train(py::module_& module);
void bind_black_box(py::module_& module);
void bind_program(py::module_& module);
void bind_dag(py::module_& module);
void bind_kept(py::module_& module);
void bind_slices(py::module_& module);
void bind_formula(py::module_& module);
void bind_decisions(py::module_& module);

// An array that owns the vector: nothing is copied.
template <class T>
py::array_t<T> to_array(std::vector<T>&& values, std::vector<py::ssize_t> shape) {
  auto* const owned = new std::vector<T>(std::move(values));
  const py::capsule owner(owned, [](void* pointer) { delete static_cast<std::vector<T>*>(pointer); });
  return py::array_t<T>(std::move(shape), owned->data(), owner);
}

// The rows of an array, of one state per variable. Keeps no reference to the array.
class Rows {
 public:
  // Throws unless it has that many columns.
  Rows(const States& states, int num_variables);
  [[nodiscard]] std::size_t size() const { return size_; }
  std::span<const int> operator[](std::size_t row) const { return {data_ + row * width_, width_}; }

 private:
  const int* data_ = nullptr;
  std::size_t size_ = 0, width_ = 0;
};

}  // namespace treesample::python
