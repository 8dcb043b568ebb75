use candle_core::{DType, Result, Tensor, D};
use candle_nn::{ops, Activation, Module, PReLU};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn add(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].broadcast_add(&t["b"])
}

pub fn sub(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].broadcast_sub(&t["b"])
}

pub fn mul(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].broadcast_mul(&t["b"])
}

pub fn div(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].broadcast_div(&t["b"])
}

pub fn power(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].broadcast_pow(&t["b"])
}

pub fn power_number(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].powf(number(a, "exponent"))
}

pub fn maximum(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].broadcast_maximum(&t["b"])
}

pub fn minimum(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].broadcast_minimum(&t["b"])
}

pub fn clamp(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].clamp(number(a, "low"), number(a, "high"))
}

pub fn clamp_between(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    let [x, low, high] = together([&t["x"], &t["low"], &t["high"]])?;
    x.clamp(&low, &high)
}

/// `where` is a keyword of Rust's.
pub fn r#where(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    let [mask, a, b] = together([&t["mask"], &t["a"], &t["b"]])?;
    mask.to_dtype(DType::U8)?.where_cond(&a, &b)
}

pub fn sigmoid(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    ops::sigmoid(&t["x"])
}

pub fn relu(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].relu()
}

pub fn relu6(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    Activation::Relu6.forward(&t["x"])
}

pub fn leaky_relu(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    ops::leaky_relu(&t["x"], number(a, "slope"))
}

pub fn prelu(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    PReLU::new(t["weight"].clone(), t["weight"].elem_count() == 1).forward(&t["x"])
}

pub fn elu(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].elu(number(a, "alpha"))
}

pub fn selu(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    ops::selu(&t["x"], 1.673_263_2, 1.050_701)
}

pub fn gelu(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].gelu_erf()
}

pub fn gelu_tanh(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].gelu()
}

pub fn silu(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].silu()
}

pub fn mish(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    ops::mish(&t["x"])
}

pub fn hardsigmoid(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    ops::hard_sigmoid(&t["x"])
}

pub fn hardswish(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    Activation::HardSwish.forward(&t["x"])
}

/// The two halves of the last axis: here of one that a stack makes.
pub fn swiglu(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    let [a, b] = together([&t["a"], &t["b"]])?;
    ops::swiglu(&Tensor::stack(&[a.clone(), b], a.rank())?)?.squeeze(D::Minus1)
}

fn number(a: &Attributes, name: &str) -> f64 {
    a[name].as_f64().expect("a number")
}

/// `where_cond` and `clamp` broadcast nothing by themselves.
fn together<const N: usize>(tensors: [&Tensor; N]) -> Result<[Tensor; N]> {
    let mut shape = tensors[0].shape().clone();
    for tensor in tensors {
        shape = shape.broadcast_shape_binary_op(tensor.shape(), "together")?;
    }
    let mut wide = tensors.map(Tensor::clone);
    for tensor in &mut wide {
        *tensor = tensor.broadcast_as(&shape)?;
    }
    Ok(wide)
}
