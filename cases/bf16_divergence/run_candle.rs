use candle_core::{Result, Tensor, Var};
use candle_nn::{Embedding, Module, Optimizer, SGD};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

// The two parts of an answer, cut along an axis.
fn parts(y: &Tensor, axis: usize, names: [&str; 2]) -> Result<Tensors> {
    let half = y.dim(axis)? / 2;
    Ok(BTreeMap::from([
        (names[0].to_string(), y.narrow(axis, 0, half)?),
        (names[1].to_string(), y.narrow(axis, half, half)?),
    ]))
}

pub fn sum(t: &Tensors) -> Result<Tensors> {
    t.iter()
        .map(|(name, x)| Ok((name.clone(), x.sum(1)?)))
        .collect()
}

pub fn mean(t: &Tensors) -> Result<Tensors> {
    t.iter()
        .map(|(name, x)| Ok((name.clone(), x.mean(1)?)))
        .collect()
}

pub fn softmax(t: &Tensors) -> Result<Tensors> {
    let y = candle_nn::ops::softmax_last_dim(&t["logits"])?;
    parts(&y, 0, ["uniform", "random"])
}

pub fn cross_entropy(t: &Tensors) -> Result<Tensors> {
    let mut out = BTreeMap::new();
    for (row, name) in ["uniform", "random"].into_iter().enumerate() {
        let logits = Var::from_tensor(&t["logits"].narrow(0, row, 1)?)?;
        let loss = candle_nn::loss::cross_entropy(&logits, &t["target"].narrow(0, row, 1)?)?;
        let grads = loss.backward()?;
        out.insert(format!("loss_{name}"), loss.unsqueeze(0)?);
        out.extend(
            grads
                .get(&logits)
                .map(|g| (format!("dlogits_{name}"), g.clone())),
        );
    }
    Ok(out)
}

// What nn::Linear does after its matmul, which 0.11.0 refuses in bfloat16 on the CPU.
pub fn bias_grad(t: &Tensors) -> Result<Tensors> {
    let dy = &t["dy"];
    let bias = Var::zeros(4, dy.dtype(), dy.device())?;
    let y = dy.zeros_like()?.broadcast_add(&bias)?;
    let grads = (y * dy)?.sum_all()?.backward()?;
    grads
        .get(&bias)
        .map_or(Ok(BTreeMap::new()), |g| parts(g, 0, ["ones", "random"]))
}

pub fn embedding_grad(t: &Tensors) -> Result<Tensors> {
    let dy = &t["dy"];
    let table = Var::zeros((8, 4), dy.dtype(), dy.device())?;
    let y = Embedding::new(table.as_tensor().clone(), 4).forward(&t["ids"])?;
    let grads = (y * dy)?.sum_all()?.backward()?;
    grads
        .get(&table)
        .map_or(Ok(BTreeMap::new()), |g| parts(g, 1, ["ones", "random"]))
}

pub fn update_stall(t: &Tensors) -> Result<Tensors> {
    let weight = Var::from_tensor(&t["weight"])?;
    let mut optimizer = SGD::new(vec![weight.clone()], 1.0 / 1024.0)?;
    for _ in 0..100 {
        let loss = (weight.as_tensor() * &t["grad"])?.sum_all()?;
        optimizer.backward_step(&loss)?;
    }
    parts(&weight, 0, ["ones", "random"])
}

pub fn cumsum(t: &Tensors) -> Result<Tensors> {
    t.iter()
        .map(|(name, x)| Ok((name.clone(), x.cumsum(1)?)))
        .collect()
}

// candle-nn clips nothing: the norm as a user writes it.
pub fn clip_norm(t: &Tensors) -> Result<Tensors> {
    t.iter()
        .map(|(name, g)| Ok((name.clone(), g.broadcast_div(&g.sqr()?.sum_all()?.sqrt()?)?)))
        .collect()
}
