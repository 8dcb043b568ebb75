use crate::at_rank;
use crate::glue::{Answer, Tensors};
use crate::swept::{axis, Attributes};
use burn::tensor::{FloatDType, Int, Tensor};

pub fn add(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.int::<D>("a") + t.int("b"))
}

pub fn subtract(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.int::<D>("a") - t.int("b"))
}

pub fn multiply(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.int::<D>("a") * t.int("b"))
}

pub fn remainder(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.int::<D>("a").remainder(t.int("b")))
}

pub fn power(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.int::<D>("a").powi(t.int("b")))
}

pub fn bit_and(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.int::<D>("a").bitwise_and(t.int("b")))
}

pub fn bit_or(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.int::<D>("a").bitwise_or(t.int("b")))
}

pub fn bit_xor(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.int::<D>("a").bitwise_xor(t.int("b")))
}

pub fn bit_not(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.int::<D>("a").bitwise_not())
}

pub fn shift_left(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.int::<D>("a").bitwise_left_shift(t.int("b")))
}

pub fn shift_right(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.int::<D>("a").bitwise_right_shift(t.int("b")))
}

pub fn absolute(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.int::<D>("a").abs())
}

pub fn negative(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.int::<D>("a").neg())
}

pub fn sum(t: &Tensors, a: &Attributes) -> Answer {
    let along = axis(&a["axis"], t.rank());
    at_rank!(t.rank(), D => t.int::<D>("x").sum_dim(along))
}

pub fn prod(t: &Tensors, a: &Attributes) -> Answer {
    let along = axis(&a["axis"], t.rank());
    at_rank!(t.rank(), D => t.int::<D>("x").prod_dim(along))
}

pub fn cumsum(t: &Tensors, a: &Attributes) -> Answer {
    let along = axis(&a["axis"], t.rank());
    at_rank!(t.rank(), D => t.int::<D>("x").cumsum(along))
}

pub fn less(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("a").lower(t.float("b")))
}

pub fn less_equal(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("a").lower_equal(t.float("b")))
}

pub fn equal(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("a").equal(t.float("b")))
}

pub fn is_nan(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("x").is_nan())
}

pub fn is_inf(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("x").is_inf())
}

pub fn is_finite(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("x").is_finite())
}

pub fn sign(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("x").sign())
}

pub fn to_int(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("x").int())
}

pub fn to_bool(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("x").bool())
}

pub fn to_float32(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("x").cast(FloatDType::F32))
}

pub fn arange_whole(t: &Tensors, a: &Attributes) -> Tensor<1, Int> {
    let (start, stop) = (a["start"].as_i64().unwrap(), a["stop"].as_i64().unwrap());
    Tensor::arange_step(start..stop, a["by"].as_u64().unwrap() as usize, &t.device)
}

pub fn to_bfloat16(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("x").cast(FloatDType::BF16))
}

pub fn to_float16(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("x").cast(FloatDType::F16))
}
