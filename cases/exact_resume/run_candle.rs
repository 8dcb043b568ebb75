use candle_core::{Result, Tensor};
use candle_nn::{loss, AdamW, Linear, Module, Optimizer, ParamsAdamW, VarBuilder, VarMap};
use std::collections::BTreeMap;

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
            // Weights are all that can be saved: an AdamW is made from variables and parameters only.
            let file = std::env::temp_dir().join(format!("exact_resume_{}.safetensors", std::process::id()));
            vars.save(&file)?;
            (vars, layer) = model(&t["w"])?;
            vars.load(&file)?;
            std::fs::remove_file(&file)?;
            optimizer = AdamW::new(vars.all_vars(), params.clone())?;
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

pub fn momentum(_: &Tensors) -> Result<Tensors> {
    let params = candle_nn::optim::ParamsSGD { lr: 0.03125, momentum: 0.9 };
    candle_nn::optim::SGD::new(vec![], params)?;
    unreachable!("written for the first version that has it")
}
