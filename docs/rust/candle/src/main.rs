//! A tiny language model in candle that writes its gradients for `gradarbiter compare` and its losses for `gradarbiter exact-resume`.
//!
//! `--fused` takes candle_nn's RMSNorm as `forward` gives it, which has no backward (candle #2168): the loss falls, table and norm stay as they were.
//! candle_nn's AdamW keeps its moments to itself, so a run cannot be resumed exactly with it; `--own-adamw` is one that can be saved.

#[path = "../../tiny.rs"]
mod tiny;

use candle_core::{backprop::GradStore, safetensors, DType, Device, Result, Tensor, Var};
use candle_nn::{embedding, linear_no_bias, loss, rms_norm};
use candle_nn::{
    AdamW, Embedding, Linear, Module, Optimizer, ParamsAdamW, RmsNorm, VarBuilder, VarMap,
};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use tiny::{EPSILON, RATE, VOCABULARY, WIDTH};

struct Model {
    embedding: Embedding,
    norm: RmsNorm,
    head: Linear,
    fused: bool,
}

impl Model {
    fn new(weights: &VarMap, fused: bool) -> Result<Self> {
        let vb = VarBuilder::from_varmap(weights, DType::F32, &Device::Cpu);
        Ok(Self {
            embedding: embedding(VOCABULARY, WIDTH, vb.pp("embedding"))?,
            norm: rms_norm(WIDTH, EPSILON, vb.pp("norm"))?,
            head: linear_no_bias(WIDTH, VOCABULARY, vb.pp("head"))?,
            fused,
        })
    }

    fn loss(&self, step: usize) -> Result<Tensor> {
        let (ids, next) = tiny::batch(step);
        let (ids, next) = (
            Tensor::new(ids, &Device::Cpu)?,
            Tensor::new(next, &Device::Cpu)?,
        );
        let x = self.embedding.forward(&ids)?;
        let x = if self.fused {
            self.norm.forward(&x)?
        } else {
            self.norm.forward_diff(&x)?
        };
        loss::cross_entropy(&self.head.forward(&x)?, &next)
    }
}

fn main() -> Result<()> {
    let options = tiny::options();
    let mut weights = VarMap::new();
    let model = Model::new(&weights, options.fused)?;
    for (seed, (name, var)) in named(&weights).iter().enumerate() {
        if name != "norm.weight" {
            let first = tiny::weights(seed as u64 + 1, var.elem_count());
            var.set(&Tensor::from_vec(first, var.shape(), &Device::Cpu)?)?;
        }
    }
    let mut done = 0;
    if let Some(folder) = &options.resume {
        weights.load(folder.join("weights.safetensors"))?;
        done = std::fs::read_to_string(folder.join("step"))?
            .trim()
            .parse()
            .map_err(candle_core::Error::wrap)?;
    }
    let mut optimizer = Rule::new(&weights, options.own_adamw, options.resume.as_deref(), done)?;

    for step in done..options.steps {
        let loss = model.loss(step)?;
        let grads = loss.backward()?;
        if let (Some(path), true) = (&options.grads, step == done) {
            write_gradients(&weights, &grads, path)?;
        }
        optimizer.step(&grads)?;
        tiny::log(&options.log, step + 1, loss.to_scalar()?);
    }

    if let Some(folder) = &options.save {
        std::fs::create_dir_all(folder)?;
        weights.save(folder.join("weights.safetensors"))?;
        optimizer.save(folder)?;
        std::fs::write(folder.join("step"), options.steps.to_string())?;
    }
    Ok(())
}

// [gradients]
/// For `gradarbiter compare`. A parameter without a gradient is left out, and the comparison names it.
fn write_gradients(weights: &VarMap, grads: &GradStore, path: &Path) -> Result<()> {
    let mut found = HashMap::new();
    for (name, var) in weights.data().lock().unwrap().iter() {
        if let Some(gradient) = grads.get(var) {
            found.insert(name.clone(), gradient.contiguous()?);
        }
    }
    safetensors::save(&found, path)
}
// [gradients]

fn named(weights: &VarMap) -> BTreeMap<String, Var> {
    weights
        .data()
        .lock()
        .unwrap()
        .iter()
        .map(|(name, var)| (name.clone(), var.clone()))
        .collect()
}

enum Rule {
    Candle(AdamW),
    Own(OwnAdamW),
}

impl Rule {
    fn new(weights: &VarMap, own: bool, resume: Option<&Path>, done: usize) -> Result<Self> {
        if !own {
            // candle offers no way to bring the moments back: after a resume they are zero, and AdamW counts its steps from one.
            return Ok(Self::Candle(AdamW::new(
                weights.all_vars(),
                ParamsAdamW {
                    lr: RATE,
                    ..Default::default()
                },
            )?));
        }
        let moments = match resume {
            Some(folder) => safetensors::load(folder.join("adamw.safetensors"), &Device::Cpu)?,
            None => HashMap::new(),
        };
        Ok(Self::Own(OwnAdamW {
            vars: named(weights),
            moments,
            count: done as i32,
        }))
    }

    fn step(&mut self, grads: &GradStore) -> Result<()> {
        match self {
            Self::Candle(optimizer) => optimizer.step(grads),
            Self::Own(optimizer) => optimizer.step(grads),
        }
    }

    fn save(&self, folder: &Path) -> Result<()> {
        match self {
            Self::Candle(_) => Ok(()),
            Self::Own(optimizer) => {
                safetensors::save(&optimizer.moments, folder.join("adamw.safetensors"))
            }
        }
    }
}

/// AdamW whose state is tensors with names: "first.head.weight", "second.head.weight".
struct OwnAdamW {
    vars: BTreeMap<String, Var>,
    moments: HashMap<String, Tensor>,
    count: i32,
}

impl OwnAdamW {
    fn step(&mut self, grads: &GradStore) -> Result<()> {
        let (beta1, beta2, epsilon, decay) = (0.9f64, 0.999f64, 1e-8, 0.01);
        self.count += 1;
        for (name, var) in &self.vars {
            let Some(gradient) = grads.get(var) else {
                continue;
            };
            let mut moment = |kind: &str, beta: f64, new: Tensor| -> Result<Tensor> {
                let key = format!("{kind}.{name}");
                let old = self
                    .moments
                    .get(&key)
                    .cloned()
                    .map_or_else(|| new.zeros_like(), Ok)?;
                let made = ((old * beta)? + (new * (1.0 - beta))?)?;
                self.moments.insert(key, made.clone());
                made / (1.0 - beta.powi(self.count))
            };
            let first = moment("first", beta1, gradient.clone())?;
            let second = moment("second", beta2, gradient.sqr()?)?;
            let update = (first / (second.sqrt()? + epsilon)?)?;
            var.set(&((var.as_tensor() * (1.0 - RATE * decay))? - (update * RATE)?)?)?;
        }
        Ok(())
    }
}
