//! Plain Rust: candle only hands the numbers in and out.

use candle_core::{Result, Tensor};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

fn ordered(weights: &[f32], state: &[Vec<f32>], j: usize) -> f32 {
    (1..weights.len()).fold(weights[0] * state[0][j], |total, i| total + weights[i] * state[i][j])
}

pub fn sequential(t: &Tensors) -> Result<Tensors> {
    let [q, k, v] = [t["q"].to_vec3::<f32>()?, t["k"].to_vec3()?, t["v"].to_vec3()?];
    let [gate, beta] = [t["gate"].to_vec2::<f32>()?, t["beta"].to_vec2()?];
    let (mut state, mut out) = (t["state"].to_vec3::<f32>()?, v.clone());
    for (i, token) in out.iter_mut().enumerate() {
        for (h, head) in token.iter_mut().enumerate() {
            state[h].iter_mut().flatten().for_each(|x| *x *= gate[i][h]);
            for (j, value) in head.iter_mut().enumerate() {
                let correction = beta[i][h] * (v[i][h][j] - ordered(&k[i][h], &state[h], j));
                state[h].iter_mut().zip(&k[i][h]).for_each(|(row, k)| row[j] += k * correction);
                *value = ordered(&q[i][h], &state[h], j);
            }
        }
    }
    let device = t["q"].device();
    let out = Tensor::from_vec(out.into_iter().flatten().flatten().collect(), t["v"].shape(), device)?;
    let state = Tensor::from_vec(state.into_iter().flatten().flatten().collect(), t["state"].shape(), device)?;
    Ok(BTreeMap::from([("out".to_string(), out), ("state".to_string(), state)]))
}
