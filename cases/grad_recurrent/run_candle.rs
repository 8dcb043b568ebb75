use candle_core::{Result, Tensor};
use candle_nn::rnn::{GRUState, LSTMState};
use candle_nn::{GRUConfig, LSTMConfig, VarBuilder, GRU, LSTM, RNN};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn gru_cell(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    let state = GRUState { h: t["h"].clone() };
    Ok(gru_layer(t)?.step(&t["x"], &state)?.h)
}

pub fn gru(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    let (layer, state) = (gru_layer(t)?, GRUState { h: t["h"].clone() });
    let states = layer.seq_init(&t["x"], &state)?;
    let last = &states[states.len() - 1];
    let seen = layer.states_to_tensor(&states)?;
    Tensor::cat(&[seen.flatten_all()?, last.h.flatten_all()?], 0)
}

pub fn lstm_cell(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    let state = LSTMState::new(t["h"].clone(), t["c"].clone());
    let state = lstm_layer(t)?.step(&t["x"], &state)?;
    Tensor::cat(&[state.h(), state.c()], 1)
}

pub fn lstm(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    let layer = lstm_layer(t)?;
    let state = LSTMState::new(t["h"].clone(), t["c"].clone());
    let states = layer.seq_init(&t["x"], &state)?;
    let last = &states[states.len() - 1];
    let seen = layer.states_to_tensor(&states)?;
    let parts = [seen, last.h().clone(), last.c().clone()];
    Tensor::cat(&[parts[0].flatten_all()?, parts[1].flatten_all()?, parts[2].flatten_all()?], 0)
}

fn gru_layer(t: &Tensors) -> Result<GRU> {
    let (size, of) = (t["h"].dim(1)?, t["wx"].dim(1)?);
    GRU::new(of, size, GRUConfig::default(), weights(t))
}

fn lstm_layer(t: &Tensors) -> Result<LSTM> {
    let (size, of) = (t["h"].dim(1)?, t["wx"].dim(1)?);
    LSTM::new(of, size, LSTMConfig::default(), weights(t))
}

fn weights(t: &Tensors) -> VarBuilder<'static> {
    let names = [("wx", "weight_ih_l0"), ("wh", "weight_hh_l0"), ("bx", "bias_ih_l0"), ("bh", "bias_hh_l0")];
    let named: HashMap<_, _> = names.map(|(ours, its)| (its.to_string(), t[ours].clone())).into();
    VarBuilder::from_tensors(named, t["x"].dtype(), t["x"].device())
}
