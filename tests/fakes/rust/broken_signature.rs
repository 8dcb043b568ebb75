use candle_core::{Result, Tensor};

pub fn run(x: &Tensor) -> Result<Tensor> {
    x.exp()
}
