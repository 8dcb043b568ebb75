//! burn to 0.22: the backend of a column and a dtype; careful that a dtype the backend lacks is refused by burn itself.

use crate::protocol::Refusal;
use crate::tensors;
use burn::backend::Autodiff;
#[cfg(not(feature = "wgpu"))]
use burn::backend::NdArray as Inner;
#[cfg(feature = "wgpu")]
use burn::backend::Wgpu as Inner;
use burn::tensor::{backend::Backend, Device, FloatDType, Tensor, TensorData};
use safetensors::tensor::Dtype;
use serde_json::{json, Map, Value};

pub type Tensors = tensors::Tensors;
pub type B64 = Autodiff<Inner<f64>>;
pub type B32 = Autodiff<Inner<f32>>;

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
    /// No backend of ours has these as its element; `call` asks for one as a user would.
    Low(FloatDType, &'static str),
}

pub fn load(path: &str, dtype: &str) -> Result<Inputs, Refusal> {
    adapter()?;
    match dtype {
        "float64" => Ok(Inputs::Float64(tensors::read(path, Dtype::F64)?)),
        "float32" => Ok(Inputs::Float32(tensors::read(path, Dtype::F32)?)),
        "bfloat16" => Ok(Inputs::Low(FloatDType::BF16, "bfloat16")),
        "float16" => Ok(Inputs::Low(FloatDType::F16, "float16")),
        other => Err(format!("no dtype {other}").into()),
    }
}

pub fn call(run: Run, inputs: &Inputs) -> Result<Tensors, Refusal> {
    match inputs {
        Inputs::Float64(tensors) => Ok((run.float64)(tensors, &Default::default())),
        Inputs::Float32(tensors) => Ok((run.float32)(tensors, &Default::default())),
        Inputs::Low(dtype, name) => {
            let small =
                Tensor::<B32, 1>::from_data(TensorData::from([1.0f32]), &Default::default());
            let _ = small.cast(*dtype).into_data();
            Err(format!("burn accepted {name}: teach the glue").into())
        }
    }
}

pub fn save(out: Tensors, path: &str) -> Result<(), String> {
    let parts = out
        .iter()
        .map(|(name, data)| (name, data.dtype, data.shape.to_vec(), data.as_bytes()));
    tensors::write(parts, path)
}

pub fn facts(dtype: &str) -> Map<String, Value> {
    let backend = if dtype == "float64" {
        B64::name(&Default::default())
    } else {
        B32::name(&Default::default())
    };
    let mut facts = Map::from_iter([("backend".to_string(), json!(backend))]);
    if let Ok(Some(adapter)) = adapter() {
        facts.insert("adapter".to_string(), json!(adapter));
    }
    facts
}

#[cfg(not(feature = "wgpu"))]
fn adapter() -> Result<Option<&'static str>, Refusal> {
    Ok(None)
}

/// The Vulkan device that answers: set up before a run file uses it, as that panics where there is none.
#[cfg(feature = "wgpu")]
fn adapter() -> Result<Option<&'static str>, Refusal> {
    use burn::backend::wgpu::{graphics::Vulkan, init_setup};
    static ADAPTER: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    let found = ADAPTER.get_or_init(|| {
        let setup = std::panic::catch_unwind(|| {
            init_setup::<Vulkan>(&Default::default(), Default::default())
        });
        setup.ok().map(|setup| setup.adapter.get_info().name)
    });
    let none = "no Vulkan device; wanted: one, a processor's will do; do: apt install mesa-vulkan-drivers libvulkan1";
    found
        .as_deref()
        .map(Some)
        .ok_or(Refusal::Device(none.to_string()))
}
