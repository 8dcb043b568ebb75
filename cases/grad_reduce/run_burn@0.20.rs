use crate::glue::{Answer, Any, Tensors};
use crate::swept::{axis, numbers, Attributes};
use crate::{at_rank, each_rank};
use burn::tensor::linalg::{cosine_similarity as cosine, vector_norm, Norm};
use burn::tensor::{activation, backend::Backend};

pub fn sum<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => match axes(a) {
        Some(axes) => Any::from(x.sum_dims(&axes)),
        None => Any::from(x.sum()),
    })
}

pub fn mean<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => match axes(a) {
        Some(axes) => Any::from(x.mean_dims(&axes)),
        None => Any::from(x.mean()),
    })
}

pub fn prod<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.prod_dim(along))
}

pub fn max<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.max_dim(along))
}

pub fn min<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.min_dim(along))
}

pub fn amax<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => match axes(a) {
        Some(axes) => Any::from(x.max_dims(&axes)),
        None => Any::from(x.max()),
    })
}

pub fn amin<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => match axes(a) {
        Some(axes) => Any::from(x.min_dims(&axes)),
        None => Any::from(x.min()),
    })
}

pub fn var<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = only(a);
    each_rank!(t.any("x"), x => match a["correction"].as_u64() {
        Some(1) => x.var(along),
        _ => x.var_bias(along),
    })
}

pub fn norm_l1<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => vector_norm(x, Norm::L1, only(a)))
}

pub fn norm_l2<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => vector_norm(x, Norm::L2, only(a)))
}

pub fn norm_l3<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => vector_norm(x, Norm::Lp(3.0), only(a)))
}

pub fn norm_linf<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => vector_norm(x, Norm::LInf, only(a)))
}

pub fn normalize<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    use burn::tensor::linalg::vector_normalize;
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => vector_normalize(x, Norm::L2, along, 1e-12))
}

pub fn cosine_similarity<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = a["axis"].as_i64().unwrap() as i32;
    each_rank!(t.any("a"), x => cosine(x, t.float("b"), along, None))
}

pub fn softmax<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => activation::softmax(x, along))
}

pub fn log_softmax<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => activation::log_softmax(x, along))
}

pub fn any<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => match axes(a) {
        Some(axes) => Answer::from(axes.iter().fold(t.mask::<D>("x"), |x, &axis| x.any_dim(axis))),
        None => Answer::from(t.mask::<D>("x").any()),
    })
}

pub fn all<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => match axes(a) {
        Some(axes) => Answer::from(axes.iter().fold(t.mask::<D>("x"), |x, &axis| x.all_dim(axis))),
        None => Answer::from(t.mask::<D>("x").all()),
    })
}

pub fn argmax<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let along = axis(&a["axis"], t.rank());
    at_rank!(t.rank(), D => t.float::<D>("x").argmax(along))
}

pub fn argmin<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let along = axis(&a["axis"], t.rank());
    at_rank!(t.rank(), D => t.float::<D>("x").argmin(along))
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
