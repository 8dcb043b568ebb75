use crate::each_rank;
use crate::glue::{Any, Tensors};
use crate::swept::Attributes;
use burn::tensor::backend::Backend;

pub fn square<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.square())
}

pub fn reciprocal<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.recip())
}

pub fn sqrt<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.sqrt())
}

pub fn exp<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.exp())
}

pub fn log<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.log())
}

pub fn log1p<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.log1p())
}

pub fn sin<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.sin())
}

pub fn cos<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.cos())
}

pub fn tan<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.tan())
}

pub fn asin<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.asin())
}

pub fn acos<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.acos())
}

pub fn atan<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.atan())
}

pub fn sinh<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.sinh())
}

pub fn cosh<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.cosh())
}

pub fn tanh<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.tanh())
}

pub fn asinh<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.asinh())
}

pub fn acosh<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.acosh())
}

pub fn atanh<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.atanh())
}

pub fn erf<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.erf())
}

pub fn absolute<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.abs())
}

pub fn neg<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.neg())
}

pub fn sign<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.sign())
}

pub fn floor<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.floor())
}

pub fn ceil<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.ceil())
}

pub fn trunc<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.trunc())
}

pub fn round_half_even<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.round())
}
