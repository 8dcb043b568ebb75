use crate::glue::Tensors;
use crate::swept::{sizes, Attributes};
use burn::module::{Param, ParamId};
use burn::nn::conv::Conv2dConfig;
use burn::nn::interpolate::{Interpolate1dConfig, Interpolate2dConfig, InterpolateMode as Resize};
use burn::nn::PaddingConfig2d;
use burn::nn::{PixelShuffleConfig, PixelUnshuffleConfig};
use burn::tensor::module as ops;
use burn::tensor::ops::{AvgPoolOptions, MaxPoolOptions, UnfoldOptions};
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions, InterpolateMode, InterpolateOptions};
use burn::tensor::Tensor;
use serde_json::Value;

pub fn conv1d(t: &Tensors, a: &Attributes) -> Tensor<3> {
    ops::conv1d(t.float("x"), t.float("weight"), bias(t), convolution(a))
}

pub fn conv2d(t: &Tensors, a: &Attributes) -> Tensor<4> {
    ops::conv2d(t.float("x"), t.float("weight"), bias(t), convolution(a))
}

pub fn conv3d(t: &Tensors, a: &Attributes) -> Tensor<5> {
    ops::conv3d(t.float("x"), t.float("weight"), bias(t), convolution(a))
}

pub fn conv1x1(t: &Tensors, a: &Attributes) -> Tensor<4> {
    ops::conv2d(t.float("x"), t.float("weight"), bias(t), convolution(a))
}

pub fn conv2d_groups(t: &Tensors, a: &Attributes) -> Tensor<4> {
    ops::conv2d(t.float("x"), t.float("weight"), bias(t), convolution(a))
}

pub fn depthwise_conv1d(t: &Tensors, a: &Attributes) -> Tensor<3> {
    ops::conv1d(t.float("x"), t.float("weight"), bias(t), convolution(a))
}

pub fn depthwise_conv2d(t: &Tensors, a: &Attributes) -> Tensor<4> {
    ops::conv2d(t.float("x"), t.float("weight"), bias(t), convolution(a))
}

pub fn conv2d_same(t: &Tensors, a: &Attributes) -> Tensor<4> {
    let [outside, inside, height, width] = t.float::<4>("weight").dims();
    let mut layer = Conv2dConfig::new([inside, outside], [height, width])
        .with_dilation(sizes(&a["dilation"]))
        .with_padding(PaddingConfig2d::Same)
        .with_bias(false)
        .init(&t.device);
    layer.weight = Param::initialized(ParamId::new(), t.float("weight"));
    layer.forward(t.float("x"))
}

pub fn conv_transpose1d(t: &Tensors, a: &Attributes) -> Tensor<3> {
    ops::conv_transpose1d(t.float("x"), t.float("weight"), bias(t), transposed(a))
}

pub fn conv_transpose2d(t: &Tensors, a: &Attributes) -> Tensor<4> {
    ops::conv_transpose2d(t.float("x"), t.float("weight"), bias(t), transposed(a))
}

pub fn conv_transpose3d(t: &Tensors, a: &Attributes) -> Tensor<5> {
    ops::conv_transpose3d(t.float("x"), t.float("weight"), bias(t), transposed(a))
}

pub fn conv_transpose2d_groups(t: &Tensors, a: &Attributes) -> Tensor<4> {
    ops::conv_transpose2d(t.float("x"), t.float("weight"), bias(t), transposed(a))
}

pub fn max_pool1d(t: &Tensors, a: &Attributes) -> Tensor<3> {
    ops::max_pool1d(t.float("x"), max_window(a))
}

pub fn max_pool2d(t: &Tensors, a: &Attributes) -> Tensor<4> {
    ops::max_pool2d(t.float("x"), max_window(a))
}

pub fn max_pool2d_dilated(t: &Tensors, a: &Attributes) -> Tensor<4> {
    ops::max_pool2d(t.float("x"), max_window(a).with_dilation(sizes(&a["dilation"])))
}

pub fn max_pool2d_ceil(t: &Tensors, a: &Attributes) -> Tensor<4> {
    ops::max_pool2d(t.float("x"), max_window(a).with_ceil_mode(true))
}

pub fn avg_pool1d(t: &Tensors, a: &Attributes) -> Tensor<3> {
    ops::avg_pool1d(t.float("x"), avg_window(a))
}

pub fn avg_pool2d(t: &Tensors, a: &Attributes) -> Tensor<4> {
    ops::avg_pool2d(t.float("x"), avg_window(a))
}

pub fn avg_pool2d_exclude(t: &Tensors, a: &Attributes) -> Tensor<4> {
    ops::avg_pool2d(t.float("x"), avg_window(a).with_count_include_pad(false))
}

pub fn avg_pool2d_ceil(t: &Tensors, a: &Attributes) -> Tensor<4> {
    ops::avg_pool2d(t.float("x"), avg_window(a).with_ceil_mode(true))
}

pub fn adaptive_avg_pool1d(t: &Tensors, a: &Attributes) -> Tensor<3> {
    let [size] = sizes(&a["size"]);
    ops::adaptive_avg_pool1d(t.float("x"), size)
}

pub fn adaptive_avg_pool2d(t: &Tensors, a: &Attributes) -> Tensor<4> {
    ops::adaptive_avg_pool2d(t.float("x"), sizes(&a["size"]))
}

pub fn global_avg_pool(t: &Tensors, _: &Attributes) -> Tensor<4> {
    ops::adaptive_avg_pool2d(t.float("x"), [1, 1])
}

pub fn resize_nearest(t: &Tensors, a: &Attributes) -> Tensor<4> {
    resized(t, a, InterpolateOptions::new(InterpolateMode::Nearest))
}

pub fn resize_linear(t: &Tensors, a: &Attributes) -> Tensor<3> {
    let [size] = sizes(&a["size"]);
    Interpolate1dConfig::new().with_output_size(Some(size)).with_mode(Resize::Linear).with_align_corners(false).init().forward(t.float("x"))
}

pub fn resize_bilinear(t: &Tensors, a: &Attributes) -> Tensor<4> {
    let options = InterpolateOptions::new(InterpolateMode::Bilinear);
    resized(t, a, options.with_align_corners(false))
}

pub fn resize_bilinear_corners(t: &Tensors, a: &Attributes) -> Tensor<4> {
    resized(t, a, InterpolateOptions::new(InterpolateMode::Bilinear))
}

pub fn resize_bicubic(t: &Tensors, a: &Attributes) -> Tensor<4> {
    let options = InterpolateOptions::new(InterpolateMode::Bicubic);
    resized(t, a, options.with_align_corners(a["corners"] == true))
}

pub fn upsample_nearest(t: &Tensors, a: &Attributes) -> Tensor<4> {
    let factor = a["factor"].as_u64().unwrap() as f32;
    Interpolate2dConfig::new().with_scale_factor(Some([factor, factor])).init().forward(t.float("x"))
}

pub fn upsample_skip(t: &Tensors, a: &Attributes) -> Tensor<1> {
    let factor = a["factor"].as_u64().unwrap() as f32;
    let layer = Interpolate2dConfig::new().with_scale_factor(Some([factor, factor])).init();
    let x = t.float::<4>("x");
    let y = layer.forward(x.clone());
    Tensor::cat(vec![y.flatten::<1>(0, 3), x.flatten(0, 3)], 0)
}

pub fn unfold(t: &Tensors, a: &Attributes) -> Tensor<3> {
    ops::unfold4d(t.float("x"), sizes(&a["kernel"]), patches(a))
}

pub fn local_response_norm(t: &Tensors, a: &Attributes) -> Tensor<4> {
    burn::nn::LocalResponseNormConfig::new(number(&a["size"]) as usize)
        .with_alpha(number(&a["alpha"]))
        .with_beta(number(&a["beta"]))
        .with_k(number(&a["k"]))
        .init()
        .forward(t.float("x"))
}

pub fn local_response_norm_even(t: &Tensors, a: &Attributes) -> Tensor<4> {
    burn::nn::LocalResponseNormConfig::new(number(&a["size"]) as usize)
        .with_alpha(number(&a["alpha"]))
        .with_beta(number(&a["beta"]))
        .with_k(number(&a["k"]))
        .init()
        .forward(t.float("x"))
}

pub fn max_pool3d(t: &Tensors, a: &Attributes) -> Tensor<5> {
    ops::max_pool3d(t.float("x"), max_window(a))
}

pub fn avg_pool3d(t: &Tensors, a: &Attributes) -> Tensor<5> {
    ops::avg_pool3d(t.float("x"), avg_window(a))
}

pub fn resize_nearest_exact(t: &Tensors, a: &Attributes) -> Tensor<4> {
    resized(t, a, InterpolateOptions::new(InterpolateMode::NearestExact))
}

pub fn pixel_shuffle(t: &Tensors, a: &Attributes) -> Tensor<4> {
    let factor = a["factor"].as_u64().unwrap() as usize;
    PixelShuffleConfig::new(factor).init().forward(t.float("x"))
}

pub fn pixel_unshuffle(t: &Tensors, a: &Attributes) -> Tensor<4> {
    let factor = a["factor"].as_u64().unwrap() as usize;
    PixelUnshuffleConfig::new(factor).init().forward(t.float("x"))
}

pub fn fold(t: &Tensors, a: &Attributes) -> Tensor<4> {
    ops::fold4d(t.float("x"), sizes(&a["size"]), sizes(&a["kernel"]), patches(a))
}

fn bias(t: &Tensors) -> Option<Tensor<1>> {
    t.has("bias").then(|| t.float("bias"))
}

fn convolution<const N: usize>(a: &Attributes) -> ConvOptions<N> {
    let (stride, padding, dilation) = (sizes(&a["stride"]), sizes(&a["padding"]), sizes(&a["dilation"]));
    ConvOptions::new(stride, padding, dilation, number(&a["groups"]) as usize)
}

fn transposed<const N: usize>(a: &Attributes) -> ConvTransposeOptions<N> {
    let (stride, padding, dilation) = (sizes(&a["stride"]), sizes(&a["padding"]), sizes(&a["dilation"]));
    let groups = number(&a["groups"]) as usize;
    ConvTransposeOptions::new(stride, padding, sizes(&a["output_padding"]), dilation, groups)
}

fn patches(a: &Attributes) -> UnfoldOptions {
    UnfoldOptions::new(sizes(&a["stride"]), sizes(&a["padding"]), sizes(&a["dilation"]))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn max_window<const N: usize>(a: &Attributes) -> MaxPoolOptions<N> {
    MaxPoolOptions::new(sizes(&a["kernel"])).with_stride(sizes(&a["stride"])).with_padding(sizes(&a["padding"]))
}

fn avg_window<const N: usize>(a: &Attributes) -> AvgPoolOptions<N> {
    AvgPoolOptions::new(sizes(&a["kernel"])).with_stride(sizes(&a["stride"])).with_padding(sizes(&a["padding"]))
}

fn resized(t: &Tensors, a: &Attributes, options: InterpolateOptions) -> Tensor<4> {
    ops::interpolate(t.float("x"), options.with_output_size(sizes(&a["size"])))
}
