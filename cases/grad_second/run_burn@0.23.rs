use crate::glue::{Answer, Tensors};
use crate::{at_rank, swept::Attributes};
use burn::tensor::Tensor;

pub fn stopped(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => first(t.float::<D>("x"), t.float("v"), |x| x.clone().detach() * x))
}

pub fn rounded(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => first(t.float::<D>("x"), t.float("v"), |x| {
        (x.clone() + (x.clone().round() - x).detach()).powf_scalar(2.0)
    }))
}

fn first<const D: usize>(x: Tensor<D>, v: Tensor<D>, f: impl Fn(Tensor<D>) -> Tensor<D>) -> Tensor<D> {
    let x = x.detach().require_grad();
    let grads = (f(x.clone()) * v).sum().backward();
    Tensor::from_inner(x.grad(&grads).unwrap())
}
