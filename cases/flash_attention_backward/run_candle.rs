use candle_core::{Result, Tensor, Var};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn full(t: &Tensors) -> Result<Tensors> {
    use candle_nn::cpu_flash_attention::run_flash_attn_cpu;
    answer(t, |q, k, v, scale| run_flash_attn_cpu::<f32>(q, k, v, None, scale, None, None))
}

pub fn masked(t: &Tensors) -> Result<Tensors> {
    use candle_nn::cpu_flash_attention::run_flash_attn_cpu;
    let time = t["q"].dim(1)?;
    let hidden = |i: usize| i % time > i / time || i % time + 3 <= i / time;
    let mask: Vec<f32> = (0..time * time).map(|i| if hidden(i) { f32::NEG_INFINITY } else { 0. }).collect();
    let mask = Tensor::from_vec(mask, (time, time), t["q"].device())?;
    answer(t, |q, k, v, scale| run_flash_attn_cpu::<f32>(q, k, v, Some(&mask), scale, None, None))
}

pub fn causal(t: &Tensors) -> Result<Tensors> {
    use candle_nn::attention::{flash_attn, AttnMask};
    answer(t, |q, k, v, scale| flash_attn::<f32>(q, k, v, scale, AttnMask::causal(), None, None))
}

// candle-flash-attn builds with CUDA's compiler and runs on its devices only.
pub fn cuda(t: &Tensors) -> Result<Tensors> {
    let device = candle_core::Device::new_cuda(0)?;
    t["q"].to_device(&device)?;
    Err(candle_core::Error::NotCompiledWithCudaSupport) // a column with CUDA and without that crate: we could not ask
}

fn answer(t: &Tensors, attend: impl Fn(&Tensor, &Tensor, &Tensor, f32) -> Result<Tensor>) -> Result<Tensors> {
    let (q, k, v) = (Var::from_tensor(&t["q"])?, Var::from_tensor(&t["k"])?, Var::from_tensor(&t["v"])?);
    let y = attend(&q, &k, &v, 1. / (q.dim(3)? as f32).sqrt())?;
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;

    let mut out = BTreeMap::from([("y".to_string(), y)]);
    for (name, leaf) in [("dq", &q), ("dk", &k), ("dv", &v)] {
        out.extend(grads.get(leaf).map(|g| (name.to_string(), g.clone())));
    }
    Ok(out)
}
