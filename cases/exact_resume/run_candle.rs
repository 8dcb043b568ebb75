//! With the names of https://github.com/huggingface/candle/pull/3819: step_t, set_step_t and moments.

use candle_core::{safetensors, Result, Tensor};
use candle_nn::{loss, AdamW, Linear, Module, Optimizer, ParamsAdamW, VarBuilder, VarMap};
use std::collections::{BTreeMap, HashMap};

type Tensors = BTreeMap<String, Tensor>;

const STEPS: usize = 6;
const AFTER: usize = 3;

fn model(w: &Tensor) -> Result<(VarMap, Linear)> {
    let vars = VarMap::new();
    let layer = candle_nn::linear_no_bias(6, 5, VarBuilder::from_varmap(&vars, w.dtype(), w.device()).pp("layer"))?;
    Ok((vars, layer))
}

fn train(t: &Tensors, stop: Option<usize>) -> Result<(Tensor, Tensor)> {
    let params = ParamsAdamW { lr: 0.03125, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0.0625 };
    let (mut vars, mut layer) = model(&t["w"])?;
    vars.set_one("layer.weight", &t["w"])?;
    let mut optimizer = AdamW::new(vars.all_vars(), params.clone())?;
    let mut losses = Vec::new();
    for i in 0..STEPS {
        if Some(i) == stop {
            let file = |what: &str| std::env::temp_dir().join(format!("exact_resume_{what}_{}.safetensors", std::process::id()));
            let (weights, state, steps) = (file("weights"), file("state"), optimizer.step_t());
            vars.save(&weights)?;
            let (_, m, v) = optimizer.moments().next().expect("there is one weight");
            safetensors::save(&HashMap::from([("m", m.as_tensor().clone()), ("v", v.as_tensor().clone())]), &state)?;
            (vars, layer) = model(&t["w"])?;
            vars.load(&weights)?;
            optimizer = AdamW::new(vars.all_vars(), params.clone())?;
            optimizer.set_step_t(steps);
            let saved = safetensors::load(&state, t["w"].device())?;
            let (_, m, v) = optimizer.moments().next().expect("there is one weight");
            m.set(&saved["m"])?;
            v.set(&saved["v"])?;
            std::fs::remove_file(&weights)?;
            std::fs::remove_file(&state)?;
        }
        let loss = loss::mse(&layer.forward(&t["x"].get(i)?)?.tanh()?, &t["target"].get(i)?)?;
        optimizer.backward_step(&loss)?;
        losses.push(loss);
    }
    Ok((Tensor::stack(&losses, 0)?, layer.weight().clone()))
}

pub fn adamw(t: &Tensors) -> Result<Tensors> {
    let (losses, w) = train(t, None)?;
    let (resumed, resumed_w) = train(t, Some(AFTER))?;
    let quotients = [("loss_quotient", (resumed / &losses)?.narrow(0, AFTER, STEPS - AFTER)?), ("w_quotient", (resumed_w / &w)?)];
    Ok([("losses", losses), ("w", w)].into_iter().chain(quotients).map(|(name, x)| (name.to_string(), x)).collect())
}
