//! A tiny language model in Burn that writes its gradients for `gradarbiter compare` and its losses for `gradarbiter exact-resume`.
//!
//! `--fused` computes the norm on the inner backend and wraps the result, as a kernel of one's own is called before anybody wrote its backward: the loss
//! falls, table and norm stay as they were. Burn records the optimizer too, so a run is resumed exactly.

#[path = "../../tiny.rs"]
mod tiny;

use burn::backend::{Autodiff, NdArray};
use burn::module::{AutodiffModule, Module, ModuleVisitor, Param};
use burn::nn::{Embedding, EmbeddingConfig, Linear, LinearConfig, RmsNorm, RmsNormConfig};
use burn::optim::{AdamWConfig, GradientsParams, Optimizer};
use burn::record::{FullPrecisionSettings, NamedMpkFileRecorder, Recorder};
use burn::tensor::activation::log_softmax;
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Int, Tensor, TensorData};
use safetensors::tensor::{Dtype, TensorView};
use std::path::Path;
use tiny::{EPSILON, RATE, VOCABULARY, WIDTH};

type B = Autodiff<NdArray<f32>>;

#[derive(Module, Debug)]
struct Model<B: Backend> {
    embedding: Embedding<B>,
    norm: RmsNorm<B>,
    head: Linear<B>,
}

impl Model<B> {
    fn new() -> Self {
        let device = Default::default();
        let first = |seed, shape: [usize; 2]| {
            let data = TensorData::new(tiny::weights(seed, shape[0] * shape[1]), shape);
            Param::from_tensor(Tensor::from_data(data, &device))
        };
        let mut model = Self {
            embedding: EmbeddingConfig::new(VOCABULARY, WIDTH).init(&device),
            norm: RmsNormConfig::new(WIDTH)
                .with_epsilon(EPSILON)
                .init(&device),
            head: LinearConfig::new(WIDTH, VOCABULARY)
                .with_bias(false)
                .init(&device),
        };
        model.embedding.weight = first(1, [VOCABULARY, WIDTH]);
        model.head.weight = first(2, [WIDTH, VOCABULARY]);
        model
    }

    fn loss(&self, step: usize, fused: bool) -> Tensor<B, 1> {
        let (ids, next) = tiny::batch(step);
        let whole = |ids: Vec<u32>| -> Tensor<B, 2, Int> {
            let (rows, data) = (
                ids.len(),
                ids.into_iter().map(i64::from).collect::<Vec<_>>(),
            );
            Tensor::from_data(TensorData::new(data, [1, rows]), &Default::default())
        };
        let x = self.embedding.forward(whole(ids));
        let x = if fused {
            Tensor::from_inner(self.norm.valid().forward(x.inner()))
        } else {
            self.norm.forward(x)
        };
        let chances = log_softmax(self.head.forward(x), 2);
        chances.gather(2, whole(next).unsqueeze_dim(2)).mean().neg()
    }
}

fn main() {
    let options = tiny::options();
    let (device, recorder) = (
        Default::default(),
        NamedMpkFileRecorder::<FullPrecisionSettings>::new(),
    );
    let (mut model, mut done) = (Model::new(), 0);
    let mut optimizer = AdamWConfig::new()
        .with_weight_decay(0.01)
        .init::<B, Model<B>>();
    if let Some(folder) = &options.resume {
        model = model
            .load_file(folder.join("model"), &recorder, &device)
            .expect("the model's record");
        optimizer = optimizer.load_record(
            recorder
                .load(folder.join("optimizer"), &device)
                .expect("the optimizer's record"),
        );
        let text = std::fs::read_to_string(folder.join("step")).expect("the step's file");
        done = text.trim().parse().expect("a number");
    }

    for step in done..options.steps {
        let loss = model.loss(step, options.fused);
        let value = loss.clone().into_scalar();
        let grads = loss.backward();
        if let (Some(path), true) = (&options.grads, step == done) {
            write(&model, Some(&grads), path);
        }
        model = optimizer.step(
            RATE,
            model.clone(),
            GradientsParams::from_grads(grads, &model),
        );
        tiny::log(&options.log, step + 1, value);
    }

    if let Some(folder) = &options.save {
        std::fs::create_dir_all(folder).expect("a folder that can be made");
        write(&model, None, &folder.join("weights.safetensors"));
        model
            .save_file(folder.join("model"), &recorder)
            .expect("the model's record");
        recorder
            .record(optimizer.to_record(), folder.join("optimizer"))
            .expect("the optimizer's record");
        std::fs::write(folder.join("step"), options.steps.to_string()).expect("the step's file");
    }
}

// [gradients]
/// For `gradarbiter compare`. A parameter without a gradient is left out, and the comparison names it.
struct Named<'a> {
    grads: Option<&'a <B as AutodiffBackend>::Gradients>, // none: the parameters themselves
    path: Vec<String>,
    found: Vec<(String, TensorData)>,
}

impl ModuleVisitor<B> for Named<'_> {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_string());
    }
    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let data = match self.grads {
            Some(grads) => param.val().grad(grads).map(|g| g.into_data()),
            None => Some(param.val().into_data()),
        };
        self.found
            .extend(data.map(|data| (self.path.join("."), data)));
    }
}

fn write(model: &Model<B>, grads: Option<&<B as AutodiffBackend>::Gradients>, path: &Path) {
    let (names, found) = (Vec::new(), Vec::new());
    let mut named = Named {
        grads,
        path: names,
        found,
    };
    model.visit(&mut named);
    let views = named.found.iter().map(|(name, data)| {
        let view = TensorView::new(Dtype::F32, data.shape.to_vec(), data.as_bytes());
        (name, view.expect("float32"))
    });
    safetensors::serialize_to_file(views, None, path).expect("a file that can be written");
}
// [gradients]
