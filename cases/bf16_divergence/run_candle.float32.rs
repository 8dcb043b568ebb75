use candle_core::{DType, Result, Tensor, Var};
use candle_nn::{Embedding, Module};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

// Each item as in the default file, cast up before its sum and down after it.
fn wide(x: &Tensor) -> Result<Tensor> {
    x.to_dtype(if x.dtype() == DType::BF16 {
        DType::F32
    } else {
        x.dtype()
    })
}

fn parts(y: &Tensor, axis: usize, names: [&str; 2]) -> Result<Tensors> {
    let half = y.dim(axis)? / 2;
    Ok(BTreeMap::from([
        (names[0].to_string(), y.narrow(axis, 0, half)?),
        (names[1].to_string(), y.narrow(axis, half, half)?),
    ]))
}

pub fn sum(t: &Tensors) -> Result<Tensors> {
    t.iter()
        .map(|(name, x)| Ok((name.clone(), wide(x)?.sum(1)?.to_dtype(x.dtype())?)))
        .collect()
}

pub fn mean(t: &Tensors) -> Result<Tensors> {
    t.iter()
        .map(|(name, x)| Ok((name.clone(), wide(x)?.mean(1)?.to_dtype(x.dtype())?)))
        .collect()
}

pub fn softmax(t: &Tensors) -> Result<Tensors> {
    let logits = &t["logits"];
    let y = candle_nn::ops::softmax_last_dim(&wide(logits)?)?.to_dtype(logits.dtype())?;
    parts(&y, 0, ["uniform", "random"])
}

pub fn cross_entropy(t: &Tensors) -> Result<Tensors> {
    let mut out = BTreeMap::new();
    for (row, name) in ["uniform", "random"].into_iter().enumerate() {
        let logits = Var::from_tensor(&t["logits"].narrow(0, row, 1)?)?;
        let target = t["target"].narrow(0, row, 1)?;
        let loss =
            candle_nn::loss::cross_entropy(&wide(&logits)?, &target)?.to_dtype(logits.dtype())?;
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

pub fn bias_grad(t: &Tensors) -> Result<Tensors> {
    let dy = &t["dy"];
    let bias = Var::zeros(4, dy.dtype(), dy.device())?;
    let y = wide(&dy.zeros_like()?)?
        .broadcast_add(&wide(&bias)?)?
        .to_dtype(dy.dtype())?;
    let grads = (y * dy)?.sum_all()?.backward()?;
    grads
        .get(&bias)
        .map_or(Ok(BTreeMap::new()), |g| parts(g, 0, ["ones", "random"]))
}

pub fn embedding_grad(t: &Tensors) -> Result<Tensors> {
    let dy = &t["dy"];
    let table = Var::zeros((8, 4), dy.dtype(), dy.device())?;
    let y = Embedding::new(wide(&table)?, 4)
        .forward(&t["ids"])?
        .to_dtype(dy.dtype())?;
    let grads = (y * dy)?.sum_all()?.backward()?;
    grads
        .get(&table)
        .map_or(Ok(BTreeMap::new()), |g| parts(g, 1, ["ones", "random"]))
}
