//! candle: safetensors in, safetensors out, and the signature of its run files.

use crate::protocol::Refusal;
use candle_core::{safetensors, Device, Error, Result, Tensor};
use serde_json::{json, Map, Value};
use std::collections::{BTreeMap, HashMap};

pub type Tensors = BTreeMap<String, Tensor>;
pub type Inputs = Tensors;
/// What a run file's function must be.
pub type Run = fn(&Tensors) -> Result<Tensors>;

macro_rules! run {
    ($($function:ident)::+) => {
        $($function)::+
    };
}

pub fn load(path: &str, dtype: &str) -> std::result::Result<Inputs, Refusal> {
    let tensors: Inputs = safetensors::load(path, &Device::Cpu)
        .map_err(|bad| bad.to_string())?
        .into_iter()
        .collect();
    match tensors
        .iter()
        .find(|(_, t)| t.dtype().is_float() && t.dtype().as_str() != short(dtype))
    {
        Some((name, t)) => {
            Err(format!("{name} is {}, asked was {dtype}", t.dtype().as_str()).into())
        }
        None => Ok(tensors),
    }
}

fn short(dtype: &str) -> &str {
    match dtype {
        "float64" => "f64",
        "float32" => "f32",
        "float16" => "f16",
        "bfloat16" => "bf16",
        other => other,
    }
}

pub fn call(run: Run, inputs: &Inputs) -> std::result::Result<Tensors, Refusal> {
    run(inputs).map_err(|refused| match refused {
        Error::NotCompiledWithCudaSupport => Refusal::Device(refused.to_string()),
        _ => Refusal::Framework(refused.to_string()),
    })
}

pub fn save(out: Tensors, path: &str) -> std::result::Result<(), String> {
    let written = out
        .into_iter()
        .map(|(name, tensor)| Ok((name, tensor.contiguous()?)))
        .collect::<Result<HashMap<_, _>>>();
    written
        .and_then(|out| safetensors::save(&out, path))
        .map_err(|bad| bad.to_string())
}

pub fn facts(_dtype: &str) -> Map<String, Value> {
    Map::from_iter([(
        "threads".to_string(),
        json!(candle_core::utils::get_num_threads()),
    )])
}
