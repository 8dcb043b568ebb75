//! burn from 0.23 on: gradients of any function of tensors, and the views a buffer can be seen through; in place of glue.rs in a sweep's probe.

use crate::protocol::Refusal;
use crate::swept::{self, Attributes, Example};
use crate::tensors;
use burn::tensor::{Bool, Device, Float, FloatDType, Int, IntDType, Shape, Tensor, TensorData};
use safetensors::tensor::Dtype;
use serde_json::{json, Map, Value};
use std::collections::BTreeMap;

/// A tensor whose rank is known when it is asked: Burn's is a part of its type.
#[derive(Clone)]
pub enum Any {
    R1(Tensor<1>),
    R2(Tensor<2>),
    R3(Tensor<3>),
    R4(Tensor<4>),
    R5(Tensor<5>),
}

macro_rules! ranked {
    ($any:expr, $x:ident => $body:expr) => {
        match $any {
            $crate::glue::Any::R1($x) => $body,
            $crate::glue::Any::R2($x) => $body,
            $crate::glue::Any::R3($x) => $body,
            $crate::glue::Any::R4($x) => $body,
            $crate::glue::Any::R5($x) => $body,
        }
    };
}

/// The same expression for a tensor of any rank.
#[macro_export]
macro_rules! each_rank {
    ($any:expr, $x:ident => $body:expr) => {
        ranked!($any, $x => $crate::glue::Any::from($body))
    };
}

/// The same expression for the rank D that is known when it is asked.
#[macro_export]
macro_rules! at_rank {
    ($rank:expr, $D:ident => $body:expr) => {
        match $rank {
            1 => $crate::at_rank!(1, $D, $body),
            2 => $crate::at_rank!(2, $D, $body),
            3 => $crate::at_rank!(3, $D, $body),
            4 => $crate::at_rank!(4, $D, $body),
            _ => $crate::at_rank!(5, $D, $body),
        }
    };
    ($rank:literal, $D:ident, $body:expr) => {{
        const $D: usize = $rank;
        $crate::glue::Answer::from($body)
    }};
}

macro_rules! rank {
    ($variant:ident, $d:literal) => {
        impl From<Tensor<$d>> for Any {
            fn from(tensor: Tensor<$d>) -> Self {
                Any::$variant(tensor)
            }
        }
        impl From<Any> for Tensor<$d> {
            fn from(any: Any) -> Self {
                match any {
                    Any::$variant(tensor) => tensor,
                    other => panic!("rank {} where {} was asked", other.dims().len(), $d),
                }
            }
        }
    };
}
rank!(R1, 1);
rank!(R2, 2);
rank!(R3, 3);
rank!(R4, 4);
rank!(R5, 5);

impl Any {
    pub fn dims(&self) -> Vec<usize> {
        ranked!(self, x => x.dims().to_vec())
    }

    /// All numbers, in their order.
    fn flat(self) -> Tensor<1> {
        ranked!(self, x => flatten(x))
    }

    fn of(data: TensorData, device: &Device) -> Self {
        match data.shape().len() {
            0 => Tensor::<1>::from_data(shaped(data, vec![1]), device).into(),
            1 => Tensor::<1>::from_data(data, device).into(),
            2 => Tensor::<2>::from_data(data, device).into(),
            3 => Tensor::<3>::from_data(data, device).into(),
            4 => Tensor::<4>::from_data(data, device).into(),
            5 => Tensor::<5>::from_data(data, device).into(),
            more => panic!("no tensors of rank {more} in harness/frameworks/burn/sweep.rs"),
        }
    }
}

fn flatten<const D: usize>(x: Tensor<D>) -> Tensor<1> {
    let size = x.shape().num_elements();
    x.reshape(Shape::new([size])) // in a list a 0 is an axis's own size
}

/// What an operation answers: numbers, whole numbers or truths.
pub enum Answer {
    Float(Any),
    Data(TensorData),
}

impl From<Any> for Answer {
    fn from(any: Any) -> Self {
        Answer::Float(any)
    }
}
macro_rules! answers {
    ($kind:ident: $($d:literal)+ => $any:expr) => { $(
        impl From<Tensor<$d, $kind>> for Answer {
            fn from(tensor: Tensor<$d, $kind>) -> Self { $any(tensor) }
        }
    )+ };
}
answers!(Float: 1 2 3 4 5 => |tensor| Answer::Float(Any::from(tensor)));
// A rank more than a tensor has, or less: what matters are its numbers.
answers!(Float: 0 6 => |tensor| Answer::Float(flatten(tensor).into()));
answers!(Int: 1 2 3 4 5 6 => whole);
answers!(Bool: 1 2 3 4 5 6 => truths);

fn whole<const D: usize>(tensor: Tensor<D, Int>) -> Answer {
    Answer::Data(tensor.into_data().convert::<i64>())
}

fn truths<const D: usize>(tensor: Tensor<D, Bool>) -> Answer {
    whole(tensor.int())
}

/// The arguments of a call: tensors of floats, and whole numbers and masks as data.
pub struct Tensors {
    floats: BTreeMap<String, Any>,
    whole: BTreeMap<String, TensorData>,
    pub device: Device,
}

impl Tensors {
    /// A tensor of floats, of whatever rank it has.
    pub fn any(&self, name: &str) -> Any {
        self.floats[name].clone()
    }

    /// A tensor of floats of rank D, with axes of 1 before its own where it has fewer.
    pub fn float<const D: usize>(&self, name: &str) -> Tensor<D>
    where
        Tensor<D>: From<Any>,
    {
        match self.any(name) {
            any if any.dims().len() >= D => any.into(),
            any => ranked!(any, x => x.unsqueeze()),
        }
    }

    /// The highest rank among the tensors.
    pub fn rank(&self) -> usize {
        let names = self.floats.keys().chain(self.whole.keys());
        names.map(|name| self.dims(name).len()).max().unwrap_or(1)
    }

    pub fn has(&self, name: &str) -> bool {
        self.floats.contains_key(name) || self.whole.contains_key(name)
    }

    /// The sizes of any tensor's axes.
    pub fn dims(&self, name: &str) -> Vec<usize> {
        self.floats
            .get(name)
            .map_or_else(|| self.whole[name].shape().to_vec(), |any| any.dims())
    }

    /// Whole numbers, likewise.
    pub fn int<const D: usize>(&self, name: &str) -> Tensor<D, Int> {
        let data = self.whole[name].clone();
        let mut shape = data.shape().to_vec();
        while shape.len() < D {
            shape.insert(0, 1);
        }
        Tensor::from_data(shaped(data, shape), &self.device)
    }

    pub fn mask<const D: usize>(&self, name: &str) -> Tensor<D, Bool> {
        self.int::<D>(name).equal_elem(1)
    }
}

/// What a run file's function must be.
pub type Run = fn(&Tensors, &Attributes) -> Answer;

macro_rules! run {
    ($($function:ident)::+) => {
        |t, a| $($function)::+(t, a).into()
    };
}

pub struct Inputs {
    tensors: tensors::Tensors,
    examples: Vec<Example>,
    dtype: String,
}

pub fn load(path: &str, dtype: &str) -> Result<Inputs, Refusal> {
    Ok(Inputs {
        tensors: tensors::read(path, element(dtype).1)?,
        examples: swept::examples(path)?,
        dtype: dtype.to_string(),
    })
}

/// Of the floats of a file; an operation on whole numbers has upstream gradients of float64 beside it, which nobody asks.
fn element(dtype: &str) -> (FloatDType, Dtype) {
    match dtype {
        "float32" => (FloatDType::F32, Dtype::F32),
        "bfloat16" => (FloatDType::BF16, Dtype::BF16),
        "float16" => (FloatDType::F16, Dtype::F16),
        _ => (FloatDType::F64, Dtype::F64),
    }
}

pub fn call(run: Run, inputs: &Inputs) -> Result<tensors::Tensors, Refusal> {
    let mut device = Device::flex();
    device
        .configure((element(&inputs.dtype).0, IntDType::I64)) // of its own it takes int32
        .map_err(|bad| Refusal::Framework(bad.to_string()))?;
    let device = device.autodiff();
    Ok(swept::each(&inputs.examples, |example| {
        one(run, example, &inputs.tensors, &device)
    }))
}

fn one(
    run: Run,
    example: &Example,
    stored: &tensors::Tensors,
    device: &Device,
) -> Result<tensors::Tensors, String> {
    let mut leaves = BTreeMap::new();
    let mut given = Tensors {
        floats: BTreeMap::new(),
        whole: BTreeMap::new(),
        device: device.clone(),
    };
    for (name, shape) in &example.tensors {
        let data = stored[&example.stored(name)].clone();
        if !example.floats.contains(name) {
            given.whole.insert(name.clone(), data);
            continue;
        }
        let leaf = each_rank!(Any::of(data, device), x => x.require_grad());
        let seen = each_rank!(leaf.clone(), x => {
            let seen = view(x, example.layout(name), shape);
            if example.chain { seen.clone() + seen } else { seen }
        });
        leaves.insert(name.clone(), leaf);
        given.floats.insert(name.clone(), seen);
    }
    let upstream = stored[&example.stored("upstream")].clone();
    let answer = match given.floats.values().next() {
        Some(seen) if example.view => seen.clone().into(),
        _ => run(&given, &example.attributes),
    };
    let y = match answer {
        Answer::Data(data) => {
            let shape = asked(&upstream, data.shape().to_vec());
            return Ok(BTreeMap::from([("y".to_string(), shaped(data, shape))]));
        }
        Answer::Float(y) if example.twice => each_rank!(y, x => x.clone() + x),
        Answer::Float(y) => y,
    };
    let shape = asked(&upstream, y.dims());
    let mut out = BTreeMap::new();
    let flat = y.flat();
    if example.gradient {
        let size = upstream.shape().iter().product();
        let upstream = Tensor::<1>::from_data(shaped(upstream, vec![size]), device);
        let grads = (flat.clone() * upstream).sum().backward();
        for (name, leaf) in leaves {
            let gradient = ranked!(leaf, x => x.grad(&grads).map(|g| g.into_data()));
            out.extend(gradient.map(|g| (format!("d{name}"), g)));
        }
    }
    out.insert("y".to_string(), shaped(flat.into_data(), shape));
    Ok(out)
}

/// Burn keeps an axis that it reduces: the numbers are compared in the shape that was asked.
fn asked(upstream: &TensorData, own: Vec<usize>) -> Vec<usize> {
    let count = |shape: &[usize]| shape.iter().product::<usize>();
    if count(&upstream.shape()) == count(&own) {
        upstream.shape().to_vec()
    } else {
        own
    }
}

fn shaped(data: TensorData, shape: Vec<usize>) -> TensorData {
    let (bytes, _, dtype) = data.into_parts();
    TensorData::from_bytes(bytes, shape, dtype)
}

fn view<const D: usize>(buffer: Tensor<D>, layout: &str, shape: &[usize]) -> Tensor<D> {
    match layout {
        "transposed" => buffer.swap_dims(D - 2, D - 1),
        "strided" => {
            let every: Vec<i64> = (0..shape[D - 1] as i64).map(|i| 2 * i).collect();
            let every = Tensor::<1, Int>::from_ints(every.as_slice(), &buffer.device());
            buffer.select(D - 1, every)
        }
        "offset" => buffer.narrow(0, 1, shape[0]),
        "broadcast" => {
            let sizes: [usize; D] = shape.try_into().expect("a shape of the tensor's rank");
            buffer.expand(sizes)
        }
        _ => buffer,
    }
}

pub fn save(out: tensors::Tensors, path: &str) -> Result<(), String> {
    let parts = out
        .iter()
        .map(|(name, data)| (name, data.dtype(), data.shape().to_vec(), data.as_bytes()));
    tensors::write(parts, path)
}

pub fn facts(_dtype: &str) -> Map<String, Value> {
    Map::from_iter([
        (
            "backend".to_string(),
            json!(format!("{:?}", Device::flex())),
        ),
        ("said".to_string(), json!(swept::said())),
    ])
}
