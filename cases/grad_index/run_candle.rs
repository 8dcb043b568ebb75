use candle_core::{DType, IndexOp, Result, Tensor};
use candle_nn::{encoding, Embedding, Module};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn index_select(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].index_select(&t["ids"], axis(t, a)?)
}

pub fn index_select_outside(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].index_select(&t["ids"], axis(t, a)?)
}

pub fn getitem_rows(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].i(&t["ids"])
}

pub fn getitem_rows_outside(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].i(&t["ids"])
}

pub fn select(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let axis = axis(t, a)?;
    let size = t["x"].dim(axis)? as i64;
    let index = a["index"].as_i64().expect("an index").rem_euclid(size); // get_on_dim takes none from the end
    t["x"].get_on_dim(axis, index as usize)
}

pub fn take_along_axis(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].gather(&t["ids"], axis(t, a)?)
}

pub fn take_along_axis_outside(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].gather(&t["ids"], axis(t, a)?)
}

pub fn gather(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].gather(&t["ids"], axis(t, a)?)
}

pub fn embedding(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    Embedding::new(t["table"].clone(), t["table"].dim(1)?).forward(&t["ids"])
}

pub fn embedding_outside(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    Embedding::new(t["table"].clone(), t["table"].dim(1)?).forward(&t["ids"])
}

/// As candle's models write it.
pub fn masked_fill(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let x = &t["x"];
    let value = Tensor::new(a["value"].as_f64().expect("a value"), x.device())?.to_dtype(x.dtype())?;
    mask(t, x)?.where_cond(&value.broadcast_as(x.shape())?, x)
}

pub fn r#where(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    mask(t, &t["a"])?.where_cond(&t["a"], &t["b"])
}

pub fn one_hot(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    encoding::one_hot(t["ids"].clone(), a["count"].as_u64().expect("a count") as usize, 1f32, 0f32)
}

pub fn one_hot_outside(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    encoding::one_hot(t["ids"].clone(), a["count"].as_u64().expect("a count") as usize, 1f32, 0f32)
}

fn axis(t: &Tensors, a: &Attributes) -> Result<usize> {
    t["x"].normalize_axis(a["axis"].as_i64().expect("an axis"))
}

fn mask(t: &Tensors, like: &Tensor) -> Result<Tensor> {
    t["mask"].to_dtype(DType::U8)?.broadcast_as(like.shape())
}
