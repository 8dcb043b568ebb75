use crate::each_rank;
use crate::glue::{Any, Tensors};
use crate::swept::Attributes;
use burn::tensor::{activation, backend::Backend};

pub fn relu<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => activation::relu(x))
}
