//! Safetensors to Burn's tensor data and back, for every version's glue; an element's bytes are those of a little-endian machine.

use burn::tensor::{bf16, f16, DType, TensorData};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::collections::BTreeMap;

pub type Tensors = BTreeMap<String, TensorData>;

pub fn read(path: &str, float: Dtype) -> Result<Tensors, String> {
    let bytes = std::fs::read(path).map_err(|bad| format!("{path}: {bad}"))?;
    let file = SafeTensors::deserialize(&bytes).map_err(|bad| format!("{path}: {bad}"))?;
    let mut tensors = Tensors::new();
    for (name, view) in file.iter() {
        let (raw, shape) = (view.data(), view.shape().to_vec());
        let data = match view.dtype() {
            Dtype::I64 => TensorData::new(elements(raw, i64::from_le_bytes), shape),
            other if other != float => {
                return Err(format!("{name} is {other:?}, asked was {float:?} or I64"))
            }
            Dtype::F64 => TensorData::new(elements(raw, f64::from_le_bytes), shape),
            Dtype::F32 => TensorData::new(elements(raw, f32::from_le_bytes), shape),
            Dtype::BF16 => TensorData::new(elements(raw, bf16::from_le_bytes), shape),
            Dtype::F16 => TensorData::new(elements(raw, f16::from_le_bytes), shape),
            other => return Err(format!("{name} is {other:?}: teach tensors.rs")),
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

/// Name, type, shape and bytes of a tensor: TensorData's fields are private from 0.23 on, its methods missing before.
pub type Part<'a> = (&'a String, DType, Vec<usize>, &'a [u8]);

pub fn write<'a>(out: impl Iterator<Item = Part<'a>>, path: &str) -> Result<(), String> {
    let mut views = Vec::new();
    for (name, dtype, shape, bytes) in out {
        let dtype = match dtype {
            DType::F64 => Dtype::F64,
            DType::F32 => Dtype::F32,
            DType::BF16 => Dtype::BF16,
            DType::F16 => Dtype::F16,
            DType::I64 => Dtype::I64,
            DType::I32 => Dtype::I32,
            other => return Err(format!("{name} is {other:?}: teach tensors.rs")),
        };
        views.push((
            name,
            TensorView::new(dtype, shape, bytes).map_err(|bad| bad.to_string())?,
        ));
    }
    safetensors::serialize_to_file(views, None, path.as_ref()).map_err(|bad| bad.to_string())
}
