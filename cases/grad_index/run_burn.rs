use crate::glue::{Any, Answer, Tensors};
use crate::swept::{axis, Attributes};
use crate::{at_rank, each_rank};
use burn::tensor::module::embedding as look_up;
use burn::tensor::{backend::Backend, Tensor};

pub fn index_select<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.dims("x").len());
    each_rank!(t.any("x"), x => x.select(along, t.int("ids")))
}

pub fn index_select_outside<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.dims("x").len());
    each_rank!(t.any("x"), x => x.select(along, t.int("ids")))
}

pub fn select<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    let index = a["index"].as_i64().unwrap() as isize;
    each_rank!(t.any("x"), x => x.slice_dim(along, index))
}

pub fn take_along_axis<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.gather(along, t.int("ids")))
}

pub fn take_along_axis_outside<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.gather(along, t.int("ids")))
}

pub fn gather<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.gather(along, t.int("ids")))
}

pub fn embedding<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Tensor<B, 3> {
    look_up(t.float("table"), t.int("ids"))
}

pub fn embedding_outside<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Tensor<B, 3> {
    look_up(t.float("table"), t.int("ids"))
}

pub fn masked_fill<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let value = a["value"].as_f64().unwrap();
    each_rank!(t.any("x"), x => x.mask_fill(t.mask("mask"), value))
}

pub fn r#where<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("b"), x => x.mask_where(t.mask("mask"), t.float("a")))
}

pub fn one_hot<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let count = a["count"].as_u64().unwrap() as usize;
    at_rank!(t.rank(), D => t.int::<D>("ids").one_hot::<{ D + 1 }>(count))
}

pub fn one_hot_outside<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let count = a["count"].as_u64().unwrap() as usize;
    at_rank!(t.rank(), D => t.int::<D>("ids").one_hot::<{ D + 1 }>(count))
}
