use crate::glue::Tensors;
use crate::swept::Attributes;
use burn::module::{Param, ParamId};
use burn::nn::{GateController, Linear, Lstm, LstmConfig, LstmState};
use burn::tensor::Tensor;

pub fn gru(t: &Tensors, _: &Attributes) -> Tensor<1> {
    let config = burn::nn::gru::GruConfig::new(t.dims("wx")[1], t.dims("h")[1], true);
    let mut layer = config.init(&t.device);
    layer.reset_gate = gate(t, "", 0);
    layer.update_gate = gate(t, "", 1);
    layer.new_gate = gate(t, "", 2);
    let y = layer.forward(t.float("x"), Some(t.float("h")));
    let last = y.clone().narrow(1, y.dims()[1] - 1, 1);
    Tensor::cat(vec![y.flatten::<1>(0, 2), last.flatten(0, 2)], 0)
}

pub fn rnn(t: &Tensors, _: &Attributes) -> Tensor<1> {
    use burn::nn::{RnnConfig, RnnState};
    let config = RnnConfig::new(t.dims("wx")[1], t.dims("h")[1], true);
    let mut layer = config.init(&t.device);
    layer.gate = gate(t, "", 0);
    let (y, state) = layer.forward(t.float("x"), Some(RnnState::new(t.float("h"))));
    Tensor::cat(vec![y.flatten::<1>(0, 2), state.hidden.flatten(0, 1)], 0)
}

pub fn rnn_relu(t: &Tensors, _: &Attributes) -> Tensor<1> {
    use burn::nn::{activation::ActivationConfig, RnnConfig, RnnState};
    let config = RnnConfig::new(t.dims("wx")[1], t.dims("h")[1], true);
    let config = config.with_hidden_activation(ActivationConfig::Relu);
    let mut layer = config.init(&t.device);
    layer.gate = gate(t, "", 0);
    let (y, state) = layer.forward(t.float("x"), Some(RnnState::new(t.float("h"))));
    Tensor::cat(vec![y.flatten::<1>(0, 2), state.hidden.flatten(0, 1)], 0)
}

pub fn lstm(t: &Tensors, _: &Attributes) -> Tensor<1> {
    let state = LstmState::new(t.float("c"), t.float("h"));
    let (y, state) = long_short(t, "").forward(t.float("x"), Some(state));
    let (h, c) = (state.hidden.flatten(0, 1), state.cell.flatten(0, 1));
    Tensor::cat(vec![y.flatten::<1>(0, 2), h, c], 0)
}

pub fn gru_both(t: &Tensors, _: &Attributes) -> Tensor<3> {
    let config = burn::nn::BiGruConfig::new(t.dims("wx")[1], t.dims("h")[1], true);
    let mut layer = config.init(&t.device);
    layer.forward.reset_gate = gate(t, "", 0);
    layer.forward.update_gate = gate(t, "", 1);
    layer.forward.new_gate = gate(t, "", 2);
    layer.reverse.reset_gate = gate(t, "r", 0);
    layer.reverse.update_gate = gate(t, "r", 1);
    layer.reverse.new_gate = gate(t, "r", 2);
    let h = Tensor::stack(vec![t.float::<2>("h"), t.float("rh")], 0);
    layer.forward(t.float("x"), Some(h)).0
}

pub fn lstm_both(t: &Tensors, _: &Attributes) -> Tensor<3> {
    let there = long_short(t, "");
    let config = burn::nn::BiLstmConfig::new(t.dims("wx")[1], there.d_hidden, true);
    let mut layer = config.init(&t.device);
    layer.forward = there;
    layer.reverse = long_short(t, "r");
    let c = Tensor::stack(vec![t.float::<2>("c"), t.float("rc")], 0);
    let h = Tensor::stack(vec![t.float::<2>("h"), t.float("rh")], 0);
    layer.forward(t.float("x"), Some(LstmState::new(c, h))).0
}

fn long_short(t: &Tensors, side: &str) -> Lstm {
    let size = t.dims(&format!("{side}h"))[1];
    let mut layer = LstmConfig::new(t.dims("wx")[1], size, true).init(&t.device);
    layer.input_gate = gate(t, side, 0);
    layer.forget_gate = Some(gate(t, side, 1));
    layer.cell_gate = gate(t, side, 2);
    layer.output_gate = gate(t, side, 3);
    layer
}

/// The weights of one gate, of those that lie under each other.
fn gate(t: &Tensors, side: &str, number: usize) -> GateController {
    let size = t.dims(&format!("{side}h"))[1];
    let part = |weight: &str, bias: &str| {
        let weight = t.float::<2>(&format!("{side}{weight}"));
        let bias = t.float::<1>(&format!("{side}{bias}"));
        let weight = weight.narrow(0, number * size, size).transpose();
        let bias = bias.narrow(0, number * size, size);
        Linear { weight: Param::initialized(ParamId::new(), weight), bias: Some(Param::initialized(ParamId::new(), bias)) }
    };
    GateController { input_transform: part("wx", "bx"), hidden_transform: part("wh", "bh") }
}
