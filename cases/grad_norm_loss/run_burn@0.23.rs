use crate::glue::{Answer, Any, Tensors};
use crate::swept::Attributes;
use crate::{at_rank, each_rank};
use burn::module::{Param, ParamId};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{BatchNormConfig, GroupNormConfig, InstanceNormConfig};
use burn::nn::{LayerNormConfig, RmsNormConfig};
use burn::tensor::{activation, Tensor};

pub fn layer_norm(t: &Tensors, a: &Attributes) -> Any {
    let config = LayerNormConfig::new(t.dims("weight")[0]).with_epsilon(number(a, "eps"));
    let mut layer = config.init(&t.device);
    layer.gamma = given(t, "weight");
    layer.beta = Some(given(t, "bias"));
    each_rank!(t.any("x"), x => layer.forward(x))
}

pub fn layer_norm_plain(t: &Tensors, a: &Attributes) -> Any {
    let config = LayerNormConfig::new(*t.dims("x").last().unwrap());
    let layer = config.with_epsilon(number(a, "eps")).init(&t.device);
    each_rank!(t.any("x"), x => layer.forward(x))
}

pub fn rms_norm(t: &Tensors, a: &Attributes) -> Any {
    let config = RmsNormConfig::new(t.dims("weight")[0]).with_epsilon(number(a, "eps"));
    let mut layer = config.init(&t.device);
    layer.gamma = given(t, "weight");
    each_rank!(t.any("x"), x => layer.forward(x))
}

pub fn rms_norm_plain(t: &Tensors, a: &Attributes) -> Any {
    let config = RmsNormConfig::new(*t.dims("x").last().unwrap());
    let layer = config.with_epsilon(number(a, "eps")).init(&t.device);
    each_rank!(t.any("x"), x => layer.forward(x))
}

pub fn group_norm(t: &Tensors, a: &Attributes) -> Any {
    let config = GroupNormConfig::new(number(a, "groups") as usize, t.dims("weight")[0]);
    let mut layer = config.with_epsilon(number(a, "eps")).init(&t.device);
    layer.gamma = Some(given(t, "weight"));
    layer.beta = Some(given(t, "bias"));
    each_rank!(t.any("x"), x => layer.forward(x))
}

pub fn instance_norm(t: &Tensors, a: &Attributes) -> Any {
    let config = InstanceNormConfig::new(t.dims("weight")[0]).with_epsilon(number(a, "eps"));
    let mut layer = config.init(&t.device);
    layer.gamma = Some(given(t, "weight"));
    layer.beta = Some(given(t, "bias"));
    each_rank!(t.any("x"), x => layer.forward(x))
}

pub fn batch_norm_train(t: &Tensors, a: &Attributes) -> Any {
    let config = BatchNormConfig::new(t.dims("weight")[0]).with_epsilon(number(a, "eps"));
    let mut layer = config.init(&t.device);
    layer.gamma = given(t, "weight");
    layer.beta = given(t, "bias");
    each_rank!(t.any("x"), x => layer.forward(x))
}

pub fn l2_normalize(t: &Tensors, a: &Attributes) -> Any {
    use burn::tensor::linalg::{vector_normalize, Norm};
    let along = a["axis"].as_i64().unwrap();
    each_rank!(t.any("x"), x => vector_normalize(x, Norm::L2, along, number(a, "eps")))
}

pub fn cosine_similarity(t: &Tensors, a: &Attributes) -> Any {
    use burn::tensor::linalg::cosine_similarity as cosine;
    let along = a["axis"].as_i64().unwrap();
    each_rank!(t.any("a"), x => cosine(x, t.float("b"), along, None))
}

pub fn cross_entropy(t: &Tensors, a: &Attributes) -> Tensor<1> {
    entropy(t, a, CrossEntropyLossConfig::new())
}

pub fn cross_entropy_smooth(t: &Tensors, a: &Attributes) -> Tensor<1> {
    let smoothing = Some(number(a, "smoothing") as f32);
    entropy(t, a, CrossEntropyLossConfig::new().with_smoothing(smoothing))
}

pub fn cross_entropy_ignore(t: &Tensors, a: &Attributes) -> Tensor<1> {
    let Some(ignored) = a["ignore"].as_u64() else {
        panic!("not offered: to ignore a number below 0");
    };
    let ignored = Some(vec![ignored as usize]);
    entropy(t, a, CrossEntropyLossConfig::new().with_pad_tokens(ignored))
}

pub fn cross_entropy_weight(t: &Tensors, a: &Attributes) -> Tensor<1> {
    let eighths = t.int::<1>("weight8").into_data().convert::<f32>();
    let weights = eighths.iter::<f32>().map(|weight| weight / 8.0).collect();
    entropy(t, a, CrossEntropyLossConfig::new().with_weights(Some(weights)))
}

pub fn cross_entropy_soft(t: &Tensors, a: &Attributes) -> Answer {
    use burn::tensor::loss::cross_entropy_with_logits;
    mean_alone(a);
    at_rank!(t.rank(), D => {
        let target = t.int::<D>("target").float() / 8;
        cross_entropy_with_logits(t.float::<D>("x").swap_dims(1, D - 1), target.swap_dims(1, D - 1))
    })
}

pub fn log_softmax_gather(t: &Tensors, _: &Attributes) -> Tensor<2> {
    let ids = t.int::<1>("ids").unsqueeze_dim(1);
    activation::log_softmax(t.float::<2>("x"), 1).gather(1, ids)
}

pub fn embedding_sum(t: &Tensors, _: &Attributes) -> Tensor<3> {
    burn::tensor::module::embedding(t.float("x"), t.int("ids")).sum_dim(1)
}

pub fn batch_norm_eval(t: &Tensors, a: &Attributes) -> Any {
    let (mean, var) = (t.int::<1>("mean8").float() / 8, t.int::<1>("var8").float() / 8);
    let (weight, bias) = (t.float("weight"), t.float("bias"));
    each_rank!(t.any("x"), x => {
        burn::tensor::module::batch_norm(x, weight, bias, mean, var, number(a, "eps"))
    })
}

fn entropy(t: &Tensors, a: &Attributes, config: CrossEntropyLossConfig) -> Tensor<1> {
    mean_alone(a);
    config.init(&t.device).forward(t.float("x"), t.int("ids"))
}

fn mean_alone(a: &Attributes) {
    if a["reduction"] != "mean" {
        panic!("not offered: another reduction than the mean");
    }
}

fn given(t: &Tensors, name: &str) -> Param<Tensor<1>> {
    Param::initialized(ParamId::new(), t.float(name))
}

fn number(a: &Attributes, name: &str) -> f64 {
    a[name].as_f64().unwrap()
}
