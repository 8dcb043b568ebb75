use candle_core::{Result, Tensor, Var};
use candle_nn::{loss, Optimizer, SGD};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn run(t: &Tensors) -> Result<Tensors> {
    let weights = (0..t["w"].dim(0)?).map(|i| Var::from_tensor(&t["w"].get(i)?)).collect::<Result<Vec<_>>>()?;
    let mut optimizer = SGD::new(weights.clone(), 2.0)?;
    let mut losses = Vec::new();
    for _ in 0..3 {
        let mut x = t["x"].clone();
        for w in &weights {
            x = (&x + (x.matmul(w)?.tanh()? / 16.)?)?;
        }
        let loss = loss::mse(&x, &t["target"])?;
        optimizer.backward_step(&loss)?;
        losses.push(loss);
    }
    let out = [("losses", Tensor::stack(&losses, 0)?), ("w", Tensor::stack(&weights.into_iter().map(Var::into_inner).collect::<Vec<_>>(), 0)?)];
    Ok(out.into_iter().map(|(name, x)| (name.to_string(), x)).collect())
}
