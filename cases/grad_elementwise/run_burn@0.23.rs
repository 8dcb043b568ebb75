use crate::glue::{Answer, Any, Tensors};
use crate::swept::Attributes;
use crate::{at_rank, each_rank};
use burn::tensor::activation;

pub fn add(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("a") + t.float("b"))
}

pub fn sub(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("a") - t.float("b"))
}

pub fn mul(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("a") * t.float("b"))
}

pub fn div(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("a") / t.float("b"))
}

pub fn power(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("a").powf(t.float("b")))
}

pub fn power_number(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => match a["exponent"].as_i64() {
        Some(whole) => x.powi_scalar(whole),
        None => x.powf_scalar(number(a, "exponent")),
    })
}

pub fn remainder(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("a").remainder(t.float("b")))
}

pub fn fmod(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("a").fmod(t.float("b")))
}

pub fn maximum(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("a").max_pair(t.float("b")))
}

pub fn minimum(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("a").min_pair(t.float("b")))
}

pub fn clamp(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.clamp(number(a, "low"), number(a, "high")))
}

pub fn r#where(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("b").mask_where(t.mask("mask"), t.float("a")))
}

pub fn atan2(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("a").atan2(t.float("b")))
}

pub fn sigmoid(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::sigmoid(x))
}

pub fn logsigmoid(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::log_sigmoid(x))
}

pub fn softplus(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::softplus(x, 1.0))
}

pub fn relu(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::relu(x))
}

pub fn leaky_relu(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::leaky_relu(x, number(a, "slope")))
}

pub fn prelu(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::prelu(x, t.float("weight")))
}

pub fn elu(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::elu(x, number(a, "alpha")))
}

pub fn celu(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::celu(x, number(a, "alpha")))
}

pub fn selu(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::selu(x))
}

pub fn gelu(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::gelu(x))
}

pub fn gelu_tanh(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::gelu_approximate(x))
}

pub fn silu(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::silu(x))
}

pub fn mish(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::mish(x))
}

pub fn softsign(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::softsign(x))
}

pub fn softshrink(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::soft_shrink(x, number(a, "threshold")))
}

pub fn hardshrink(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::hard_shrink(x, number(a, "threshold")))
}

pub fn hardsigmoid(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::hard_sigmoid(x, 1.0 / 6.0, 0.5))
}

pub fn hardswish(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::hard_swish(x))
}

pub fn glu(t: &Tensors, a: &Attributes) -> Any {
    let axis = a["axis"].as_i64().expect("an axis");
    each_rank!(t.any("x"), x => activation::glu(x, axis))
}

pub fn hypot(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("a").hypot(t.float("b")))
}

pub fn softplus_beta(t: &Tensors, a: &Attributes) -> Any {
    let (beta, threshold) = (number(a, "beta"), number(a, "threshold"));
    each_rank!(t.any("x"), x => activation::softplus_with_threshold(x, beta, threshold))
}

pub fn relu6(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::relu6(x))
}

pub fn tanhshrink(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::tanhshrink(x))
}

pub fn hardtanh(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::hardtanh(x, number(a, "low"), number(a, "high")))
}

fn number(a: &Attributes, name: &str) -> f64 {
    a[name].as_f64().expect("a number")
}
