//! A convolution over time as one over a picture of height 1: its gradient takes another path.

use candle_core::{Result, Tensor, Var};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn conv1d(t: &Tensors) -> Result<Tensors> {
    convolve(t, |x, w| Ok((x.transpose(1, 2)?, w.clone())))
}

pub fn conv1d_kernel(t: &Tensors) -> Result<Tensors> {
    convolve(t, |x, w| Ok((x.clone(), w.permute((2, 1, 0))?)))
}

fn convolve(t: &Tensors, views: impl Fn(&Tensor, &Tensor) -> Result<(Tensor, Tensor)>) -> Result<Tensors> {
    let (x, w) = (Var::from_tensor(&t["x"])?, Var::from_tensor(&t["w"])?);
    let (input, kernel) = views(&x, &w)?;
    let input = input.pad_with_zeros(2, 1, 1)?.unsqueeze(2)?;
    let y = input.conv2d(&kernel.unsqueeze(2)?, 0, 1, 1, 1)?.squeeze(2)?;
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;

    let mut out = BTreeMap::from([("y".to_string(), y)]);
    out.extend(grads.get(&x).map(|g| ("dx".to_string(), g.clone())));
    out.extend(grads.get(&w).map(|g| ("dw".to_string(), g.clone())));
    Ok(out)
}
