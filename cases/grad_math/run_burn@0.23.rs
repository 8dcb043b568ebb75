use crate::each_rank;
use crate::glue::{Any, Tensors};
use crate::swept::Attributes;

pub fn square(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.square())
}

pub fn reciprocal(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.recip())
}

pub fn sqrt(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.sqrt())
}

pub fn exp(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.exp())
}

pub fn log(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.log())
}

pub fn log1p(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.log1p())
}

pub fn sin(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.sin())
}

pub fn cos(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.cos())
}

pub fn tan(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.tan())
}

pub fn asin(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.asin())
}

pub fn acos(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.acos())
}

pub fn atan(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.atan())
}

pub fn sinh(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.sinh())
}

pub fn cosh(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.cosh())
}

pub fn tanh(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.tanh())
}

pub fn asinh(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.asinh())
}

pub fn acosh(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.acosh())
}

pub fn atanh(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.atanh())
}

pub fn erf(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.erf())
}

pub fn absolute(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.abs())
}

pub fn neg(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.neg())
}

pub fn sign(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.sign())
}

pub fn floor(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.floor())
}

pub fn ceil(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.ceil())
}

pub fn trunc(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.trunc())
}

pub fn round_half_even(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.round())
}
