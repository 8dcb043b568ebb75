//! The Rust half of a sweep: many examples of one operation in one process; careful that one that panics costs only itself.
//!
//! harness/swept.py is the same for Python. The examples are listed beside their tensors: INPUTS with the extension `json`.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;
use std::sync::Mutex;

pub type Attributes = Map<String, Value>;

/// Examples asked once more at the end: an answer must not depend on what was asked before it.
const AGAIN: usize = 6;

#[derive(Clone)]
pub struct Example {
    /// Name and shape of each tensor as the operation sees it.
    pub tensors: Vec<(String, Vec<usize>)>,
    pub floats: Vec<String>,
    layouts: BTreeMap<String, String>,
    pub attributes: Attributes,
    pub twice: bool,
    pub chain: bool,
    pub gradient: bool,
    /// Of its one tensor the view alone is asked, and no operation.
    pub view: bool,
    prefix: String,
}

impl Example {
    /// What the example's tensor is called in the file of inputs.
    pub fn stored(&self, name: &str) -> String {
        format!("{}/{name}", self.prefix)
    }

    pub fn layout(&self, name: &str) -> &str {
        &self.layouts[name]
    }
}

pub fn examples(inputs: &str) -> Result<Vec<Example>, String> {
    let path = Path::new(inputs).with_extension("json");
    let text = fs::read_to_string(&path).map_err(|bad| format!("{}: {bad}", path.display()))?;
    let listed: Vec<Value> = serde_json::from_str(&text).map_err(|bad| bad.to_string())?;
    listed
        .iter()
        .enumerate()
        .map(|(n, value)| example(n, value).ok_or(format!("example {n} cannot be read: {value}")))
        .collect()
}

fn example(number: usize, value: &Value) -> Option<Example> {
    let shape = |sizes: &Value| -> Option<Vec<usize>> {
        sizes
            .as_array()?
            .iter()
            .map(|n| n.as_u64().map(|n| n as usize))
            .collect()
    };
    let tensors = value["tensors"].as_object()?.iter();
    let layouts = value["layouts"].as_object()?.iter();
    let floats = value["floats"].as_array()?.iter();
    Some(Example {
        tensors: tensors
            .map(|(name, sizes)| Some((name.clone(), shape(sizes)?)))
            .collect::<Option<_>>()?,
        floats: floats
            .map(|name| name.as_str().map(str::to_string))
            .collect::<Option<_>>()?,
        layouts: layouts
            .map(|(name, layout)| Some((name.clone(), layout.as_str()?.to_string())))
            .collect::<Option<_>>()?,
        attributes: value["attributes"].as_object()?.clone(),
        twice: value["use"] == "twice",
        chain: value["use"] == "chain",
        gradient: value["gradient"].as_bool()?,
        view: value["view"].as_bool()?,
        prefix: number.to_string(),
    })
}

/// An axis of a tensor of that rank, counted from its start.
pub fn axis(value: &Value, rank: usize) -> usize {
    let axis = value.as_i64().expect("an axis");
    (if axis < 0 { axis + rank as i64 } else { axis }) as usize
}

pub fn numbers(value: &Value) -> Vec<i64> {
    let listed = value.as_array().expect("a list");
    listed
        .iter()
        .map(|n| n.as_i64().expect("a whole number"))
        .collect()
}

pub fn sizes<const N: usize>(value: &Value) -> [usize; N] {
    let listed: Vec<usize> = numbers(value).into_iter().map(|n| n as usize).collect();
    listed.try_into().expect("a number an axis")
}

/// How each example ended, in their order, until `said` takes it.
static SAID: Mutex<Vec<Value>> = Mutex::new(Vec::new());

pub fn said() -> Vec<Value> {
    SAID.lock()
        .map(|mut said| std::mem::take(&mut *said))
        .unwrap_or_default()
}

/// Ask every example; what they answer is named by their numbers.
pub fn each<T>(
    examples: &[Example],
    ask: impl Fn(&Example) -> Result<BTreeMap<String, T>, String>,
) -> BTreeMap<String, T> {
    let (mut kept, mut said) = (BTreeMap::new(), Vec::new());
    for (number, example) in examples.iter().enumerate() {
        match attempt(example, &ask) {
            Ok(out) => {
                kept.extend(out.into_iter().map(|(k, t)| (format!("{number}/{k}"), t)));
                said.push(serde_json::json!({"end": "answer"}));
            }
            Err(refused) => {
                // What has no backward has a value all the same.
                let forward = Example {
                    gradient: false,
                    ..example.clone()
                };
                let alone = example.gradient.then(|| attempt(&forward, &ask));
                said.push(match alone {
                    Some(Ok(mut out)) => {
                        kept.extend(out.remove("y").map(|y| (format!("{number}/y"), y)));
                        refused
                    }
                    Some(Err(earlier)) => earlier,
                    None => refused,
                });
            }
        }
    }
    let again = if examples.len() > 1 { AGAIN } else { 0 };
    for (number, example) in examples.iter().enumerate().take(again) {
        if said[number]["end"] == "answer" {
            if let Ok(out) = attempt(example, &ask) {
                let named = out.into_iter().filter(|(name, _)| !name.starts_with("in."));
                kept.extend(named.map(|(k, t)| (format!("{number}/again.{k}"), t)));
            }
        }
    }
    if let Ok(mut all) = SAID.lock() {
        *all = said;
    }
    kept
}

fn attempt<T>(
    example: &Example,
    ask: &impl Fn(&Example) -> Result<BTreeMap<String, T>, String>,
) -> Result<BTreeMap<String, T>, Value> {
    let refused = |class: &str, message: String| {
        let message: String = message.trim().chars().take(500).collect();
        serde_json::json!({"end": "raised", "kind": "framework", "stage": "run", "type": class, "message": message})
    };
    match catch_unwind(AssertUnwindSafe(|| ask(example))) {
        Ok(Ok(out)) => Ok(out),
        Ok(Err(message)) => Err(refused("Error", message)),
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            let message = text.unwrap_or("a panic without a text".to_string());
            // A run file that asks for a name the operation does not have is our mistake, not a refusal.
            let ours = message.starts_with("no entry found for key");
            let mut said = refused("panic", message);
            if ours {
                said["kind"] = "harness".into();
            }
            Err(said)
        }
    }
}
