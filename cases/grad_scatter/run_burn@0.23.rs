use crate::each_rank;
use crate::glue::{Answer, Any, Tensors};
use crate::swept::Attributes;
use burn::tensor::{IndexingUpdateOp, Tensor};

pub fn scatter(t: &Tensors, a: &Attributes) -> Any {
    let along = a["axis"].as_i64().unwrap();
    each_rank!(t.any("x"), x => x.scatter(along, t.int("ids"), t.float("v"), IndexingUpdateOp::Assign))
}

pub fn put_along_axis(t: &Tensors, a: &Attributes) -> Any {
    let along = a["axis"].as_i64().unwrap();
    each_rank!(t.any("x"), x => x.scatter(along, t.int("ids"), t.float("v"), IndexingUpdateOp::Assign))
}

pub fn scatter_add(t: &Tensors, a: &Attributes) -> Any {
    let along = a["axis"].as_i64().unwrap();
    each_rank!(t.any("x"), x => x.scatter(along, t.int("ids"), t.float("v"), IndexingUpdateOp::Add))
}

pub fn scatter_add_outside(t: &Tensors, a: &Attributes) -> Any {
    let along = a["axis"].as_i64().unwrap();
    each_rank!(t.any("x"), x => x.scatter(along, t.int("ids"), t.float("v"), IndexingUpdateOp::Add))
}

pub fn scatter_prod(t: &Tensors, a: &Attributes) -> Any {
    let along = with_self(t, a);
    each_rank!(t.any("x"), x => x.scatter(along, t.int("ids"), t.float("v"), IndexingUpdateOp::Mul))
}

pub fn scatter_max(t: &Tensors, a: &Attributes) -> Any {
    let along = with_self(t, a);
    each_rank!(t.any("x"), x => x.scatter(along, t.int("ids"), t.float("v"), IndexingUpdateOp::Max))
}

pub fn scatter_min(t: &Tensors, a: &Attributes) -> Any {
    let along = with_self(t, a);
    each_rank!(t.any("x"), x => x.scatter(along, t.int("ids"), t.float("v"), IndexingUpdateOp::Min))
}

pub fn rows_set(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.select_assign(0, t.int("ids"), t.float("v"), IndexingUpdateOp::Assign))
}

pub fn rows_add(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.select_assign(0, t.int("ids"), t.float("v"), IndexingUpdateOp::Add))
}

pub fn rows_add_outside(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.select_assign(0, t.int("ids"), t.float("v"), IndexingUpdateOp::Add))
}

pub fn rows_multiply(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.select_assign(0, t.int("ids"), t.float("v"), IndexingUpdateOp::Mul))
}

pub fn rows_max(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.select_assign(0, t.int("ids"), t.float("v"), IndexingUpdateOp::Max))
}

pub fn index_add(t: &Tensors, a: &Attributes) -> Any {
    let along = a["axis"].as_i64().unwrap();
    each_rank!(t.any("x"), x => x.select_assign(along, t.int("ids"), t.float("v"), IndexingUpdateOp::Add))
}

pub fn index_put(t: &Tensors, _: &Attributes) -> Answer {
    let places = Tensor::stack::<2>(vec![t.int::<1>("i"), t.int("j")], 1);
    let update = IndexingUpdateOp::Assign;
    match t.rank() {
        2 => Answer::from(t.float::<2>("x").scatter_nd(places, t.float::<1>("v"), update)),
        _ => Answer::from(t.float::<3>("x").scatter_nd(places, t.float::<2>("v"), update)),
    }
}

pub fn setitem_mask(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.mask_fill(t.mask("mask"), 0.5))
}

fn with_self(_: &Tensors, a: &Attributes) -> i64 {
    if a["include_self"] == false {
        panic!("not offered: without what is there");
    }
    a["axis"].as_i64().unwrap()
}
