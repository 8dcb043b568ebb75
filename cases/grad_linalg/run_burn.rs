use crate::glue::{Answer, Tensors};
use crate::swept::Attributes;
use burn::tensor::backend::Backend;

pub fn det<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    use burn::tensor::linalg::det as determinant;
    match t.rank() {
        3 => determinant::<B, 3, 2, 1>(t.float("a")).into(),
        _ => determinant::<B, 4, 3, 2>(t.float("a")).into(),
    }
}
