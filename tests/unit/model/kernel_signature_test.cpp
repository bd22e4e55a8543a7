#include "src/model/kernel_signature.hpp"

#include <gmock/gmock.h>

namespace deepjit::model {
namespace {

using testing::ElementsAre;

const std::string kSigmoid =
    "void at::native::vectorized_elementwise_kernel<4, at::native::sigmoid_kernel_cuda(at::TensorIteratorBase&)"
    "::{lambda()#2}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}, "
    "std::array<char*, 2ul> >(int, at::native::sigmoid_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}"
    "::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul>)";
const std::string kMul =
    "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, float, float, "
    "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul> >(int, "
    "at::native::AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >, "
    "std::array<char*, 2ul>)";
const std::string kHalfCopy =
    "void at::native::vectorized_elementwise_kernel<8, at::native::float16_copy_kernel_cuda("
    "at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul> >(int, "
    "at::native::float16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul>)";
const std::string kStridedAdd =
    "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<"
    "at::native::CUDAFunctor_add<float> >(at::TensorIteratorBase&, at::native::CUDAFunctor_add<float> const&)"
    "::{lambda(int)#1}>(int, at::native::gpu_kernel_impl_nocast<at::native::CUDAFunctor_add<float> >("
    "at::TensorIteratorBase&, at::native::CUDAFunctor_add<float> const&)::{lambda(int)#1})";
const std::string kCat =
    "void at::native::(anonymous namespace)::CatArrayBatchedCopy_vectorized<at::native::(anonymous namespace)"
    "::OpaqueType<4u>, unsigned int, 2, 128, 1, 16, 4>(char*, at::native::(anonymous namespace)::"
    "CatArrInputTensorMetadata<at::native::(anonymous namespace)::OpaqueType<4u>, unsigned int, 128, 1>, "
    "at::native::(anonymous namespace)::TensorSizeStride<unsigned int, 4u>, int, unsigned int)";

TEST(KernelSignature, a_plain_function_gives_its_parameter_types) {
    const auto signature = parse_kernel_signature("scale(float const*, float*, float, int)");
    EXPECT_EQ(signature.base_name, "scale");
    EXPECT_TRUE(signature.has_parameters);
    EXPECT_THAT(signature.parameters, ElementsAre("float const*", "float*", "float", "int"));
}

TEST(KernelSignature, a_c_name_tells_nothing_about_parameters) {
    const auto signature = parse_kernel_signature("triton_poi_fused_add_0");
    EXPECT_EQ(signature.base_name, "triton_poi_fused_add_0");
    EXPECT_FALSE(signature.has_parameters);
}

TEST(KernelSignature, brackets_inside_template_arguments_do_not_end_the_name) {
    const auto signature = parse_kernel_signature(kSigmoid);
    EXPECT_EQ(signature.qualified_name, "at::native::vectorized_elementwise_kernel");
    EXPECT_EQ(signature.template_arguments.size(), 3U);
    EXPECT_EQ(signature.parameters.size(), 3U);
    EXPECT_EQ(signature.parameters[2], "std::array<char*, 2ul>");
}

TEST(KernelSignature, an_unnamed_namespace_is_no_parameter_list) {
    const auto signature = parse_kernel_signature(kCat);
    EXPECT_EQ(signature.base_name, "CatArrayBatchedCopy_vectorized");
    EXPECT_EQ(signature.parameters.front(), "char*");
    EXPECT_FALSE(parse_kernel_signature("(anonymous namespace)").has_parameters);
}

TEST(KernelSignature, broken_names_do_no_harm) {
    for (const char* name :
         {"", ")", "(", ">", "<", "f(", "f)", "a>(b", "void f<>>()", "}{", "[clone]", "f()[clone"})
        EXPECT_EQ(parse_aten_elementwise(parse_kernel_signature(name)).layout, AtenLayout::None) << name;
    const std::string deep(8192, '<');
    EXPECT_EQ(parse_kernel_signature(deep).parameters.size(), 0U);
}

TEST(PointerTypes, const_on_either_side_of_the_type_is_seen) {
    EXPECT_TRUE(is_pointer_to_const("float const*"));
    EXPECT_TRUE(is_pointer_to_const("const float*"));
    EXPECT_TRUE(is_pointer_to_const("float const* __restrict__"));
    EXPECT_FALSE(is_pointer_to_const("float* const"));
    EXPECT_FALSE(is_pointer_to_const("float*"));
    EXPECT_FALSE(is_pointer_to_const("float const**"));
    EXPECT_TRUE(is_pointer_type("float* const"));
    EXPECT_FALSE(is_pointer_type("std::array<char*, 2ul>"));
    EXPECT_EQ(pointee_type("c10::Half const*"), "c10::Half");
    EXPECT_EQ(size_of_type("c10::Half"), 2U);
    EXPECT_FALSE(size_of_type("at::native::Unheard"));
}

TEST(AtenElementwise, the_functor_tells_the_element_types_output_first) {
    const auto mul = parse_aten_elementwise(parse_kernel_signature(kMul));
    EXPECT_EQ(mul.layout, AtenLayout::Vectorized);
    EXPECT_EQ(mul.pointer_count, 2U);
    EXPECT_THAT(mul.element_types, ElementsAre("float", "float"));
    EXPECT_THAT(parse_aten_elementwise(parse_kernel_signature(kSigmoid)).element_types,
                ElementsAre("float", "float"));
    EXPECT_THAT(parse_aten_elementwise(parse_kernel_signature(kHalfCopy)).element_types,
                ElementsAre("c10::Half", "float"));
}

TEST(AtenElementwise, a_closure_tells_neither_count_nor_types) {
    const auto add = parse_aten_elementwise(parse_kernel_signature(kStridedAdd));
    EXPECT_EQ(add.layout, AtenLayout::Closure);
    EXPECT_EQ(add.pointer_count, 0U);
    EXPECT_TRUE(add.element_types.empty());
    EXPECT_EQ(parse_aten_elementwise(parse_kernel_signature(kCat)).layout, AtenLayout::None);
}

TEST(LibraryKernels, gemm_convolution_and_attention_end_a_chain_but_conversions_do_not) {
    EXPECT_TRUE(is_library_kernel("void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm>(int)"));
    EXPECT_TRUE(is_library_kernel("sm90_xmma_fprop_implicit_gemm"));
    EXPECT_TRUE(is_library_kernel("void flash_fwd_kernel<Traits>(Params)"));
    EXPECT_TRUE(is_library_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)"));
    EXPECT_TRUE(is_library_kernel("conv2d_nhwc(float const*, float*)"));
    EXPECT_FALSE(is_library_kernel("convert_to_half(float const*, __half*)"));
    EXPECT_FALSE(is_library_kernel(kMul));
}

} // namespace
} // namespace deepjit::model
