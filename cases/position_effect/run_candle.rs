use candle_core::{Result, Tensor, D};
use candle_nn::{loss, ops, rotary_emb, Embedding, Linear, Module};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

const HEADS: usize = 2;

fn angles(time: usize, channels: usize, like: &Tensor) -> Result<(Tensor, Tensor)> {
    let half = channels / 2;
    let angle = |i: usize| (i / half) as f64 / 10000f64.powf((i % half * 2) as f64 / channels as f64);
    let angles = Tensor::from_vec((0..time * half).map(angle).collect(), (time, half), like.device())?;
    Ok((angles.cos()?.to_dtype(like.dtype())?, angles.sin()?.to_dtype(like.dtype())?))
}

fn both(t: &Tensors, added: Option<&Tensor>, turn: impl Fn(Tensor) -> Result<Tensor>) -> Result<Tensors> {
    let channels = t["table"].dim(1)?;
    let nll = |ids: &Tensor| {
        let x = Embedding::new(t["table"].clone(), channels).forward(ids)?;
        let x = added.map_or(Ok(x.clone()), |added| x.broadcast_add(added))?;
        let (b, time, c) = x.dims3()?;
        let heads = |w: &str| Linear::new(t[w].clone(), None).forward(&x)?.reshape((b, time, HEADS, c / HEADS))?.transpose(1, 2)?.contiguous();
        let scores = (turn(heads("w_q")?)?.matmul(&turn(heads("w_k")?)?.t()?)? / ((c / HEADS) as f64).sqrt())?;
        let a = ops::softmax(&scores, D::Minus1)?.matmul(&heads("w_v")?)?.transpose(1, 2)?.reshape((b, time, c))?;
        let logits = Linear::new(t["head"].clone(), None).forward(&a.narrow(1, time - 1, 1)?.squeeze(1)?)?;
        loss::cross_entropy(&logits, &t["target"])?.reshape(1)
    };
    let (ids, time) = (&t["ids"], t["ids"].dim(1)?);
    let shuffled = Tensor::cat(&[ids.index_select(&t["order"], 1)?, ids.narrow(1, time - 1, 1)?], 1)?;
    let (ordered, shuffled) = (nll(ids)?, nll(&shuffled)?);
    let effect = (&shuffled - &ordered)?;
    let out = [("nll", ordered), ("nll_shuffled", shuffled), ("effect", effect)];
    Ok(out.into_iter().map(|(name, x)| (name.to_string(), x)).collect())
}

pub fn rotary(t: &Tensors) -> Result<Tensors> {
    let (cos, sin) = angles(t["ids"].dim(1)?, t["table"].dim(1)? / HEADS, &t["table"])?;
    both(t, None, |x| rotary_emb::rope_i(&x, &cos, &sin))
}

pub fn learned(t: &Tensors) -> Result<Tensors> {
    both(t, Some(&t["position"]), Ok)
}

pub fn sinusoidal(t: &Tensors) -> Result<Tensors> {
    let (cos, sin) = angles(t["ids"].dim(1)?, t["table"].dim(1)?, &t["table"])?;
    let sines = Tensor::stack(&[sin, cos], 2)?.flatten_from(1)?;
    both(t, Some(&sines), Ok)
}
