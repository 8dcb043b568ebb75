use crate::at_rank;
use crate::glue::{Answer, Tensors};
use crate::swept::Attributes;
use burn::nn::loss::{CosineEmbeddingLossConfig, GaussianNLLLossConfig, HingeEmbeddingLossConfig};
use burn::nn::loss::{HuberLossConfig, KLDivLossConfig, LpLossConfig, MarginRankingLossConfig};
use burn::nn::loss::{MseLoss, MultiMarginLossConfig, PoissonNllLossConfig, Reduction};
use burn::nn::loss::{SmoothL1LossConfig, SoftMarginLoss, TripletMarginLossConfig};
use burn::tensor::Tensor;

pub fn mse(t: &Tensors, a: &Attributes) -> Answer {
    let loss = MseLoss::new();
    at_rank!(t.rank(), D => match reduction(a) {
        Some(by) => Answer::from(loss.forward(t.float::<D>("x"), t.float("t"), by)),
        None => Answer::from(loss.forward_no_reduction(t.float::<D>("x"), t.float("t"))),
    })
}

pub fn l1(t: &Tensors, a: &Attributes) -> Answer {
    let loss = LpLossConfig::l1();
    at_rank!(t.rank(), D => match reduction(a) {
        Some(by) => Answer::from(loss.forward(t.float::<D>("x"), t.float("t"), by)),
        None => Answer::from(loss.forward_no_reduction(t.float::<D>("x"), t.float("t"))),
    })
}

pub fn huber(t: &Tensors, a: &Attributes) -> Answer {
    let loss = HuberLossConfig::new(number(a, "delta")).init();
    at_rank!(t.rank(), D => match reduction(a) {
        Some(by) => Answer::from(loss.forward(t.float::<D>("x"), t.float("t"), by)),
        None => Answer::from(loss.forward_no_reduction(t.float::<D>("x"), t.float("t"))),
    })
}

pub fn smooth_l1(t: &Tensors, a: &Attributes) -> Answer {
    let config = SmoothL1LossConfig::new().with_beta(number(a, "beta"));
    let loss = config.init();
    at_rank!(t.rank(), D => match reduction(a) {
        Some(by) => Answer::from(loss.forward_with_reduction(t.float::<D>("x"), t.float("t"), by)),
        None => Answer::from(loss.forward(t.float::<D>("x"), t.float("t"))),
    })
}

pub fn kl_div(t: &Tensors, a: &Attributes) -> Answer {
    let loss = KLDivLossConfig::new().init();
    let by = if a["reduction"] == "sum" {
        Reduction::Sum
    } else {
        Reduction::BatchMean
    };
    at_rank!(t.rank(), D => loss.forward(t.float::<D>("x"), t.float("t"), by))
}

pub fn kl_div_elements(t: &Tensors, a: &Attributes) -> Answer {
    let loss = KLDivLossConfig::new().init();
    at_rank!(t.rank(), D => match reduction(a) {
        Some(by) => Answer::from(loss.forward(t.float::<D>("x"), t.float("t"), by)),
        None => Answer::from(loss.forward_no_reduction(t.float::<D>("x"), t.float("t"))),
    })
}

pub fn kl_div_log_target(t: &Tensors, a: &Attributes) -> Answer {
    let loss = KLDivLossConfig::new().with_log_target(true).init();
    let by = if a["reduction"] == "sum" {
        Reduction::Sum
    } else {
        Reduction::BatchMean
    };
    at_rank!(t.rank(), D => loss.forward(t.float::<D>("x"), t.float("t"), by))
}

pub fn cosine_embedding(t: &Tensors, a: &Attributes) -> Tensor<1> {
    let config = CosineEmbeddingLossConfig::new().with_margin(number(a, "margin"));
    match reduction(a) {
        Some(by) => {
            let loss = config.with_reduction(by).init();
            loss.forward(t.float("a"), t.float("b"), t.int("target"))
        }
        None => {
            let loss = config.init();
            loss.forward_no_reduction(t.float("a"), t.float("b"), t.int("target"))
        }
    }
}

pub fn poisson_nll(t: &Tensors, a: &Attributes) -> Answer {
    counted(t, a, PoissonNllLossConfig::new().with_log_input(false))
}

pub fn poisson_nll_log(t: &Tensors, a: &Attributes) -> Answer {
    counted(t, a, PoissonNllLossConfig::new())
}

pub fn hinge_embedding(t: &Tensors, a: &Attributes) -> Answer {
    let loss = HingeEmbeddingLossConfig::new()
        .with_margin(margin(a))
        .init();
    at_rank!(t.rank(), D => {
        let (x, target) = (t.float::<D>("x"), t.int::<D>("target").float());
        match reduction(a) {
            Some(by) => Answer::from(loss.forward(x, target, by)),
            None => Answer::from(loss.forward_no_reduction(x, target)),
        }
    })
}

pub fn soft_margin(t: &Tensors, a: &Attributes) -> Answer {
    let loss = SoftMarginLoss::new();
    at_rank!(t.rank(), D => {
        let (x, target) = (t.float::<D>("x"), t.int::<D>("target").float());
        match reduction(a) {
            Some(by) => Answer::from(loss.forward(x, target, by)),
            None => Answer::from(loss.forward_no_reduction(x, target)),
        }
    })
}

pub fn margin_ranking(t: &Tensors, a: &Attributes) -> Answer {
    let loss = MarginRankingLossConfig::new().with_margin(margin(a)).init();
    at_rank!(t.rank(), D => {
        let (x, y, target) = (t.float::<D>("a"), t.float("b"), t.int::<D>("target").float());
        match reduction(a) {
            Some(by) => Answer::from(loss.forward(x, y, target, by)),
            None => Answer::from(loss.forward_no_reduction(x, y, target)),
        }
    })
}

pub fn triplet(t: &Tensors, a: &Attributes) -> Tensor<1> {
    if t.rank() > 2 {
        panic!("not offered: rows of more than one axis");
    }
    let loss = TripletMarginLossConfig::new().with_margin(margin(a)).init();
    match reduction(a) {
        Some(by) => loss.forward(t.float("a"), t.float("b"), t.float("c"), by),
        None => loss.forward_no_reduction(t.float("a"), t.float("b"), t.float("c")),
    }
}

pub fn multi_margin(t: &Tensors, a: &Attributes) -> Tensor<1> {
    let config = MultiMarginLossConfig::new().with_margin(margin(a));
    let loss = config.with_p(a["power"].as_i64().unwrap() as i32).init();
    match reduction(a) {
        Some(by) => loss.forward(t.float("x"), t.int("ids"), by),
        None => loss.forward_no_reduction(t.float("x"), t.int("ids")),
    }
}

pub fn gaussian_nll(t: &Tensors, a: &Attributes) -> Answer {
    let loss = GaussianNLLLossConfig::new()
        .with_full(a["full"] == true)
        .init();
    at_rank!(t.rank(), D => {
        let (x, target, v) = (t.float::<D>("x"), t.float("t"), t.float("v"));
        match reduction(a) {
            Some(by) => Answer::from(loss.forward(x, target, v, by)),
            None => Answer::from(loss.forward_no_reduction(x, target, v)),
        }
    })
}

fn counted(t: &Tensors, a: &Attributes, config: PoissonNllLossConfig) -> Answer {
    let loss = config.with_full(a["full"] == true).init();
    at_rank!(t.rank(), D => {
        let target = t.int::<D>("target").float();
        match reduction(a) {
            Some(by) => Answer::from(loss.forward(t.float::<D>("x"), target, by)),
            None => Answer::from(loss.forward_no_reduction(t.float::<D>("x"), target)),
        }
    })
}

fn reduction(a: &Attributes) -> Option<Reduction> {
    match a["reduction"].as_str() {
        Some("mean") => Some(Reduction::Mean),
        Some("sum") => Some(Reduction::Sum),
        _ => None,
    }
}

fn number(a: &Attributes, name: &str) -> f32 {
    a[name].as_f64().unwrap() as f32
}

fn margin(a: &Attributes) -> f64 {
    a["margin"].as_f64().unwrap()
}
