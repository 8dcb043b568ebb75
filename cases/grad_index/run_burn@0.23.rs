use crate::glue::{Answer, Any, Tensors};
use crate::swept::Attributes;
use crate::{at_rank, each_rank};
use burn::tensor::module::embedding as look_up;
use burn::tensor::Tensor;

pub fn index_select(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.select(along(a), t.int("ids")))
}

pub fn index_select_outside(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.select(along(a), t.int("ids")))
}

pub fn select(t: &Tensors, a: &Attributes) -> Answer {
    let index = a["index"].as_i64().unwrap();
    at_rank!(t.rank(), D => t.float::<D>("x").select_dim::<{ D - 1 }>(along(a), index))
}

pub fn take_along_axis(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.gather(along(a), t.int("ids")))
}

pub fn take_along_axis_outside(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.gather(along(a), t.int("ids")))
}

pub fn gather(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.gather(along(a), t.int("ids")))
}

pub fn embedding(t: &Tensors, _: &Attributes) -> Tensor<3> {
    look_up(t.float("table"), t.int("ids"))
}

pub fn embedding_outside(t: &Tensors, _: &Attributes) -> Tensor<3> {
    look_up(t.float("table"), t.int("ids"))
}

pub fn masked_fill(t: &Tensors, a: &Attributes) -> Any {
    let value = a["value"].as_f64().unwrap();
    each_rank!(t.any("x"), x => x.mask_fill(t.mask("mask"), value))
}

pub fn r#where(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("b"), x => x.mask_where(t.mask("mask"), t.float("a")))
}

pub fn one_hot(t: &Tensors, a: &Attributes) -> Answer {
    let count = a["count"].as_u64().unwrap() as usize;
    at_rank!(t.rank(), D => t.int::<D>("ids").one_hot::<{ D + 1 }>(count))
}

pub fn one_hot_outside(t: &Tensors, a: &Attributes) -> Answer {
    let count = a["count"].as_u64().unwrap() as usize;
    at_rank!(t.rank(), D => t.int::<D>("ids").one_hot::<{ D + 1 }>(count))
}

pub fn masked_select(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => {
        let x = t.float::<D>("x");
        let mask = t.mask::<D>("mask").expand(x.dims());
        x.mask_select(mask)
    })
}

fn along(a: &Attributes) -> i64 {
    a["axis"].as_i64().unwrap()
}
