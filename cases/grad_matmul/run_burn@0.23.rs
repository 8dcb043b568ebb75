use crate::glue::{Answer, Any, Tensors};
use crate::swept::Attributes;
use crate::{at_rank, each_rank};
use burn::tensor::module::linear as affine;
use burn::tensor::{Int, Tensor};

pub fn matmul(t: &Tensors, _: &Attributes) -> Tensor<2> {
    t.float::<2>("a").matmul(t.float("b"))
}

pub fn matmul_batched(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("a").matmul(t.float("b")))
}

pub fn matmul_long(t: &Tensors, _: &Attributes) -> Tensor<2> {
    t.float::<2>("a").matmul(t.float("b"))
}

pub fn matmul_empty(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("a").matmul(t.float("b")))
}

pub fn matmul_whole(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => {
        let a: Tensor<D, Int> = t.int("a");
        a.matmul(t.int("b"))
    })
}

pub fn bmm(t: &Tensors, _: &Attributes) -> Tensor<3> {
    t.float::<3>("a").matmul(t.float("b"))
}

pub fn mv(t: &Tensors, _: &Attributes) -> Tensor<1> {
    burn::tensor::linalg::matvec(t.float::<2>("a"), t.float::<1>("b"))
}

pub fn dot(t: &Tensors, _: &Attributes) -> Tensor<1> {
    t.float::<1>("a").dot(t.float("b"))
}

pub fn outer(t: &Tensors, _: &Attributes) -> Tensor<2> {
    burn::tensor::linalg::outer(t.float::<1>("a"), t.float::<1>("b"))
}

pub fn linear(t: &Tensors, _: &Attributes) -> Any {
    let weight = t.float::<2>("weight").transpose();
    each_rank!(t.any("x"), x => affine(x, weight, Some(t.float("bias"))))
}

pub fn linear_long(t: &Tensors, _: &Attributes) -> Tensor<2> {
    let weight = t.float::<2>("weight").transpose();
    affine(t.float("x"), weight, Some(t.float("bias")))
}

pub fn add_row(t: &Tensors, _: &Attributes) -> Tensor<2> {
    t.float::<2>("x") + t.float::<1>("row").unsqueeze()
}

pub fn linear_plain(t: &Tensors, _: &Attributes) -> Any {
    let weight = t.float::<2>("weight").transpose();
    each_rank!(t.any("x"), x => affine(x, weight, None))
}

pub fn gram(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.clone().matmul(x.transpose()))
}

pub fn squared(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.clone().matmul(x))
}

pub fn cross(t: &Tensors, _: &Attributes) -> Tensor<2> {
    t.float::<2>("a").cross(t.float("b"), 1)
}

pub fn einsum_contract(t: &Tensors, _: &Attributes) -> Tensor<2> {
    Tensor::einsum("ij,jk->ik", [t.float::<2>("a").into(), t.float::<2>("b").into()])
}

pub fn einsum_attention(t: &Tensors, _: &Attributes) -> Tensor<4> {
    Tensor::einsum("bqhd,bkhd->bhqk", [t.float::<4>("a").into(), t.float::<4>("b").into()])
}

pub fn einsum_reduced(t: &Tensors, _: &Attributes) -> Tensor<1> {
    Tensor::einsum("ijk,jl->i", [t.float::<3>("a").into(), t.float::<2>("b").into()])
}

pub fn einsum_repeated(t: &Tensors, _: &Attributes) -> Tensor<2> {
    Tensor::einsum("iij,jk->ik", [t.float::<3>("a").into(), t.float::<2>("b").into()])
}

pub fn einsum_trace(t: &Tensors, _: &Attributes) -> Tensor<1> {
    Tensor::einsum("bii->b", [t.float::<3>("x").into()])
}

pub fn einsum_three(t: &Tensors, _: &Attributes) -> Tensor<2> {
    let (a, b, c) = (t.float::<2>("a"), t.float::<3>("b"), t.float::<2>("c"));
    Tensor::einsum("bi,oij,bj->bo", [a.into(), b.into(), c.into()])
}

pub fn einsum_ellipsis(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => {
        Tensor::<D>::einsum("...ij,jk->...ik", [t.float::<D>("a").into(), t.float::<2>("b").into()])
    })
}

pub fn einsum_transpose(t: &Tensors, _: &Attributes) -> Tensor<3> {
    Tensor::einsum("ijk->kij", [t.float::<3>("x").into()])
}

pub fn einsum_implicit(t: &Tensors, _: &Attributes) -> Tensor<2> {
    Tensor::einsum("ki,kj", [t.float::<2>("a").into(), t.float::<2>("b").into()])
}
