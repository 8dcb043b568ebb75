use crate::each_rank;
use crate::glue::{Answer, Any, Tensors};
use crate::swept::{axis, Attributes};
use burn::tensor::{backend::Backend, IndexingUpdateOp, Tensor};

pub fn scatter<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.scatter(along, t.int("ids"), t.float("v"), IndexingUpdateOp::Assign))
}

pub fn put_along_axis<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.scatter(along, t.int("ids"), t.float("v"), IndexingUpdateOp::Assign))
}

pub fn scatter_add<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.scatter(along, t.int("ids"), t.float("v"), IndexingUpdateOp::Add))
}

pub fn scatter_add_outside<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.scatter(along, t.int("ids"), t.float("v"), IndexingUpdateOp::Add))
}

pub fn scatter_prod<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = with_self(t, a);
    each_rank!(t.any("x"), x => x.scatter(along, t.int("ids"), t.float("v"), IndexingUpdateOp::Mul))
}

pub fn scatter_max<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = with_self(t, a);
    each_rank!(t.any("x"), x => x.scatter(along, t.int("ids"), t.float("v"), IndexingUpdateOp::Max))
}

pub fn scatter_min<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = with_self(t, a);
    each_rank!(t.any("x"), x => x.scatter(along, t.int("ids"), t.float("v"), IndexingUpdateOp::Min))
}

pub fn rows_set<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.select_assign(0, t.int("ids"), t.float("v"), IndexingUpdateOp::Assign))
}

pub fn rows_add<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.select_assign(0, t.int("ids"), t.float("v"), IndexingUpdateOp::Add))
}

pub fn rows_add_outside<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.select_assign(0, t.int("ids"), t.float("v"), IndexingUpdateOp::Add))
}

pub fn rows_multiply<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.select_assign(0, t.int("ids"), t.float("v"), IndexingUpdateOp::Mul))
}

pub fn rows_max<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.select_assign(0, t.int("ids"), t.float("v"), IndexingUpdateOp::Max))
}

pub fn index_add<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.select_assign(along, t.int("ids"), t.float("v"), IndexingUpdateOp::Add))
}

pub fn index_put<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    let places = Tensor::stack::<2>(vec![t.int::<1>("i"), t.int("j")], 1);
    let update = IndexingUpdateOp::Assign;
    match t.rank() {
        2 => Answer::from(t.float::<2>("x").scatter_nd(places, t.float::<1>("v"), update)),
        _ => Answer::from(t.float::<3>("x").scatter_nd(places, t.float::<2>("v"), update)),
    }
}

pub fn setitem_mask<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.mask_fill(t.mask("mask"), 0.5))
}

fn with_self<B: Backend>(t: &Tensors<B>, a: &Attributes) -> usize {
    if a["include_self"] == false {
        panic!("not offered: without what is there");
    }
    axis(&a["axis"], t.rank())
}
