use crate::glue::{Answer, Any, Tensors};
use crate::swept::{axis, numbers, sizes, Attributes};
use crate::{at_rank, each_rank};
use burn::tensor::grid::{meshgrid as grid, GridIndexing};
use burn::tensor::{backend::Backend, DType, FloatDType, Tensor};

pub fn cat<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("a"), x => Tensor::cat(vec![x, t.float("b"), t.float("c")], along))
}

pub fn stack<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let along = axis(&a["axis"], t.rank() + 1);
    at_rank!(t.rank(), D => Tensor::stack::<{ D + 1 }>(vec![t.float::<D>("a"), t.float("b")], along))
}

pub fn split<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    let lengths = numbers(&a["sizes"]).iter().map(|&n| n as usize).collect();
    let part = a["part"].as_u64().unwrap() as usize;
    each_rank!(t.any("x"), x => x.split_with_sizes(lengths, along)[part].clone())
}

pub fn chunk<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    let count = a["count"].as_u64().unwrap() as usize;
    each_rank!(t.any("x"), x => x.chunk(count, along).pop().unwrap())
}

pub fn unstack<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let along = axis(&a["axis"], t.rank());
    each_rank!(t.any("x"), x => x.iter_dim(along).last().unwrap())
}

pub fn tile<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("x").repeat(&sizes::<D>(&a["counts"])))
}

pub fn broadcast_to<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let shape = numbers(&a["shape"]);
    at_rank!(t.rank(), D => at_rank!(shape.len(), E => {
        t.float::<D>("x").expand(sizes::<E>(&a["shape"]).map(|n| n as i64))
    }))
}

pub fn flip<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let count = numbers(&a["axes"]).len();
    at_rank!(t.rank(), D => at_rank!(count, N => {
        t.float::<D>("x").flip(sizes::<N>(&a["axes"]).map(|n| n as isize))
    }))
}

pub fn roll<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.roll(&numbers(&a["shifts"]), &numbers(&a["axes"])))
}

pub fn permute<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("x").permute(sizes::<D>(&a["order"]).map(|n| n as isize)))
}

pub fn swapaxes<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let (one, other) = (axis(&a["axis1"], t.rank()), axis(&a["axis2"], t.rank()));
    each_rank!(t.any("x"), x => x.swap_dims(one, other))
}

pub fn moveaxis<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    let (from, to) = (a["axis1"].as_i64().unwrap(), a["axis2"].as_i64().unwrap());
    each_rank!(t.any("x"), x => x.movedim(from as i32, to as i32))
}

pub fn reshape<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let shape = numbers(&a["shape"]);
    at_rank!(t.rank(), D => at_rank!(shape.len(), E => {
        let shape: [i64; E] = shape.clone().try_into().unwrap();
        t.float::<D>("x").reshape(shape.map(|n| n as i32))
    }))
}

pub fn flatten<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Answer<B> {
    at_rank!(t.rank(), D => t.float::<D>("x").flatten::<2>(1, D - 1))
}

pub fn squeeze<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let along = a["axis"].as_i64().unwrap() as isize;
    at_rank!(t.rank(), D => t.float::<D>("x").squeeze_dims::<{ D - 1 }>(&[along]))
}

pub fn unsqueeze<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let along = axis(&a["axis"], t.rank() + 1);
    at_rank!(t.rank(), D => t.float::<D>("x").unsqueeze_dim::<{ D + 1 }>(along))
}

pub fn meshgrid<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 1> {
    let indexing = match a["indexing"].as_str() {
        Some("ij") => GridIndexing::Matrix,
        _ => GridIndexing::Cartesian,
    };
    let [i, j] = grid(&[t.float::<1>("a"), t.float("b")], indexing);
    Tensor::cat(vec![i.flatten::<1>(0, 1), j.flatten(0, 1)], 0)
}

pub fn clone<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.clone() + x)
}

pub fn cast<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => {
        let own = float(x.dtype());
        x.cast(other(a)).cast(own)
    })
}

pub fn cast_factor<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => {
        let own = float(x.dtype());
        x.clone().cast(other(a)).cast(own) * x
    })
}

pub fn detach_sum<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.clone() + (x.clone() * x).detach())
}

pub fn detach_factor<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("a"), a => {
        let b = t.float("b");
        a * b.clone() * b.detach()
    })
}

pub fn straight_through<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Any<B> {
    each_rank!(t.any("x"), x => x.clone() + (x.clone().round() - x).detach())
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
