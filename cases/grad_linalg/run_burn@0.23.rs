use crate::at_rank;
use crate::glue::{Answer, Tensors};
use crate::swept::Attributes;

pub fn det(t: &Tensors, _: &Attributes) -> Answer {
    use burn::tensor::linalg::det as determinant;
    match t.rank() {
        3 => determinant::<3, 2, 1>(t.float("a")).into(),
        _ => determinant::<4, 3, 2>(t.float("a")).into(),
    }
}

pub fn solve(t: &Tensors, _: &Attributes) -> Answer {
    use burn::tensor::linalg::solve as solved;
    at_rank!(t.rank(), D => solved::<D, D, D>(t.float("a"), t.float("b")))
}

pub fn cholesky(t: &Tensors, _: &Attributes) -> Answer {
    use burn::tensor::linalg::cholesky as factor;
    at_rank!(t.rank(), D => {
        let a = t.float::<D>("a");
        factor(a.clone().matmul(a.transpose()), false)
    })
}
