use crate::each_rank;
use crate::glue::{Any, Tensors};
use crate::swept::Attributes;
use burn::tensor::{activation};

pub fn relu(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::relu(x))
}
