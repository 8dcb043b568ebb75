use candle_core::{Result, Tensor};
use candle_nn::{
    ops, Conv1d, Conv1dConfig, Conv2d, Conv2dConfig, ConvTranspose1d, ConvTranspose1dConfig, ConvTranspose2d, ConvTranspose2dConfig, Module,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn conv1d(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    convolved_1d(t, a)
}

pub fn depthwise_conv1d(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    convolved_1d(t, a)
}

pub fn conv2d(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    convolved_2d(t, a)
}

pub fn conv1x1(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    convolved_2d(t, a)
}

pub fn conv2d_groups(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    convolved_2d(t, a)
}

pub fn depthwise_conv2d(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    convolved_2d(t, a)
}

pub fn conv_transpose1d(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let config = ConvTranspose1dConfig {
        padding: one(a, "padding")?,
        output_padding: one(a, "output_padding")?,
        stride: one(a, "stride")?,
        dilation: one(a, "dilation")?,
        groups: a["groups"].as_u64().expect("groups") as usize,
    };
    ConvTranspose1d::new(t["weight"].clone(), t.get("bias").cloned(), config).forward(&t["x"])
}

pub fn conv_transpose2d(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let config = ConvTranspose2dConfig {
        padding: one(a, "padding")?,
        output_padding: one(a, "output_padding")?,
        stride: one(a, "stride")?,
        dilation: one(a, "dilation")?,
    };
    ConvTranspose2d::new(t["weight"].clone(), t.get("bias").cloned(), config).forward(&t["x"])
}

pub fn max_pool2d(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].max_pool2d_with_stride(unpadded(a)?, pair(a, "stride"))
}

pub fn avg_pool2d(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].avg_pool2d_with_stride(unpadded(a)?, pair(a, "stride"))
}

pub fn global_avg_pool(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].mean((2, 3))
}

pub fn global_max_pool(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].flatten_from(2)?.max(2)
}

pub fn resize_nearest(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let (height, width) = pair(a, "size");
    t["x"].upsample_nearest2d(height, width)
}

pub fn resize_bilinear(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let (height, width) = pair(a, "size");
    t["x"].upsample_bilinear2d(height, width, false)
}

pub fn resize_bilinear_corners(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let (height, width) = pair(a, "size");
    t["x"].upsample_bilinear2d(height, width, true)
}

pub fn upsample_nearest(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    upsampled(&t["x"], a)
}

pub fn upsample_skip(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    Tensor::cat(&[upsampled(&t["x"], a)?.flatten_all()?, t["x"].flatten_all()?], 0)
}

pub fn pixel_shuffle(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    ops::pixel_shuffle(&t["x"], factor(a))
}

pub fn pixel_unshuffle(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    ops::pixel_unshuffle(&t["x"], factor(a))
}

fn convolved_1d(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let config = Conv1dConfig {
        padding: one(a, "padding")?,
        stride: one(a, "stride")?,
        dilation: one(a, "dilation")?,
        groups: a["groups"].as_u64().expect("groups") as usize,
        ..Default::default()
    };
    Conv1d::new(t["weight"].clone(), t.get("bias").cloned(), config).forward(&t["x"])
}

fn convolved_2d(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let config = Conv2dConfig {
        padding: one(a, "padding")?,
        stride: one(a, "stride")?,
        dilation: one(a, "dilation")?,
        groups: a["groups"].as_u64().expect("groups") as usize,
        ..Default::default()
    };
    Conv2d::new(t["weight"].clone(), t.get("bias").cloned(), config).forward(&t["x"])
}

fn upsampled(x: &Tensor, a: &Attributes) -> Result<Tensor> {
    let (_, _, height, width) = x.dims4()?;
    x.upsample_nearest2d(height * factor(a), width * factor(a))
}

fn factor(a: &Attributes) -> usize {
    a["factor"].as_u64().expect("a factor") as usize
}

fn sizes(a: &Attributes, name: &str) -> Vec<usize> {
    let sizes = a[name].as_array().expect("sizes");
    sizes.iter().map(|n| n.as_u64().expect("a size") as usize).collect()
}

fn pair(a: &Attributes, name: &str) -> (usize, usize) {
    (sizes(a, name)[0], sizes(a, name)[1])
}

/// A window's option has one size for all axes.
fn one(a: &Attributes, name: &str) -> Result<usize> {
    let all = sizes(a, name);
    if all.iter().any(|size| *size != all[0]) {
        candle_core::bail!("not offered: another {name} for each axis")
    }
    Ok(all[0])
}

/// The kernel of a pool, which pads nothing.
fn unpadded(a: &Attributes) -> Result<(usize, usize)> {
    if pair(a, "padding") != (0, 0) {
        candle_core::bail!("not offered: padding of a pool")
    }
    Ok(pair(a, "kernel"))
}
