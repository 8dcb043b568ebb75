use crate::at_rank;
use crate::glue::{Answer, Tensors};
use crate::swept::{axis, Attributes};
use burn::tensor::{backend::Backend, FloatDType, Int, Tensor};

pub fn add<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.int::<D>("a") + t.int("b"))
}

pub fn subtract<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.int::<D>("a") - t.int("b"))
}

pub fn multiply<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.int::<D>("a") * t.int("b"))
}

pub fn remainder<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.int::<D>("a").remainder(t.int("b")))
}

pub fn power<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.int::<D>("a").powi(t.int("b")))
}

pub fn bit_and<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.int::<D>("a").bitwise_and(t.int("b")))
}

pub fn bit_or<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.int::<D>("a").bitwise_or(t.int("b")))
}

pub fn bit_xor<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.int::<D>("a").bitwise_xor(t.int("b")))
}

pub fn bit_not<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.int::<D>("a").bitwise_not())
}

pub fn shift_left<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.int::<D>("a").bitwise_left_shift(t.int("b")))
}

pub fn shift_right<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.int::<D>("a").bitwise_right_shift(t.int("b")))
}

pub fn absolute<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.int::<D>("a").abs())
}

pub fn negative<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.int::<D>("a").neg())
}

pub fn sum<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let along = axis(&a["axis"], t.rank());
    at_rank!(t.rank(), D => t.int::<D>("x").sum_dim(along))
}

pub fn prod<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let along = axis(&a["axis"], t.rank());
    at_rank!(t.rank(), D => t.int::<D>("x").prod_dim(along))
}

pub fn cumsum<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let along = axis(&a["axis"], t.rank());
    at_rank!(t.rank(), D => t.int::<D>("x").cumsum(along))
}

pub fn less<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("a").lower(t.float("b")))
}

pub fn less_equal<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("a").lower_equal(t.float("b")))
}

pub fn equal<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("a").equal(t.float("b")))
}

pub fn is_nan<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("x").is_nan())
}

pub fn is_inf<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("x").is_inf())
}

pub fn is_finite<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("x").is_finite())
}

pub fn sign<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("x").sign())
}

pub fn to_int<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("x").int())
}

pub fn to_bool<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("x").bool())
}

pub fn to_float32<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("x").cast(FloatDType::F32))
}

pub fn arange_whole<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 1, Int> {
    let (start, stop) = (a["start"].as_i64().unwrap(), a["stop"].as_i64().unwrap());
    Tensor::arange_step(start..stop, a["by"].as_u64().unwrap() as usize, &t.device)
}
