use crate::glue::{Answer, Tensors};
use crate::{at_rank, swept::Attributes};
use burn::backend::Autodiff;
use burn::nn::LayerNormConfig;
use burn::tensor::linalg::{vector_norm, Norm};
use burn::tensor::module::conv1d as convolved;
use burn::tensor::ops::ConvOptions;
use burn::tensor::{activation, backend::AutodiffBackend, backend::Backend, Tensor};

pub fn softmax<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => gradient(t.float::<D>("x"), t.float("v"), |x| activation::softmax(x, D - 1)))
}

pub fn log_softmax<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => gradient(t.float::<D>("x"), t.float("v"), |x| activation::log_softmax(x, D - 1)))
}

pub fn layer_norm<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    let size = *t.dims("x").last().unwrap();
    at_rank!(t.rank(), D => gradient(t.float::<D>("x"), t.float("v"), |x| {
        LayerNormConfig::new(size).init(&x.device()).forward(x)
    }))
}

pub fn norm<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => gradient(t.float::<D>("x"), t.float("v"), |x| vector_norm(x, Norm::L2, D - 1)))
}

pub fn variance<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => gradient(t.float::<D>("x"), t.float("v"), |x| x.var_bias(D - 1)))
}

pub fn gelu<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => gradient(t.float::<D>("x"), t.float("v"), |x| activation::gelu(x)))
}

pub fn tanh<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => gradient(t.float::<D>("x"), t.float("v"), |x| x.tanh()))
}

pub fn silu<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => gradient(t.float::<D>("x"), t.float("v"), |x| activation::silu(x)))
}

pub fn softplus<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => gradient(t.float::<D>("x"), t.float("v"), |x| activation::softplus(x, 1.0)))
}

pub fn exp<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => gradient(t.float::<D>("x"), t.float("v"), |x| x.exp()))
}

pub fn sqrt<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => gradient(t.float::<D>("x"), t.float("v"), |x| x.sqrt()))
}

pub fn divide<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => gradient(t.float::<D>("w"), t.float("v"), |w| {
        Tensor::from_inner(t.float::<D>("x")) / w
    }))
}

pub fn matmul<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => gradient(t.float::<D>("x"), t.float("v"), |x| {
        x.matmul(Tensor::from_inner(t.float::<D>("w")))
    }))
}

pub fn cumsum<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => gradient(t.float::<D>("x"), t.float("v"), |x| x.cumsum(D - 1).powf_scalar(2.0)))
}

pub fn conv1d<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Tensor<B, 3> {
    let options = ConvOptions::new([1], [0], [1], 1);
    gradient(t.float("x"), t.float("v"), |x| {
        convolved(
            x,
            Tensor::from_inner(t.float::<3>("w")),
            None,
            options.clone(),
        )
    })
}

pub fn stopped<B: AutodiffBackend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => first(t.float::<D>("x"), t.float("v"), |x| x.clone().detach() * x))
}

pub fn rounded<B: AutodiffBackend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => first(t.float::<D>("x"), t.float("v"), |x| {
        (x.clone() + (x.clone().round() - x).detach()).powf_scalar(2.0)
    }))
}

/// On a backend that is differentiated once more.
fn gradient<B: Backend, const D: usize>(
    x: Tensor<B, D>,
    v: Tensor<B, D>,
    f: impl Fn(Tensor<Autodiff<B>, D>) -> Tensor<Autodiff<B>, D>,
) -> Tensor<B, D> {
    let x = Tensor::<Autodiff<B>, D>::from_inner(x).require_grad();
    let grads = (f(x.clone()) * Tensor::from_inner(v)).sum().backward();
    x.grad(&grads).unwrap()
}

fn first<B: AutodiffBackend, const D: usize>(
    x: Tensor<B, D>,
    v: Tensor<B, D>,
    f: impl Fn(Tensor<B, D>) -> Tensor<B, D>,
) -> Tensor<B, D> {
    let x = x.detach().require_grad();
    let grads = (f(x.clone()) * v).sum().backward();
    Tensor::from_inner(x.grad(&grads).unwrap())
}
