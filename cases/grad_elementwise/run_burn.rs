use crate::glue::{Answer, Any, Tensors};
use crate::swept::{axis, Attributes};
use crate::{at_rank, each_rank};
use burn::tensor::{activation, backend::Backend};

pub fn add<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("a") + t.float("b"))
}

pub fn sub<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("a") - t.float("b"))
}

pub fn mul<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("a") * t.float("b"))
}

pub fn div<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("a") / t.float("b"))
}

pub fn power<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("a").powf(t.float("b")))
}

pub fn power_number<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => match a["exponent"].as_i64() {
        Some(whole) => x.powi_scalar(whole),
        None => x.powf_scalar(number(a, "exponent")),
    })
}

pub fn remainder<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("a").remainder(t.float("b")))
}

pub fn fmod<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("a").fmod(t.float("b")))
}

pub fn maximum<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("a").max_pair(t.float("b")))
}

pub fn minimum<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("a").min_pair(t.float("b")))
}

pub fn clamp<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.clamp(number(a, "low"), number(a, "high")))
}

pub fn r#where<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("b").mask_where(t.mask("mask"), t.float("a")))
}

pub fn atan2<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("a").atan2(t.float("b")))
}

pub fn sigmoid<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => activation::sigmoid(x))
}

pub fn logsigmoid<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => activation::log_sigmoid(x))
}

pub fn softplus<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => activation::softplus(x, 1.0))
}

pub fn relu<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => activation::relu(x))
}

pub fn leaky_relu<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => activation::leaky_relu(x, number(a, "slope")))
}

pub fn prelu<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => activation::prelu(x, t.float("weight")))
}

pub fn elu<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => activation::elu(x, number(a, "alpha")))
}

pub fn celu<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => activation::celu(x, number(a, "alpha")))
}

pub fn selu<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => activation::selu(x))
}

pub fn gelu<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => activation::gelu(x))
}

pub fn gelu_tanh<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => activation::gelu_approximate(x))
}

pub fn silu<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => activation::silu(x))
}

pub fn mish<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => activation::mish(x))
}

pub fn softsign<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => activation::softsign(x))
}

pub fn softshrink<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => activation::soft_shrink(x, number(a, "threshold")))
}

pub fn hardshrink<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => activation::hard_shrink(x, number(a, "threshold")))
}

pub fn hardsigmoid<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => activation::hard_sigmoid(x, 1.0 / 6.0, 0.5))
}

pub fn hardswish<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => activation::hard_swish(x))
}

pub fn glu<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => {
        let along = axis(&a["axis"], x.dims().len());
        activation::glu(x, along)
    })
}

fn number(a: &Attributes, name: &str) -> f64 {
    a[name].as_f64().expect("a number")
}
