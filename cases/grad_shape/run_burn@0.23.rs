use crate::glue::{Answer, Any, Tensors};
use crate::swept::{numbers, sizes, Attributes};
use crate::{at_rank, each_rank};
use burn::nn::{PixelShuffleConfig, PixelUnshuffleConfig};
use burn::tensor::grid::{meshgrid as grid, GridIndexing};
use burn::tensor::{DType, FloatDType, Tensor};

pub fn cat(t: &Tensors, a: &Attributes) -> Any {
    let along = a["axis"].as_i64().unwrap();
    each_rank!(t.any("a"), x => Tensor::cat(vec![x, t.float("b"), t.float("c")], along))
}

pub fn stack(t: &Tensors, a: &Attributes) -> Answer {
    let along = a["axis"].as_i64().unwrap();
    at_rank!(t.rank(), D => Tensor::stack::<{ D + 1 }>(vec![t.float::<D>("a"), t.float("b")], along))
}

pub fn split(t: &Tensors, a: &Attributes) -> Any {
    let along = a["axis"].as_i64().unwrap();
    let lengths = numbers(&a["sizes"]).iter().map(|&n| n as usize).collect();
    let part = a["part"].as_u64().unwrap() as usize;
    each_rank!(t.any("x"), x => x.split_with_sizes(lengths, along)[part].clone())
}

pub fn chunk(t: &Tensors, a: &Attributes) -> Any {
    let along = a["axis"].as_i64().unwrap();
    let count = a["count"].as_u64().unwrap() as usize;
    each_rank!(t.any("x"), x => x.chunk(count, along).pop().unwrap())
}

pub fn unstack(t: &Tensors, a: &Attributes) -> Any {
    let along = a["axis"].as_i64().unwrap();
    each_rank!(t.any("x"), x => x.iter_dim(along).last().unwrap())
}

pub fn tile(t: &Tensors, a: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("x").repeat(&sizes::<D>(&a["counts"])))
}

pub fn broadcast_to(t: &Tensors, a: &Attributes) -> Answer {
    let shape = numbers(&a["shape"]);
    at_rank!(t.rank(), D => at_rank!(shape.len(), E => {
        t.float::<D>("x").expand(sizes::<E>(&a["shape"]).map(|n| n as i64))
    }))
}

pub fn flip(t: &Tensors, a: &Attributes) -> Answer {
    let count = numbers(&a["axes"]).len();
    at_rank!(t.rank(), D => at_rank!(count, N => {
        t.float::<D>("x").flip(sizes::<N>(&a["axes"]).map(|n| n as isize))
    }))
}

pub fn roll(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.roll(&numbers(&a["shifts"]), &numbers(&a["axes"])))
}

pub fn permute(t: &Tensors, a: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("x").permute(sizes::<D>(&a["order"]).map(|n| n as isize)))
}

pub fn swapaxes(t: &Tensors, a: &Attributes) -> Any {
    let (one, other) = (a["axis1"].as_i64().unwrap(), a["axis2"].as_i64().unwrap());
    each_rank!(t.any("x"), x => x.swap_dims(one, other))
}

pub fn moveaxis(t: &Tensors, a: &Attributes) -> Any {
    let (from, to) = (a["axis1"].as_i64().unwrap(), a["axis2"].as_i64().unwrap());
    each_rank!(t.any("x"), x => x.movedim(from as i32, to as i32))
}

pub fn reshape(t: &Tensors, a: &Attributes) -> Answer {
    let shape = numbers(&a["shape"]);
    at_rank!(t.rank(), D => at_rank!(shape.len(), E => {
        let shape: [i64; E] = shape.clone().try_into().unwrap();
        t.float::<D>("x").reshape(shape.map(|n| n as i32))
    }))
}

pub fn flatten(t: &Tensors, _: &Attributes) -> Answer {
    at_rank!(t.rank(), D => t.float::<D>("x").flatten::<2>(1, D - 1))
}

pub fn squeeze(t: &Tensors, a: &Attributes) -> Answer {
    let along = a["axis"].as_i64().unwrap();
    at_rank!(t.rank(), D => t.float::<D>("x").squeeze_dims::<{ D - 1 }>(&[along]))
}

pub fn unsqueeze(t: &Tensors, a: &Attributes) -> Answer {
    let along = a["axis"].as_i64().unwrap();
    at_rank!(t.rank(), D => t.float::<D>("x").unsqueeze_dim::<{ D + 1 }>(along))
}

pub fn meshgrid(t: &Tensors, a: &Attributes) -> Tensor<1> {
    let indexing = match a["indexing"].as_str() {
        Some("ij") => GridIndexing::Matrix,
        _ => GridIndexing::Cartesian,
    };
    let [i, j] = grid(&[t.float::<1>("a"), t.float("b")], indexing);
    Tensor::cat(vec![i.flatten::<1>(0, 1), j.flatten(0, 1)], 0)
}

pub fn clone(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.clone() + x)
}

pub fn cast(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => {
        let own = float(x.dtype());
        x.cast(other(a)).cast(own)
    })
}

pub fn cast_factor(t: &Tensors, a: &Attributes) -> Any {
    each_rank!(t.any("x"), x => {
        let own = float(x.dtype());
        x.clone().cast(other(a)).cast(own) * x
    })
}

pub fn detach_sum(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.clone() + (x.clone() * x).detach())
}

pub fn detach_factor(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("a"), a => {
        let b = t.float("b");
        a * b.clone() * b.detach()
    })
}

pub fn straight_through(t: &Tensors, _: &Attributes) -> Any {
    each_rank!(t.any("x"), x => x.clone() + (x.clone().round() - x).detach())
}

pub fn pixel_shuffle(t: &Tensors, a: &Attributes) -> Tensor<4> {
    let factor = a["factor"].as_u64().unwrap() as usize;
    PixelShuffleConfig::new(factor).init().forward(t.float("x"))
}

pub fn pixel_unshuffle(t: &Tensors, a: &Attributes) -> Tensor<4> {
    let factor = a["factor"].as_u64().unwrap() as usize;
    PixelUnshuffleConfig::new(factor).init().forward(t.float("x"))
}

fn other(a: &Attributes) -> FloatDType {
    match a["through"].as_str() {
        Some("bfloat16") => FloatDType::BF16,
        Some("float16") => FloatDType::F16,
        Some("float32") => FloatDType::F32,
        _ => FloatDType::F64,
    }
}

fn float(dtype: DType) -> FloatDType {
    match dtype {
        DType::BF16 => FloatDType::BF16,
        DType::F16 => FloatDType::F16,
        DType::F32 => FloatDType::F32,
        _ => FloatDType::F64,
    }
}
