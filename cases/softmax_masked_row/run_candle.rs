use candle_core::{Result, Tensor, Var, D};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn lowest(t: &Tensors) -> Result<Tensors> {
    let mask = mask(t, f32::MIN)?;
    answer(t, |q, k, v| {
        let scores = (q.matmul(&k.transpose(2, 3)?.contiguous()?)? * 0.5)?.broadcast_add(&mask)?;
        candle_nn::ops::softmax(&scores, D::Minus1)?.matmul(v)
    })
}

pub fn fused(t: &Tensors) -> Result<Tensors> {
    use candle_nn::cpu_flash_attention::run_flash_attn_cpu;
    let mask = mask(t, f32::NEG_INFINITY)?;
    let swapped = |x: &Tensor| x.transpose(1, 2)?.contiguous();
    answer(t, |q, k, v| run_flash_attn_cpu::<f32>(&swapped(q)?, &swapped(k)?, &swapped(v)?, Some(&mask), 0.5, None, None))
}

fn mask(t: &Tensors, hidden: f32) -> Result<Tensor> {
    let hidden = Tensor::full(hidden, t["seen"].shape(), t["q"].device())?;
    t["seen"].ne(0i64)?.where_cond(&hidden.zeros_like()?, &hidden)
}

fn answer(t: &Tensors, attend: impl Fn(&Tensor, &Tensor, &Tensor) -> Result<Tensor>) -> Result<Tensors> {
    let (q, k, v) = (Var::from_tensor(&t["q"])?, Var::from_tensor(&t["k"])?, Var::from_tensor(&t["v"])?);
    let y = attend(&q, &k, &v)?;
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;

    let mut out = BTreeMap::from([("y".to_string(), Tensor::cat(&[y.narrow(2, 0, 2)?, y.narrow(2, 3, 2)?], 2)?)]);
    for (name, leaf) in [("dq", &q), ("dk", &k), ("dv", &v)] {
        out.extend(grads.get(leaf).map(|g| (name.to_string(), g.clone())));
    }
    Ok(out)
}
