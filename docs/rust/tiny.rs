//! What the two examples share: command line, batches, first weights, log; careful that each is a function of its
//! arguments alone, so that a resumed run sees exactly what the whole run saw.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

pub const VOCABULARY: usize = 13;
pub const WIDTH: usize = 8;
pub const EPSILON: f64 = 1e-5;
pub const RATE: f64 = 0.05;
const TOKENS: usize = 24; // the last ids of the vocabulary never occur: rows of the table that no batch reads

#[derive(Default)]
pub struct Options {
    pub steps: usize, // of the whole run: a resumed one does what is left of them
    pub save: Option<PathBuf>,
    pub resume: Option<PathBuf>,
    pub log: Option<PathBuf>,
    pub grads: Option<PathBuf>,
    pub fused: bool,
    pub own_adamw: bool,
}

pub fn options() -> Options {
    let (mut given, mut found) = (std::env::args().skip(1), Options::default());
    while let Some(name) = given.next() {
        let mut value = || given.next().unwrap_or_else(|| refuse(&name));
        match name.as_str() {
            "--steps" => found.steps = value().parse().unwrap_or_else(|_| refuse(&name)),
            "--save" => found.save = Some(value().into()),
            "--resume" => found.resume = Some(value().into()),
            "--log" => found.log = Some(value().into()),
            "--grads" => found.grads = Some(value().into()),
            "--fused" => found.fused = true,
            "--own-adamw" => found.own_adamw = true,
            _ => refuse(&name),
        }
    }
    found
}

fn refuse<T>(name: &str) -> T {
    eprintln!("found:   {name}\nwanted:  [--steps N] [--save DIR] [--resume DIR] [--log FILE] [--grads FILE] [--fused] [--own-adamw (candle)]\ndo this: correct it (--steps: of the whole run)");
    std::process::exit(2)
}

/// Tokens of a step, and the token that follows each.
pub fn batch(step: usize) -> (Vec<u32>, Vec<u32>) {
    let ids: Vec<u32> = (0..TOKENS)
        .map(|i| ((7 * i + 3 * step) % (VOCABULARY - 2)) as u32)
        .collect();
    let next = ids
        .iter()
        .map(|id| (5 * id + 1) % (VOCABULARY as u32 - 2))
        .collect();
    (ids, next)
}

/// First weights in [-0.5, 0.5), by a linear congruential generator: the same in every framework and on every machine.
pub fn weights(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
    };
    (0..count).map(|_| next()).collect()
}

/// One line a step; `loss_bits` is the loss exactly.
pub fn log(file: &Option<PathBuf>, step: usize, loss: f32) {
    if let Some(path) = file {
        let mut file: File = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .expect("a log that can be written");
        writeln!(
            file,
            r#"{{"step": {step}, "loss": {loss}, "loss_bits": "{:08x}"}}"#,
            loss.to_bits()
        )
        .expect("room for the log");
    }
}
