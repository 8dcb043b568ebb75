use crate::glue::{Answer, Any, Tensors};
use crate::swept::{axis, Attributes};
use crate::{at_rank, each_rank};
use burn::tensor::{backend::Backend, Slice, Tensor};
use serde_json::Value;
use std::ops::Range;

pub fn pad_constant<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.pad(last_two(&a["pads"]), a["value"].as_f64().unwrap() as f32))
}

pub fn pad_reflect<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    use burn::tensor::ops::PadMode;
    each_rank!(t.any("x"), x => x.pad(last_two(&a["pads"]), PadMode::Reflect))
}

pub fn pad_replicate<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    use burn::tensor::ops::PadMode;
    each_rank!(t.any("x"), x => x.pad(last_two(&a["pads"]), PadMode::Edge))
}

pub fn narrow<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.narrow(along, size(&a["start"]), size(&a["length"])))
}

pub fn narrow_outside<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.narrow(along, size(&a["start"]), size(&a["length"])))
}

pub fn slice_update<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("x").slice_assign(place::<D, _>(t, a), t.float("v")))
}

pub fn slice_update_outside<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("x").slice_assign(place::<D, _>(t, a), t.float("v")))
}

pub fn slice_step<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("x").slice(cuts::<D>(a)))
}

pub fn slice_backward<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("x").slice(cuts::<D>(a)))
}

pub fn unfold<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let along = axis(&a["axis"], t.rank());
    let (length, step) = (size(&a["size"]), size(&a["step"]));
    at_rank!(t.rank(), D => t.float::<D>("x").unfold::<{ D + 1 }, _>(along, length, step))
}

pub fn slice_assign<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => {
        let (x, cuts) = (t.float::<D>("x"), cuts::<D>(a));
        let v = t.float::<D>("v").expand(x.clone().slice(cuts).shape());
        x.slice_assign(cuts, v)
    })
}

pub fn assign_overlap<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let along = axis(&a["axis"], t.rank());
    at_rank!(t.rank(), D => {
        let x = t.float::<D>("x");
        let length = x.dims()[along].saturating_sub(size(&a["by"]));
        let (from, to) = match a["forward"].as_bool().unwrap() {
            true => (0, size(&a["by"])),
            false => (size(&a["by"]), 0),
        };
        let mut places = x.dims().map(|n| 0..n);
        places[along] = to..to + length;
        let part = x.clone().narrow(along, from, length);
        x.slice_assign(places, part)
    })
}

pub fn tril<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.tril(a["k"].as_i64().unwrap()))
}

pub fn triu<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.triu(a["k"].as_i64().unwrap()))
}

pub fn trace<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Tensor<B, 1> {
    burn::tensor::linalg::trace(t.float::<2>("x"))
}

/// Where the part lies: all of the other axes.
fn place<const D: usize, B: Backend>(t: &Tensors<B>, a: &Attributes) -> [Range<usize>; D] {
    let (whole, part) = (t.dims("x"), t.dims("v"));
    let mut place: [_; D] = std::array::from_fn(|at| 0..whole[at]);
    let along = axis(&a["axis"], D);
    place[along] = size(&a["start"])..size(&a["start"]) + part[along];
    place
}

fn size(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

/// (left, right, top, bottom): before and after the last axis and the one before it.
fn last_two(pads: &Value) -> (usize, usize, usize, usize) {
    let pairs = pads.as_array().unwrap();
    let (others, last) = pairs.split_at(pairs.len() - 1);
    let none = serde_json::json!([0, 0]);
    let (above, others) = match others.split_last() {
        Some((above, others)) => (above, others),
        None => (&none, others),
    };
    if others.iter().any(|pair| *pair != none) {
        panic!("not offered: padding of another axis than the last two");
    }
    (
        size(&last[0][0]),
        size(&last[0][1]),
        size(&above[0]),
        size(&above[1]),
    )
}

/// Of each axis; one that goes backward is written as the part it walks through, and walks from its end.
fn cuts<const D: usize>(a: &Attributes) -> [Slice; D] {
    let listed = a["slices"].as_array().unwrap();
    std::array::from_fn(|at| {
        let [start, stop, step] =
            std::array::from_fn(|n| listed[at][n].as_i64().map(|n| n as isize));
        if step.unwrap() > 0 {
            return Slice::with_step(start.unwrap(), stop, step.unwrap());
        }
        let end = start.map(|n| n + 1).filter(|&n| n != 0);
        Slice::with_step(stop.map_or(0, |n| n + 1), end, step.unwrap())
    })
}
