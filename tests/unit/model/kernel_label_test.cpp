#include "src/model/kernel_label.hpp"

#include <gtest/gtest.h>

namespace deepjit::model {
namespace {

TEST(KernelLabel, aten_kernels_are_named_by_the_op_in_their_functor) {
    EXPECT_EQ(
        kernel_label(
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
            "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"),
        "add");
    EXPECT_EQ(kernel_label(
                  "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, float, "
                  "float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul> >(int, "
                  "at::native::AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor"
                  "<float> >, std::array<char*, 2ul>)"),
              "Mul");
    EXPECT_EQ(kernel_label(
                  "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::"
                  "launch_clamp_scalar(at::TensorIteratorBase&, c10::Scalar, c10::Scalar, "
                  "at::native::detail::ClampLimits)::{lambda()#1}::operator()() const::{lambda()#7}::operator"
                  "()() const::{lambda(float)#1}, std::array<char*, 2ul> >(int, at::native::(anonymous "
                  "namespace)::launch_clamp_scalar(at::TensorIteratorBase&, c10::Scalar, c10::Scalar, "
                  "at::native::detail::ClampLimits)::{lambda()#1}::operator()() const::{lambda()#7}::operator"
                  "()() const::{lambda(float)#1}, std::array<char*, 2ul>)"),
              "clamp_scalar");
}

TEST(KernelLabel, other_kernels_are_named_by_their_function) {
    EXPECT_EQ(kernel_label("scale_and_shift(float const*, float*, float, float, int)"), "scale_and_shift");
    EXPECT_EQ(kernel_label("my_kernel"), "my_kernel");
}

TEST(KernelLabel, runs_of_equal_labels_are_counted) {
    EXPECT_EQ(join_labels({"add", "relu", "relu", "mul"}), "add, relu x 2, mul");
    EXPECT_EQ(join_labels({}), "");
}

} // namespace
} // namespace deepjit::model
