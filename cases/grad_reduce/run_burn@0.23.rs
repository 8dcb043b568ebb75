use crate::glue::{Answer, Any, Tensors};
use crate::swept::{numbers, Attributes};
use crate::{at_rank, each_rank};
use burn::tensor::activation;
use burn::tensor::linalg::{cosine_similarity as cosine, vector_norm, Norm};

pub fn sum(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => match axes(a) {
        Some(axes) => Any::from(x.sum_dims(&axes)),
        None => Any::from(x.sum()),
    })
}

pub fn mean(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => match axes(a) {
        Some(axes) => Any::from(x.mean_dims(&axes)),
        None => Any::from(x.mean()),
    })
}

pub fn prod(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.prod_dim(along(a)))
}

pub fn max(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.max_dim(along(a)))
}

pub fn min(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.min_dim(along(a)))
}

pub fn amax(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => match axes(a) {
        Some(axes) => Any::from(x.max_dims(&axes)),
        None => Any::from(x.max()),
    })
}

pub fn amin(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => match axes(a) {
        Some(axes) => Any::from(x.min_dims(&axes)),
        None => Any::from(x.min()),
    })
}

pub fn var(t: &Tensors, a: &Attributes) -> Any {
    let along = only(a);
    each_rank!(t.any("x"), x => match a["correction"].as_u64() {
        Some(1) => x.var(along),
        _ => x.var_bias(along),
    })
}

pub fn norm_l1(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => vector_norm(x, Norm::L1, only(a)))
}

pub fn norm_l2(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => vector_norm(x, Norm::L2, only(a)))
}

pub fn norm_l3(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => vector_norm(x, Norm::Lp(3.0), only(a)))
}

pub fn norm_linf(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => vector_norm(x, Norm::LInf, only(a)))
}

pub fn normalize(t: &Tensors, a: &Attributes) -> Any {
    use burn::tensor::linalg::vector_normalize;
    each_rank!(t.any("x"), x => vector_normalize(x, Norm::L2, along(a), 1e-12))
}

pub fn cosine_similarity(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("a"), x => cosine(x, t.float("b"), along(a), None))
}

pub fn softmax(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::softmax(x, along(a)))
}

pub fn log_softmax(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => activation::log_softmax(x, along(a)))
}

pub fn any(t: &Tensors, a: &Attributes) -> Answer {
    at_rank!(t.rank(), D => match axes(a) {
        Some(axes) => Answer::from(axes.iter().fold(t.mask::<D>("x"), |x, &axis| x.any_dim(axis))),
        None => Answer::from(t.mask::<D>("x").any()),
    })
}

pub fn all(t: &Tensors, a: &Attributes) -> Answer {
    at_rank!(t.rank(), D => match axes(a) {
        Some(axes) => Answer::from(axes.iter().fold(t.mask::<D>("x"), |x, &axis| x.all_dim(axis))),
        None => Answer::from(t.mask::<D>("x").all()),
    })
}

pub fn argmax(t: &Tensors, a: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("x").argmax(along(a)))
}

pub fn argmin(t: &Tensors, a: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("x").argmin(along(a)))
}

fn axes(a: &Attributes) -> Option<Vec<usize>> {
    let listed = a["axes"].as_array().is_some().then(|| numbers(&a["axes"]));
    listed.map(|axes| axes.iter().map(|&axis| axis as usize).collect())
}

fn only(a: &Attributes) -> usize {
    match axes(a).as_deref() {
        Some(&[axis]) => axis,
        _ => panic!("not offered: another number of axes than one"),
    }
}

fn along(a: &Attributes) -> i64 {
    a["axis"].as_i64().unwrap()
}
