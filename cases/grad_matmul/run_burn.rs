use crate::glue::{Answer, Any, Tensors};
use crate::swept::Attributes;
use crate::{at_rank, each_rank};
use burn::tensor::module::linear as affine;
use burn::tensor::{backend::Backend, Int, Tensor};

pub fn matmul<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Tensor<B, 2> {
    t.float::<2>("a").matmul(t.float("b"))
}

pub fn matmul_batched<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("a").matmul(t.float("b")))
}

pub fn matmul_long<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Tensor<B, 2> {
    t.float::<2>("a").matmul(t.float("b"))
}

pub fn matmul_empty<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("a").matmul(t.float("b")))
}

pub fn matmul_whole<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => {
        let a: Tensor<B, D, Int> = t.int("a");
        a.matmul(t.int("b"))
    })
}

pub fn bmm<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Tensor<B, 3> {
    t.float::<3>("a").matmul(t.float("b"))
}

pub fn mv<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Tensor<B, 1> {
    burn::tensor::linalg::matvec(t.float::<2>("a"), t.float::<1>("b"))
}

pub fn dot<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Tensor<B, 1> {
    t.float::<1>("a").dot(t.float("b"))
}

pub fn outer<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Tensor<B, 2> {
    burn::tensor::linalg::outer(t.float::<1>("a"), t.float::<1>("b"))
}

pub fn linear<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    let weight = t.float::<2>("weight").transpose();
    each_rank!(t.any("x"), x => affine(x, weight, Some(t.float("bias"))))
}

pub fn linear_long<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Tensor<B, 2> {
    let weight = t.float::<2>("weight").transpose();
    affine(t.float("x"), weight, Some(t.float("bias")))
}

pub fn add_row<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Tensor<B, 2> {
    t.float::<2>("x") + t.float::<1>("row").unsqueeze()
}

pub fn linear_plain<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    let weight = t.float::<2>("weight").transpose();
    each_rank!(t.any("x"), x => affine(x, weight, None))
}

pub fn gram<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.clone().matmul(x.transpose()))
}

pub fn squared<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.clone().matmul(x))
}

pub fn cross<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Tensor<B, 2> {
    t.float::<2>("a").cross(t.float("b"), 1)
}
