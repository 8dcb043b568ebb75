use crate::glue::Tensors;
use crate::swept::Attributes;
use burn::nn::DropoutConfig;
use burn::tensor::{Distribution, Tensor, TensorData};

pub fn uniform(t: &Tensors, a: &Attributes) -> Tensor<1> {
    let (low, high) = (number(a, "low"), number(a, "high"));
    let edge = low + 0.75 * (high - low);
    statistics(t, a, Distribution::Uniform(low, high), [low, high], |x| x > edge)
}

pub fn normal(t: &Tensors, a: &Attributes) -> Tensor<1> {
    let (mean, spread) = (number(a, "mean"), number(a, "spread"));
    let beyond = |x: f64| (x - mean).abs() > 2.0 * spread;
    statistics(t, a, Distribution::Normal(mean, spread), [-100.0, 100.0], beyond)
}

pub fn whole(t: &Tensors, a: &Attributes) -> Tensor<1> {
    seed(t, a);
    let (low, high) = (number(a, "low"), number(a, "high"));
    let of = Distribution::Uniform(low, high);
    let x = Tensor::<1, burn::tensor::Int>::random([count(a)], of, &t.device);
    let x: Vec<f64> = x.into_data().iter::<f64>().collect();
    let mut shares: Vec<f64> = (low as i64..high as i64).map(|n| share(&x, |x| x == n as f64)).collect();
    shares.push(share(&x, |x| x < low || x >= high));
    answer(t, &shares)
}

pub fn bernoulli(t: &Tensors, a: &Attributes) -> Tensor<1> {
    seed(t, a);
    let x = drawn(t, a, Distribution::Bernoulli(number(a, "p")));
    answer(t, &[share(&x, |x| x == 1.0), share(&x, |x| x != 1.0 && x != 0.0)])
}

pub fn dropout(t: &Tensors, a: &Attributes) -> Tensor<1> {
    seed(t, a);
    let layer = DropoutConfig::new(number(a, "rate")).init();
    let y = listed(layer.forward(Tensor::<1>::ones([count(a)], &t.device)));
    let most = y.iter().copied().fold(0.0, f64::max);
    answer(t, &[mean(&y), share(&y, |y| y == 0.0), most])
}

pub fn categorical(t: &Tensors, a: &Attributes) -> Tensor<1> {
    seed(t, a);
    let weights = t.float::<1>("weights");
    let classes = weights.dims()[0];
    let x: Vec<f64> = weights.categorical(count(a)).into_data().iter::<f64>().collect();
    let shares: Vec<f64> = (0..classes).map(|n| share(&x, |x| x == n as f64)).collect();
    answer(t, &shares)
}

/// Mean, variance, share beyond an edge, and 1 or 0: in range, distinct, the same from the same seed, another one after it.
fn statistics(t: &Tensors, a: &Attributes, of: Distribution, [low, high]: [f64; 2], beyond: impl Fn(f64) -> bool) -> Tensor<1> {
    seed(t, a);
    let (x, following) = (drawn(t, a, of), drawn(t, a, of));
    seed(t, a);
    let again = drawn(t, a, of);
    let middle = mean(&x);
    let away: Vec<f64> = x.iter().map(|n| (n - middle).powi(2)).collect();
    let mut distinct = x.clone();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    let facts = [share(&x, |x| x < low || x >= high) == 0.0, distinct.len() >= number(a, "least") as usize, x == again, x != following];
    let mut all = vec![mean(&x), mean(&away), share(&x, beyond)];
    all.extend(facts.map(|fact| fact as u8 as f64));
    answer(t, &all)
}

fn seed(t: &Tensors, a: &Attributes) {
    t.device.seed(a["seed"].as_u64().unwrap());
}

fn drawn(t: &Tensors, a: &Attributes, of: Distribution) -> Vec<f64> {
    listed(Tensor::<1>::random([count(a)], of, &t.device))
}

fn listed(x: Tensor<1>) -> Vec<f64> {
    x.into_data().convert::<f64>().iter::<f64>().collect()
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

fn share(x: &[f64], has: impl Fn(f64) -> bool) -> f64 {
    x.iter().filter(|&&x| has(x)).count() as f64 / x.len() as f64
}

fn answer(t: &Tensors, numbers: &[f64]) -> Tensor<1> {
    Tensor::from_data(TensorData::new(numbers.to_vec(), [numbers.len()]), &t.device)
}

fn count(a: &Attributes) -> usize {
    a["count"].as_u64().unwrap() as usize
}

fn number(a: &Attributes, name: &str) -> f64 {
    a[name].as_f64().unwrap()
}
