//! The Rust half of the protocol: one process asks one cell and answers with one JSON line; careful that a panic is an answer too.
//!
//!     PROBE list
//!     PROBE ask CASE/VARIANT/FUNCTION DTYPE INPUTS OUTPUTS REPLY_FD TIME_JSON
//!
//! harness/worker.py spawns it; harness/child.py gives the same replies for Python (`answer`, `refusal` and `timed` there).
//! It is compiled into every column's crate beside that framework's glue.rs and the table which harness/rust.py generates.

use crate::glue;
use serde_json::{json, Map, Value};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::os::fd::FromRawFd;
use std::panic::{catch_unwind, set_hook, take_hook, AssertUnwindSafe};
use std::sync::Mutex;
use std::time::Instant;

/// What this binary was made of; every value is generated.
pub struct Probe {
    pub column: &'static str,
    pub crates: &'static [(&'static str, &'static str)],
    /// Of the texts compiled in: a binary left over from other texts is told by it.
    pub sources: &'static str,
    /// The project's folder, which no message should name.
    pub root: &'static str,
    pub table: &'static [(&'static str, glue::Run)],
}

/// Why there is no answer: the framework refused, its device is missing, or the fault is ours.
pub enum Refusal {
    Framework(String),
    Device(String),
    Harness(String),
}

impl From<String> for Refusal {
    fn from(ours: String) -> Self {
        Refusal::Harness(ours)
    }
}

/// The first panic of the run: those of other threads only follow from it.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

pub fn main(probe: &Probe) {
    // The text of an error must not depend on whether the person has backtraces on.
    std::env::remove_var("RUST_BACKTRACE");
    std::env::remove_var("RUST_LIB_BACKTRACE");
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["list"] => println!("{}", list(probe)),
        ["ask", cell, dtype, inputs, outputs, reply, time] => {
            watch_panics(probe.root);
            let said = ask(probe, cell, dtype, inputs, outputs, time);
            let _ = std::io::stdout().flush();
            let fd = reply.parse().expect("REPLY_FD is a descriptor's number");
            // SAFETY: worker.py opened it for this process, and nothing else here owns it.
            let mut replies = unsafe { File::from_raw_fd(fd) };
            writeln!(replies, "{said}").expect("the reply can be written");
            std::process::exit(0); // a framework's threads and destructors are no part of the cell
        }
        _ => {
            eprintln!("usage: PROBE list | PROBE ask CELL DTYPE INPUTS OUTPUTS REPLY_FD TIME_JSON");
            std::process::exit(2);
        }
    }
}

fn list(probe: &Probe) -> Value {
    let cells: Vec<&str> = probe.table.iter().map(|(cell, _)| *cell).collect();
    json!({"column": probe.column, "crates": crates(probe), "sources": probe.sources, "cells": cells})
}

fn crates(probe: &Probe) -> Map<String, Value> {
    probe
        .crates
        .iter()
        .map(|(name, version)| (name.to_string(), json!(version)))
        .collect()
}

fn facts(probe: &Probe, dtype: &str) -> Value {
    let mut facts = crates(probe);
    facts.extend(glue::facts(dtype));
    Value::Object(facts)
}

/// `stage` follows how far it came: an error or a panic means something else at each.
fn ask(probe: &Probe, cell: &str, dtype: &str, inputs: &str, outputs: &str, time: &str) -> Value {
    let stage = Cell::new("load");
    let asked = catch_unwind(AssertUnwindSafe(|| -> Result<Value, Refusal> {
        let run = find(probe, cell).ok_or(Refusal::Harness(format!("no {cell} in this binary")))?;
        let plan: Value = serde_json::from_str(time)
            .map_err(|bad| Refusal::Harness(format!("TIME_JSON: {bad}")))?;
        let tensors = glue::load(inputs, dtype)?;
        if !plan.is_null() {
            return timed(probe, cell, dtype, &tensors, outputs, &plan, &stage);
        }
        stage.set("run");
        let (start, cpu) = (Instant::now(), cpu_ns());
        let out = glue::call(run, &tensors)?;
        let (run_s, run_cpu_s) = (
            start.elapsed().as_secs_f64(),
            (cpu_ns() - cpu) as f64 * 1e-9,
        );
        stage.set("save");
        glue::save(out, outputs)?;
        Ok(
            json!({"end": "answer", "run_s": run_s, "run_cpu_s": run_cpu_s, "facts": facts(probe, dtype)}),
        )
    }));
    let framework = if stage.get() == "run" {
        "framework"
    } else {
        "harness"
    };
    match asked {
        Ok(Ok(said)) => said,
        Ok(Err(Refusal::Framework(message))) => raised(framework, stage.get(), "Error", &message),
        Ok(Err(Refusal::Device(message))) => raised("device", stage.get(), "Error", &message),
        Ok(Err(Refusal::Harness(message))) => raised("harness", stage.get(), "Error", &message),
        Err(_) => {
            let message = PANIC
                .lock()
                .ok()
                .and_then(|mut first| first.take())
                .unwrap_or_default();
            // A run file that asks its inputs for a name the case does not have is our mistake, not a refusal.
            let ours = message.starts_with("no entry found for key");
            raised(
                if ours { "harness" } else { framework },
                stage.get(),
                "panic",
                &message,
            )
        }
    }
}

fn raised(kind: &str, stage: &str, class: &str, message: &str) -> Value {
    let message: String = message.trim().chars().take(500).collect();
    json!({"end": "raised", "kind": kind, "stage": stage, "type": class, "message": message})
}

fn find(probe: &Probe, cell: &str) -> Option<glue::Run> {
    probe
        .table
        .iter()
        .find(|(key, _)| *key == cell)
        .map(|(_, run)| *run)
}

/// Time each asked function: warm up by time, then calls; CPU and wall nanoseconds of each, and the memory one adds.
fn timed(
    probe: &Probe,
    cell: &str,
    dtype: &str,
    tensors: &glue::Inputs,
    outputs: &str,
    plan: &Value,
    stage: &Cell<&'static str>,
) -> Result<Value, Refusal> {
    let wanted = || {
        Refusal::Harness(format!(
            "TIME_JSON {plan}: functions, inputs, warm_up_s and calls are wanted"
        ))
    };
    let functions = plan["functions"].as_array().ok_or_else(wanted)?;
    let warm_up_s = plan["warm_up_s"].as_f64().ok_or_else(wanted)?;
    let calls = plan["calls"].as_u64().ok_or_else(wanted)?;
    let (row, asked) = cell.rsplit_once('/').ok_or_else(wanted)?;
    let mut memory_bytes = BTreeMap::new();
    let (mut all_cpu_ns, mut all_wall_ns) = (BTreeMap::new(), BTreeMap::new());
    let (start, cpu) = (Instant::now(), cpu_ns());
    for name in functions {
        let name = name.as_str().ok_or_else(wanted)?;
        let Some(run) = find(probe, &format!("{row}/{name}")) else {
            continue;
        };
        stage.set("load");
        let own = match plan["inputs"][name].as_str() {
            Some(path) => Some(glue::load(path, dtype)?),
            None => None,
        };
        let arguments = own.as_ref().unwrap_or(tensors);
        stage.set("run");
        let out = glue::call(run, arguments)?;
        if name == asked {
            stage.set("save");
            glue::save(out, outputs)?;
            stage.set("run");
        } else {
            drop(out);
        }
        let warm = Instant::now();
        while warm.elapsed().as_secs_f64() < warm_up_s {
            drop(black_box(glue::call(run, arguments)?));
        }
        let (mut cpus, mut walls) = (Vec::new(), Vec::new());
        for _ in 0..calls {
            let (wall, cpu) = (Instant::now(), cpu_ns());
            drop(black_box(glue::call(run, arguments)?));
            cpus.push(cpu_ns() - cpu);
            walls.push(wall.elapsed().as_nanos() as u64);
        }
        all_cpu_ns.insert(name, cpus);
        all_wall_ns.insert(name, walls);
        memory_bytes.insert(name, added_memory(run, arguments)?);
    }
    Ok(json!({
        "end": "answer", "run_s": start.elapsed().as_secs_f64(), "run_cpu_s": (cpu_ns() - cpu) as f64 * 1e-9,
        "cpu_ns": all_cpu_ns, "wall_ns": all_wall_ns, "memory_bytes": memory_bytes, "facts": facts(probe, dtype),
    }))
}

/// Peak resident bytes of one warm call above what was resident before it, with the heap's free pages given back first.
fn added_memory(run: glue::Run, arguments: &glue::Inputs) -> Result<u64, Refusal> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it only gives free pages back.
    unsafe {
        libc::malloc_trim(0);
    }
    let before = status_bytes("VmRSS:");
    let _ = std::fs::write("/proc/self/clear_refs", "5"); // resets VmHWM (man 5 proc)
    drop(black_box(glue::call(run, arguments)?));
    Ok(status_bytes("VmHWM:").saturating_sub(before))
}

/// CPU time of all threads of this process.
fn cpu_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` outlives the call, which only writes to it.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut now) };
    assert_eq!(failed, 0, "the process has a CPU clock");
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn status_bytes(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = status.lines().find_map(|line| {
        line.strip_prefix(field)?
            .split_whitespace()
            .next()?
            .parse::<u64>()
            .ok()
    });
    kib.unwrap_or(0) * 1024
}

/// Keep the first panic's text and place for the reply, and print it as Rust does.
fn watch_panics(root: &'static str) {
    let print = take_hook();
    set_hook(Box::new(move |panic| {
        print(panic);
        let payload = panic.payload();
        let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
        let text = text
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or("a panic without a text".into());
        let place = panic
            .location()
            .map(|at| format!(" ({}:{})", short(at.file(), root), at.line()))
            .unwrap_or_default();
        if let Ok(mut first) = PANIC.lock() {
            // The place must survive the cut to 500 characters.
            first.get_or_insert_with(|| text.chars().take(300).chain(place.chars()).collect());
        }
    }));
}

/// The crate or project path of a source file, without the machine's folders.
fn short<'a>(file: &'a str, root: &str) -> &'a str {
    if let Some((_, inside)) = file.split_once("/registry/src/") {
        return inside
            .split_once('/')
            .map_or(inside, |(_index, inside)| inside);
    }
    file.strip_prefix(root)
        .map_or(file, |inside| inside.trim_start_matches('/'))
}
