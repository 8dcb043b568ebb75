use crate::glue::{Any, Answer, Tensors};
use crate::swept::{axis, Attributes};
use crate::{at_rank, each_rank};
use burn::tensor::backend::Backend;

pub fn cumsum<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.cumsum(along))
}

pub fn cumprod<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.cumprod(along))
}

pub fn cummax<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.cummax(along))
}

pub fn cummin<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.cummin(along))
}

pub fn sort<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.sort(along))
}

pub fn argsort<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let along = axis(&a["axis"], t.rank());
    at_rank!(t.rank(), D => t.float::<D>("x").argsort(along))
}

pub fn topk<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let k = a["k"].as_u64().unwrap() as usize;
    at_rank!(t.rank(), D => t.float::<D>("x").topk(k, D - 1))
}

pub fn median<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.median(along))
}
