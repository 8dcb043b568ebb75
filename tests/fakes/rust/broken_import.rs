use candle_core::{Result, Tensor};
use candle_nn::{ops::does_not_exist, Linear};
use std::collections::BTreeMap;

pub fn run(t: &BTreeMap<String, Tensor>) -> Result<BTreeMap<String, Tensor>> {
    Ok(BTreeMap::from([("y".to_string(), does_not_exist(&t["x"])?)]))
}
