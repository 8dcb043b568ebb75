use burn::module::Param;
use burn::nn::attention::{generate_autoregressive_mask, MhaInput, MultiHeadAttentionConfig};
use burn::nn::{LayerNormConfig, Linear};
use burn::tensor::{backend::AutodiffBackend, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

const HEADS: usize = 2;

pub fn run<B: AutodiffBackend>(t: &Tensors, device: &B::Device) -> Tensors {
    let x = Tensor::<B, 3>::from_data(t["x"].clone(), device).require_grad();
    let [batch, time, channels] = x.dims();
    let bias = |name: &str| Param::from_tensor(Tensor::<B, 1>::from_data(t[name].clone(), device));
    // Burn stores [inputs, outputs].
    let weight = |name: &str| Param::from_tensor(Tensor::<B, 2>::from_data(t[name].clone(), device).transpose());
    let norm_biases = [bias("norm1_b"), bias("norm2_b")];
    let mut norms = [(); 2].map(|_| LayerNormConfig::new(channels).with_epsilon(2f64.powi(-17)).init::<B>(device));
    for (norm, (w, b)) in norms.iter_mut().zip(["norm1_w", "norm2_w"].into_iter().zip(&norm_biases)) {
        norm.gamma = bias(w);
        norm.beta = b.clone().into(); // an Option from 0.20 on
    }
    let mut attention = MultiHeadAttentionConfig::new(channels, HEADS).with_dropout(0.0).init::<B>(device);
    attention.query = Linear { weight: weight("w_q"), bias: None };
    attention.key = Linear { weight: weight("w_k"), bias: None };
    attention.value = Linear { weight: weight("w_v"), bias: None };
    attention.output = Linear { weight: weight("w_o"), bias: None };
    let up = Linear { weight: weight("w_up"), bias: Some(bias("b_up")) };
    let down = Linear { weight: weight("w_down"), bias: Some(bias("b_down")) };

    let mask = generate_autoregressive_mask::<B>(batch, time, device);
    let x2 = x.clone() + attention.forward(MhaInput::self_attn(norms[0].forward(x.clone())).mask_attn(mask)).context;
    let z = up.forward(norms[1].forward(x2.clone()));
    // gelu_approximate is there from 0.21 on.
    let gate = ((z.clone() + z.clone().powi_scalar(3) * 0.044715) * (2.0 / std::f64::consts::PI).sqrt()).tanh() + 1.0;
    let y = x2 + down.forward(z * gate / 2.0);
    let dy = Tensor::from_data(t["dy"].clone(), device);
    let grads = (y.clone() * dy).sum().backward();

    let mut out = BTreeMap::from([("y".to_string(), y.into_data())]);
    out.extend(x.grad(&grads).map(|g| ("dx".to_string(), g.into_data())));
    let [norm1, norm2] = norms.each_ref().map(|norm| Some(&norm.gamma));
    let [bias1, bias2] = norm_biases.each_ref().map(Some);
    let rows = [("norm1_w", norm1), ("norm1_b", bias1), ("norm2_w", norm2), ("norm2_b", bias2), ("b_up", up.bias.as_ref()), ("b_down", down.bias.as_ref())];
    for (name, param) in rows {
        out.extend(param.and_then(|p| p.grad(&grads)).map(|g| (format!("d{name}"), g.into_data())));
    }
    let linears = [("w_q", &attention.query), ("w_k", &attention.key), ("w_v", &attention.value), ("w_o", &attention.output), ("w_up", &up), ("w_down", &down)];
    for (name, linear) in linears {
        out.extend(linear.weight.grad(&grads).map(|g| (format!("d{name}"), g.transpose().into_data())));
    }
    out
}
