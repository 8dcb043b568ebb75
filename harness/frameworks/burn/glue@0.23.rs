//! burn from 0.23 on: one tensor type, and a device whose default dtype is the one asked; careful that burn settles it once a process.

use crate::protocol::Refusal;
use crate::tensors;
use burn::tensor::{Device, FloatDType};
use safetensors::tensor::Dtype;
use serde_json::{json, Map, Value};
use std::sync::OnceLock;

pub type Tensors = tensors::Tensors;
/// What a run file's function must be.
pub type Run = fn(&Tensors, &Device) -> Tensors;

macro_rules! run {
    ($($function:ident)::+) => {
        $($function)::+
    };
}

pub struct Inputs {
    tensors: Tensors,
    dtype: FloatDType,
}

pub fn load(path: &str, dtype: &str) -> Result<Inputs, Refusal> {
    let (dtype, stored) = match dtype {
        "float64" => (FloatDType::F64, Dtype::F64),
        "float32" => (FloatDType::F32, Dtype::F32),
        "bfloat16" => (FloatDType::BF16, Dtype::BF16),
        "float16" => (FloatDType::F16, Dtype::F16),
        other => return Err(format!("no dtype {other}").into()),
    };
    Ok(Inputs {
        tensors: tensors::read(path, stored)?,
        dtype,
    })
}

pub fn call(run: Run, inputs: &Inputs) -> Result<Tensors, Refusal> {
    static DEVICE: OnceLock<Result<Device, String>> = OnceLock::new();
    let device = DEVICE.get_or_init(|| {
        let mut device = Device::flex();
        device
            .configure(inputs.dtype)
            .map_err(|bad| bad.to_string())?;
        Ok(device.autodiff())
    });
    let device = device
        .as_ref()
        .map_err(|bad| Refusal::Framework(bad.clone()))?;
    Ok(run(&inputs.tensors, device))
}

pub fn save(out: Tensors, path: &str) -> Result<(), String> {
    let parts = out
        .iter()
        .map(|(name, data)| (name, data.dtype(), data.shape().to_vec(), data.as_bytes()));
    tensors::write(parts, path)
}

pub fn facts(_dtype: &str) -> Map<String, Value> {
    Map::from_iter([(
        "backend".to_string(),
        json!(format!("{:?}", Device::flex())),
    )])
}
