use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor, Var, D};
use candle_nn::ops;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn softmax(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    gradient(t, "x", |x| ops::softmax(x, D::Minus1))
}

pub fn log_softmax(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    gradient(t, "x", |x| ops::log_softmax(x, D::Minus1))
}

pub fn logsumexp(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    gradient(t, "x", |x| x.log_sum_exp(D::Minus1)?.unsqueeze(D::Minus1))
}

pub fn gelu(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    gradient(t, "x", |x| x.gelu_erf())
}

pub fn tanh(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    gradient(t, "x", |x| x.tanh())
}

pub fn silu(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    gradient(t, "x", |x| x.silu())
}

pub fn exp(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    gradient(t, "x", |x| x.exp())
}

pub fn sqrt(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    gradient(t, "x", |x| x.sqrt())
}

pub fn cumsum(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    gradient(t, "x", |x| x.cumsum(D::Minus1)?.sqr())
}

pub fn divide(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    gradient(t, "w", |w| &t["x"] / w)
}

pub fn matmul(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    gradient(t, "x", |x| x.matmul(&t["w"]))
}

pub fn conv1d(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    gradient(t, "x", |x| x.conv1d(&t["w"], 0, 1, 1, 1))
}

pub fn stopped(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    first(t, |x| x.detach() * x)
}

pub fn rounded(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    first(t, |x| (x + (x.round()? - x)?.detach())?.sqr())
}

pub fn reversed(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    first(t, |x| x.apply_op1(Reverse)?.sqr())
}

/// The store keeps the gradients of variables only.
fn gradient(t: &Tensors, of: &str, f: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    if !t[of].is_variable() {
        candle_core::bail!("not offered: the gradient of a tensor that is no variable")
    }
    let grads = (f(&t[of])? * &t["v"])?.sum_all()?.backward()?;
    Ok(grads.get(&t[of]).expect("a gradient").clone())
}

fn first(t: &Tensors, f: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let x = Var::from_tensor(&t["x"].detach())?;
    let grads = (f(&x)? * &t["v"])?.sum_all()?.backward()?;
    Ok(grads.get(&x).expect("a gradient").clone())
}

/// An identity whose own backward turns the sign and halves it.
struct Reverse;

impl CustomOp1 for Reverse {
    fn name(&self) -> &'static str {
        "reverse"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        Ok((storage.clone(), layout.shape().clone()))
    }

    fn bwd(&self, _: &Tensor, _: &Tensor, grad: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some((grad * -0.5)?))
    }
}
