use crate::glue::Tensors;
use crate::swept::{sizes, Attributes};
use burn::module::{Param, ParamId};
use burn::nn::conv::Conv2dConfig;
use burn::nn::interpolate::{Interpolate1dConfig, Interpolate2dConfig, InterpolateMode as Resize};
use burn::nn::PaddingConfig2d;
use burn::tensor::module as ops;
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions, UnfoldOptions};
use burn::tensor::ops::{InterpolateMode, InterpolateOptions};
use burn::tensor::{backend::Backend, Tensor};
use serde_json::Value;

pub fn conv1d<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 3> {
    ops::conv1d(t.float("x"), t.float("weight"), bias(t), convolution(a))
}

pub fn conv2d<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    ops::conv2d(t.float("x"), t.float("weight"), bias(t), convolution(a))
}

pub fn conv3d<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 5> {
    ops::conv3d(t.float("x"), t.float("weight"), bias(t), convolution(a))
}

pub fn conv1x1<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    ops::conv2d(t.float("x"), t.float("weight"), bias(t), convolution(a))
}

pub fn conv2d_groups<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    ops::conv2d(t.float("x"), t.float("weight"), bias(t), convolution(a))
}

pub fn depthwise_conv1d<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 3> {
    ops::conv1d(t.float("x"), t.float("weight"), bias(t), convolution(a))
}

pub fn depthwise_conv2d<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    ops::conv2d(t.float("x"), t.float("weight"), bias(t), convolution(a))
}

pub fn conv2d_same<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    let [outside, inside, height, width] = t.float::<4>("weight").dims();
    let mut layer = Conv2dConfig::new([inside, outside], [height, width])
        .with_dilation(sizes(&a["dilation"]))
        .with_padding(PaddingConfig2d::Same)
        .with_bias(false)
        .init(&t.device);
    layer.weight = Param::initialized(ParamId::new(), t.float("weight"));
    layer.forward(t.float("x"))
}

pub fn conv_transpose1d<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 3> {
    ops::conv_transpose1d(t.float("x"), t.float("weight"), bias(t), transposed(a))
}

pub fn conv_transpose2d<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    ops::conv_transpose2d(t.float("x"), t.float("weight"), bias(t), transposed(a))
}

pub fn conv_transpose3d<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 5> {
    ops::conv_transpose3d(t.float("x"), t.float("weight"), bias(t), transposed(a))
}

pub fn conv_transpose2d_groups<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    ops::conv_transpose2d(t.float("x"), t.float("weight"), bias(t), transposed(a))
}

pub fn max_pool1d<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 3> {
    let ([kernel], [stride], [padding]) = window(a);
    ops::max_pool1d(t.float("x"), kernel, stride, padding, 1, false)
}

pub fn max_pool2d<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    let (kernel, stride, padding) = window(a);
    ops::max_pool2d(t.float("x"), kernel, stride, padding, [1, 1], false)
}

pub fn max_pool2d_dilated<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    let (kernel, stride, padding) = window(a);
    let dilation = sizes(&a["dilation"]);
    ops::max_pool2d(t.float("x"), kernel, stride, padding, dilation, false)
}

pub fn max_pool2d_ceil<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    let (kernel, stride, padding) = window(a);
    ops::max_pool2d(t.float("x"), kernel, stride, padding, [1, 1], true)
}

pub fn avg_pool1d<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 3> {
    let ([kernel], [stride], [padding]) = window(a);
    ops::avg_pool1d(t.float("x"), kernel, stride, padding, true, false)
}

pub fn avg_pool2d<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    let (kernel, stride, padding) = window(a);
    ops::avg_pool2d(t.float("x"), kernel, stride, padding, true, false)
}

pub fn avg_pool2d_exclude<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    let (kernel, stride, padding) = window(a);
    ops::avg_pool2d(t.float("x"), kernel, stride, padding, false, false)
}

pub fn avg_pool2d_ceil<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    let (kernel, stride, padding) = window(a);
    ops::avg_pool2d(t.float("x"), kernel, stride, padding, true, true)
}

pub fn adaptive_avg_pool1d<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 3> {
    let [size] = sizes(&a["size"]);
    ops::adaptive_avg_pool1d(t.float("x"), size)
}

pub fn adaptive_avg_pool2d<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    ops::adaptive_avg_pool2d(t.float("x"), sizes(&a["size"]))
}

pub fn global_avg_pool<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Tensor<B, 4> {
    ops::adaptive_avg_pool2d(t.float("x"), [1, 1])
}

pub fn resize_nearest<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    let options = InterpolateOptions::new(InterpolateMode::Nearest);
    ops::interpolate(t.float("x"), sizes(&a["size"]), options)
}

pub fn resize_linear<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 3> {
    let [size] = sizes(&a["size"]);
    Interpolate1dConfig::new().with_output_size(Some(size)).with_mode(Resize::Linear).with_align_corners(false).init().forward(t.float("x"))
}

pub fn resize_bilinear<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    let options = InterpolateOptions::new(InterpolateMode::Bilinear).with_align_corners(false);
    ops::interpolate(t.float("x"), sizes(&a["size"]), options)
}

pub fn resize_bilinear_corners<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    let options = InterpolateOptions::new(InterpolateMode::Bilinear);
    ops::interpolate(t.float("x"), sizes(&a["size"]), options)
}

pub fn resize_bicubic<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    let corners = a["corners"].as_bool().unwrap();
    let options = InterpolateOptions::new(InterpolateMode::Bicubic).with_align_corners(corners);
    ops::interpolate(t.float("x"), sizes(&a["size"]), options)
}

pub fn upsample_nearest<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    let factor = a["factor"].as_u64().unwrap() as f32;
    Interpolate2dConfig::new().with_scale_factor(Some([factor, factor])).init().forward(t.float("x"))
}

pub fn upsample_skip<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 1> {
    let factor = a["factor"].as_u64().unwrap() as f32;
    let layer = Interpolate2dConfig::new().with_scale_factor(Some([factor, factor])).init();
    let x = t.float::<4>("x");
    let y = layer.forward(x.clone());
    Tensor::cat(vec![y.flatten::<1>(0, 3), x.flatten(0, 3)], 0)
}

pub fn unfold<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 3> {
    ops::unfold4d(t.float("x"), sizes(&a["kernel"]), patches(a))
}

pub fn local_response_norm<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    burn::nn::LocalResponseNormConfig::new(number(&a["size"]) as usize)
        .with_alpha(number(&a["alpha"]))
        .with_beta(number(&a["beta"]))
        .with_k(number(&a["k"]))
        .init()
        .forward(t.float("x"))
}

pub fn local_response_norm_even<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    burn::nn::LocalResponseNormConfig::new(number(&a["size"]) as usize)
        .with_alpha(number(&a["alpha"]))
        .with_beta(number(&a["beta"]))
        .with_k(number(&a["k"]))
        .init()
        .forward(t.float("x"))
}

fn bias<B: Backend>(t: &Tensors<B>) -> Option<Tensor<B, 1>> {
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

fn window<const N: usize>(a: &Attributes) -> ([usize; N], [usize; N], [usize; N]) {
    (sizes(&a["kernel"]), sizes(&a["stride"]), sizes(&a["padding"]))
}

fn patches(a: &Attributes) -> UnfoldOptions {
    UnfoldOptions::new(sizes(&a["stride"]), sizes(&a["padding"]), sizes(&a["dilation"]))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}
