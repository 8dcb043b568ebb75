//! candle: gradients of any function of tensors, and the views a buffer can be seen through; in place of glue.rs in a sweep's probe.

use crate::protocol::Refusal;
use crate::swept::{self, Attributes, Example};
use candle_core::{safetensors, DType, Device, Result, Tensor, Var, D};
use serde_json::{json, Map, Value};
use std::collections::{BTreeMap, HashMap};

pub type Tensors = BTreeMap<String, Tensor>;
/// What a run file's function must be.
pub type Run = fn(&Tensors, &Attributes) -> Result<Tensor>;

macro_rules! run {
    ($($function:ident)::+) => {
        $($function)::+
    };
}

pub struct Inputs {
    tensors: HashMap<String, Tensor>,
    examples: Vec<Example>,
}

pub fn load(path: &str, _dtype: &str) -> std::result::Result<Inputs, Refusal> {
    Ok(Inputs {
        tensors: safetensors::load(path, &Device::Cpu).map_err(|bad| bad.to_string())?,
        examples: swept::examples(path)?,
    })
}

pub fn call(run: Run, inputs: &Inputs) -> std::result::Result<Tensors, Refusal> {
    Ok(swept::each(&inputs.examples, |example| {
        one(run, example, &inputs.tensors).map_err(|refused| refused.to_string())
    }))
}

fn one(run: Run, example: &Example, stored: &HashMap<String, Tensor>) -> Result<Tensors> {
    let given = |name: &str| &stored[&example.stored(name)];
    let mut leaves = BTreeMap::new();
    for name in &example.floats {
        leaves.insert(name.clone(), Var::from_tensor(given(name))?);
    }
    let mut views = Tensors::new();
    for (name, shape) in &example.tensors {
        let buffer = leaves
            .get(name)
            .map_or_else(|| given(name).clone(), |leaf| leaf.as_tensor().clone());
        let mut seen = view(buffer, example.layout(name), shape)?;
        if example.chain && leaves.contains_key(name) {
            seen = (&seen + &seen)?;
        }
        views.insert(name.clone(), seen);
    }
    let mut y = match views.values().next() {
        Some(seen) if example.view => seen.clone(),
        _ => run(&views, &example.attributes)?,
    };
    if example.twice {
        y = (&y + &y)?;
    }
    let mut out = Tensors::new();
    if example.gradient {
        let grads = (&y * given("upstream"))?.sum_all()?.backward()?;
        for (name, leaf) in &leaves {
            out.extend(grads.get(leaf).map(|g| (format!("d{name}"), g.clone())));
        }
    }
    out.insert("y".to_string(), y);
    for (name, _) in &example.tensors {
        let held = leaves
            .get(name)
            .map_or(given(name), |leaf| leaf.as_tensor());
        out.insert(format!("in.{name}"), held.clone());
    }
    // A tensor whose storage ends before its shape does panics where it is read: here it costs its own example alone.
    for tensor in out.values() {
        tensor.flatten_all()?.to_dtype(DType::F64)?.to_vec1::<f64>()?;
    }
    Ok(out)
}

fn view(buffer: Tensor, layout: &str, shape: &[usize]) -> Result<Tensor> {
    match layout {
        "transposed" => buffer.transpose(D::Minus2, D::Minus1),
        "strided" => {
            let mut pairs = shape.to_vec();
            pairs.push(2);
            let pairs = buffer.reshape(pairs)?;
            pairs.narrow(D::Minus1, 0, 1)?.squeeze(D::Minus1)
        }
        "offset" => buffer.narrow(0, 1, shape[0]),
        "broadcast" => buffer.broadcast_as(shape),
        _ => Ok(buffer),
    }
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
    let threads = candle_core::utils::get_num_threads();
    Map::from_iter([
        ("threads".to_string(), json!(threads)),
        ("said".to_string(), json!(swept::said())),
    ])
}
