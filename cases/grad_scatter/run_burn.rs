use crate::each_rank;
use crate::glue::{Any, Tensors};
use crate::swept::{axis, Attributes};
use burn::tensor::backend::Backend;

pub fn scatter_add<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.scatter(along, t.int("ids"), t.float("v")))
}

pub fn scatter_add_outside<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.scatter(along, t.int("ids"), t.float("v")))
}

pub fn rows_add<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.select_assign(0, t.int("ids"), t.float("v")))
}

pub fn rows_add_outside<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.select_assign(0, t.int("ids"), t.float("v")))
}

pub fn index_add<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.select_assign(along, t.int("ids"), t.float("v")))
}

pub fn setitem_mask<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.mask_fill(t.mask("mask"), 0.5))
}
