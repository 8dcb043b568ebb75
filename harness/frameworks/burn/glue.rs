//! burn: the backend of a dtype, safetensors in, safetensors out; careful that a dtype the backend lacks is refused by burn itself.

use crate::protocol::Refusal;
use burn::backend::{Autodiff, NdArray};
use burn::tensor::{backend::Backend, DType, Device, FloatDType, Tensor, TensorData};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde_json::{json, Map, Value};
use std::collections::BTreeMap;

pub type Tensors = BTreeMap<String, TensorData>;
pub type B64 = Autodiff<NdArray<f64>>;
pub type B32 = Autodiff<NdArray<f32>>;

/// What a run file's function must be, for each backend it is asked on.
#[derive(Clone, Copy)]
pub struct Run {
    pub float64: fn(&Tensors, &Device<B64>) -> Tensors,
    pub float32: fn(&Tensors, &Device<B32>) -> Tensors,
}

macro_rules! run {
    ($($function:ident)::+) => {
        crate::glue::Run {
            float64: $($function)::+::<crate::glue::B64>,
            float32: $($function)::+::<crate::glue::B32>,
        }
    };
}

pub enum Inputs {
    Float64(Tensors),
    Float32(Tensors),
    /// No NdArray backend has these as its element; `call` asks for one as a user would.
    Low(FloatDType, &'static str),
}

pub fn load(path: &str, dtype: &str) -> Result<Inputs, String> {
    match dtype {
        "float64" => Ok(Inputs::Float64(read(path, Dtype::F64)?)),
        "float32" => Ok(Inputs::Float32(read(path, Dtype::F32)?)),
        "bfloat16" => Ok(Inputs::Low(FloatDType::BF16, "bfloat16")),
        "float16" => Ok(Inputs::Low(FloatDType::F16, "float16")),
        other => Err(format!("no dtype {other}")),
    }
}

fn read(path: &str, float: Dtype) -> Result<Tensors, String> {
    let bytes = std::fs::read(path).map_err(|bad| format!("{path}: {bad}"))?;
    let file = SafeTensors::deserialize(&bytes).map_err(|bad| format!("{path}: {bad}"))?;
    let mut tensors = Tensors::new();
    for (name, view) in file.iter() {
        let (raw, shape) = (view.data(), view.shape().to_vec());
        let data = match view.dtype() {
            Dtype::F64 if float == Dtype::F64 => {
                TensorData::new(elements(raw, f64::from_le_bytes), shape)
            }
            Dtype::F32 if float == Dtype::F32 => {
                TensorData::new(elements(raw, f32::from_le_bytes), shape)
            }
            Dtype::I64 => TensorData::new(elements(raw, i64::from_le_bytes), shape),
            other => return Err(format!("{name} is {other:?}, asked was {float:?} or I64")),
        };
        tensors.insert(name.to_string(), data);
    }
    Ok(tensors)
}

fn elements<const N: usize, E>(raw: &[u8], read: fn([u8; N]) -> E) -> Vec<E> {
    raw.chunks_exact(N)
        .map(|element| read(element.try_into().expect("chunks of N bytes")))
        .collect()
}

pub fn call(run: Run, inputs: &Inputs) -> Result<Tensors, Refusal> {
    match inputs {
        Inputs::Float64(tensors) => Ok((run.float64)(tensors, &Default::default())),
        Inputs::Float32(tensors) => Ok((run.float32)(tensors, &Default::default())),
        Inputs::Low(dtype, name) => {
            let small =
                Tensor::<B32, 1>::from_data(TensorData::from([1.0f32]), &Default::default());
            let _ = small.cast(*dtype).into_data();
            Err(Refusal::Harness(format!(
                "burn accepted {name}: teach the glue"
            )))
        }
    }
}

pub fn save(out: Tensors, path: &str) -> Result<(), String> {
    let mut written = Vec::new();
    for (name, data) in &out {
        let (dtype, bytes) = match data.dtype {
            DType::F64 => (Dtype::F64, bytes(data, f64::to_le_bytes)?),
            DType::F32 => (Dtype::F32, bytes(data, f32::to_le_bytes)?),
            DType::I64 => (Dtype::I64, bytes(data, i64::to_le_bytes)?),
            DType::I32 => (Dtype::I32, bytes(data, i32::to_le_bytes)?),
            other => return Err(format!("{name} is {other:?}: teach the glue")),
        };
        written.push((name, dtype, data.shape.to_vec(), bytes));
    }
    let views = written.iter().map(|(name, dtype, shape, bytes)| {
        Ok((name, TensorView::new(*dtype, shape.clone(), bytes)?))
    });
    let views = views.collect::<Result<Vec<_>, safetensors::SafeTensorError>>();
    let saved = views.and_then(|views| safetensors::serialize_to_file(views, None, path.as_ref()));
    saved.map_err(|bad| bad.to_string())
}

fn bytes<const N: usize, E: burn::tensor::Element>(
    data: &TensorData,
    write: fn(E) -> [u8; N],
) -> Result<Vec<u8>, String> {
    let elements = data.as_slice::<E>().map_err(|bad| format!("{bad:?}"))?;
    Ok(elements
        .iter()
        .flat_map(|element| write(*element))
        .collect())
}

pub fn facts(dtype: &str) -> Map<String, Value> {
    let backend = if dtype == "float64" {
        B64::name(&Default::default())
    } else {
        B32::name(&Default::default())
    };
    Map::from_iter([("backend".to_string(), json!(backend))])
}
