use candle_core::{DType, Device, Result, Tensor};
use candle_nn::ops;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn uniform(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let (low, high) = (number(a, "low"), number(a, "high"));
    let edge = low + 0.75 * (high - low);
    statistics(t, a, [low, high], |x| x.rand_like(low, high), |x| x.gt(edge))
}

pub fn normal(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let (mean, spread) = (number(a, "mean"), number(a, "spread"));
    let far = |x: &Tensor| (x - mean)?.abs()?.gt(2. * spread);
    statistics(t, a, [-100., 100.], |x| x.randn_like(mean, spread), far)
}

pub fn dropout(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let ones = zeros(t, a)?.ones_like()?;
    let y = ops::dropout(&ones, number(a, "rate") as f32)?.to_dtype(DType::F64)?;
    let dropped = y.eq(0f64)?.to_dtype(DType::F64)?;
    Tensor::stack(&[y.mean_all()?, dropped.mean_all()?, y.max_all()?], 0)
}

/// The generator of a CPU takes no seed, and says so: that the same one gives the same numbers is not asked.
fn statistics(
    t: &Tensors,
    a: &Attributes,
    [low, high]: [f64; 2],
    draw: impl Fn(&Tensor) -> Result<Tensor>,
    beyond: impl Fn(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    let (x, next) = (draw(&zeros(t, a)?)?.to_dtype(DType::F64)?, draw(&zeros(t, a)?)?.to_dtype(DType::F64)?);
    let (mut numbers, next) = (x.to_vec1::<f64>()?, next.to_vec1::<f64>()?);
    let another = numbers != next;
    let inside = numbers.iter().all(|n| (low..high).contains(n));
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    let distinct = numbers.len() as f64 >= number(a, "least");
    let facts = [inside, distinct, true, another].map(|fact| fact as u8 as f64);
    let mean = x.mean_all()?;
    let var = x.var(0)?;
    let share = beyond(&x)?.to_dtype(DType::F64)?.mean_all()?;
    Tensor::cat(&[Tensor::stack(&[mean, var, share], 0)?, Tensor::new(&facts, &Device::Cpu)?], 0)
}

fn zeros(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    Tensor::zeros(number(a, "count") as usize, t["like"].dtype(), &Device::Cpu)
}

fn number(a: &Attributes, name: &str) -> f64 {
    a[name].as_f64().expect("a number")
}
