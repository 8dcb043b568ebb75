use crate::glue::{Answer, Any, Tensors};
use crate::swept::{axis, Attributes};
use crate::{at_rank, each_rank};
use burn::module::{Param, ParamId};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{BatchNormConfig, GroupNormConfig, InstanceNormConfig};
use burn::nn::{LayerNormConfig, RmsNormConfig};
use burn::tensor::{activation, backend::Backend, Int, Tensor};

pub fn layer_norm<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let config = LayerNormConfig::new(t.dims("weight")[0]).with_epsilon(number(a, "eps"));
    let mut layer = config.init(&t.device);
    layer.gamma = given(t, "weight");
    layer.beta = given(t, "bias");
    each_rank!(t.any("x"), x => layer.forward(x))
}

pub fn layer_norm_plain<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let config = LayerNormConfig::new(*t.dims("x").last().unwrap());
    let layer = config.with_epsilon(number(a, "eps")).init(&t.device);
    each_rank!(t.any("x"), x => layer.forward(x))
}

pub fn rms_norm<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let config = RmsNormConfig::new(t.dims("weight")[0]).with_epsilon(number(a, "eps"));
    let mut layer = config.init(&t.device);
    layer.gamma = given(t, "weight");
    each_rank!(t.any("x"), x => layer.forward(x))
}

pub fn rms_norm_plain<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let config = RmsNormConfig::new(*t.dims("x").last().unwrap());
    let layer = config.with_epsilon(number(a, "eps")).init(&t.device);
    each_rank!(t.any("x"), x => layer.forward(x))
}

pub fn group_norm<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let config = GroupNormConfig::new(number(a, "groups") as usize, t.dims("weight")[0]);
    let mut layer = config.with_epsilon(number(a, "eps")).init(&t.device);
    layer.gamma = Some(given(t, "weight"));
    layer.beta = Some(given(t, "bias"));
    each_rank!(t.any("x"), x => layer.forward(x))
}

pub fn instance_norm<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let config = InstanceNormConfig::new(t.dims("weight")[0]).with_epsilon(number(a, "eps"));
    let mut layer = config.init(&t.device);
    layer.gamma = Some(given(t, "weight"));
    layer.beta = Some(given(t, "bias"));
    each_rank!(t.any("x"), x => layer.forward(x))
}

pub fn batch_norm_train<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let config = BatchNormConfig::new(t.dims("weight")[0]).with_epsilon(number(a, "eps"));
    at_rank!(t.rank() - 2, D => {
        let mut layer = config.init::<B, D>(&t.device);
        layer.gamma = given(t, "weight");
        layer.beta = given(t, "bias");
        each_rank!(t.any("x"), x => layer.forward(x))
    })
}

pub fn l2_normalize<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    use burn::tensor::linalg::{vector_normalize, Norm};
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => vector_normalize(x, Norm::L2, along, number(a, "eps")))
}

pub fn cosine_similarity<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    use burn::tensor::linalg::cosine_similarity as cosine;
    let along = a["axis"].as_i64().unwrap() as i32;
    each_rank!(t.any("a"), x => cosine(x, t.float("b"), along, None))
}

pub fn cross_entropy<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 1> {
    entropy(t, a, CrossEntropyLossConfig::new())
}

pub fn cross_entropy_smooth<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 1> {
    let smoothing = Some(number(a, "smoothing") as f32);
    entropy(t, a, CrossEntropyLossConfig::new().with_smoothing(smoothing))
}

pub fn cross_entropy_ignore<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 1> {
    let Some(ignored) = a["ignore"].as_u64() else {
        panic!("not offered: to ignore a number below 0");
    };
    let ignored = Some(vec![ignored as usize]);
    entropy(t, a, CrossEntropyLossConfig::new().with_pad_tokens(ignored))
}

pub fn cross_entropy_weight<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 1> {
    let eighths: Tensor<B, 1, Int> = t.int("weight8");
    let weights = eighths.into_data().iter::<f32>().map(|weight| weight / 8.0).collect();
    entropy(t, a, CrossEntropyLossConfig::new().with_weights(Some(weights)))
}

pub fn cross_entropy_soft<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    use burn::tensor::loss::cross_entropy_with_logits;
    mean_alone(a);
    at_rank!(t.rank(), D => {
        let target = t.int::<D>("target").float() / 8;
        cross_entropy_with_logits(t.float::<D>("x").swap_dims(1, D - 1), target.swap_dims(1, D - 1))
    })
}

pub fn log_softmax_gather<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Tensor<B, 2> {
    let ids = t.int::<1>("ids").unsqueeze_dim(1);
    activation::log_softmax(t.float::<2>("x"), 1).gather(1, ids)
}

pub fn embedding_sum<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Tensor<B, 3> {
    burn::tensor::module::embedding(t.float("x"), t.int("ids")).sum_dim(1)
}

fn entropy<B: Backend>(t: &Tensors<B>, a: &Attributes, config: CrossEntropyLossConfig) -> Tensor<B, 1> {
    mean_alone(a);
    config.init(&t.device).forward(t.float("x"), t.int("ids"))
}

fn mean_alone(a: &Attributes) {
    if a["reduction"] != "mean" {
        panic!("not offered: another reduction than the mean");
    }
}

fn given<B: Backend>(t: &Tensors<B>, name: &str) -> Param<Tensor<B, 1>> {
    Param::initialized(ParamId::new(), t.float(name))
}

fn number(a: &Attributes, name: &str) -> f64 {
    a[name].as_f64().unwrap()
}
