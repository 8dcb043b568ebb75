use crate::glue::{Answer, Any, Tensors};
use crate::swept::Attributes;
use crate::{at_rank, each_rank};

pub fn cumsum(t: &Tensors, a: &Attributes) -> Any {
    let along = a["axis"].as_i64().unwrap();
    each_rank!(t.any("x"), x => x.cumsum(along))
}

pub fn cumprod(t: &Tensors, a: &Attributes) -> Any {
    let along = a["axis"].as_i64().unwrap();
    each_rank!(t.any("x"), x => x.cumprod(along))
}

pub fn cummax(t: &Tensors, a: &Attributes) -> Any {
    let along = a["axis"].as_i64().unwrap();
    each_rank!(t.any("x"), x => x.cummax(along))
}

pub fn cummin(t: &Tensors, a: &Attributes) -> Any {
    let along = a["axis"].as_i64().unwrap();
    each_rank!(t.any("x"), x => x.cummin(along))
}

pub fn sort(t: &Tensors, a: &Attributes) -> Any {
    let along = a["axis"].as_i64().unwrap();
    each_rank!(t.any("x"), x => x.sort(along))
}

pub fn argsort(t: &Tensors, a: &Attributes) -> Answer {
    let along = a["axis"].as_i64().unwrap();
    at_rank!(t.rank(), D => t.float::<D>("x").argsort(along))
}

pub fn topk(t: &Tensors, a: &Attributes) -> Answer {
    let k = a["k"].as_u64().unwrap() as usize;
    at_rank!(t.rank(), D => t.float::<D>("x").topk(k, -1))
}

pub fn median(t: &Tensors, a: &Attributes) -> Any {
    let along = a["axis"].as_i64().unwrap();
    each_rank!(t.any("x"), x => x.median(along))
}
