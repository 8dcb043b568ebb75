// What stands behind a square, from its records: each part is left out where the records say nothing of it.
const section = (title, ...children) => (children.flat(9).some((c) => c) ? el("section", null, el("h3", null, title), children) : null);
const details = (title, ...children) => el("details", { class: "small" }, el("summary", null, title), children);
const fact = (name, ...children) => (children.flat(9).some((c) => c) ? el("div", null, el("dt", null, name), el("dd", null, children)) : null);
const table = (kind, heads, rows) => el("div", { class: "scroll plain", tabindex: "0", role: "group", "aria-label": kind }, el("table", { class: "plain-table" },
  el("thead", null, el("tr", null, heads.map((h) => el("th", { scope: "col" }, h)))), el("tbody", null, rows)));
const cellName = (r) => [r.variant || "default", r.dtype === "all" ? "all dtypes" : r.dtype, r.mode === "compiled" ? "compiled" : ""].filter(Boolean).join(" · ");
const QUIET = ["ok", "absent", "untested"];

function copyable(text, what) {
  const button = el("button", { type: "button", class: "copy" }, "Copy");
  button.addEventListener("click", () => copy(text, what));
  return el("div", { class: "command" }, el("code", null, text), " ", button);
}
const command = (row, column) => row.swept
  ? `python3 noxfile.py -s sweep -- --columns ${bare(column.id)} -k ${shell(row.id)}` : `python3 noxfile.py -s ${shell(`cells(${column.id})`)} -- -k ${shell(row.id)}`;

function squareView(own, c) {
  const { row, about } = own, column = D.columns[c], records = own.all[column.id], type = D.types[row.squares.get(c)], given = D.cases[row.at];
  const worst = records.find((r) => r.status === type.status), rate = D.rate.get(key(row.place, c));
  return [
    el("p", { class: "what" }, chip(type.status), " ", mark(type.change), " ", D.statuses[type.status], rate ? ` · ${rate[0]} of ${rate[1]} ${row.swept ? "examples" : "runs"}` : "", D.repro.has(key(row.place, c)) ? [" ", jump()] : ""),
    el("p", { class: "claim" }, row.claim || given[2]),
    given[1] ? el("p", { class: "dim" }, el("span", { class: "tag" }, given[1]), given[3] ? ` guards ${given[3]}` : "", given[4] ? ` · inputs, reference and checks: ${given[4]}` : "") : null,
    blocks(own, records),
    about.documented && about.documented[column.framework] && records.some((r) => r.status === "differs") ? section("Documented", el("p", null, about.documented[column.framework][1], " ", linked(about.documented[column.framework][0]))) : null,
    about.absent && about.absent[column.framework] && type.status === "absent" ? section("Not offered", el("p", null, about.absent[column.framework][0], ` (looked for ${about.absent[column.framework][1].join(", ")})`)) : null,
    parameters(worst),
    curve(row, column),
    section("Run file", code(own, records)),
    timing(records),
    cellTable(records),
    versions(own, c),
    section("Upstream", tracker(about, row, column)),
    section("Repro", repro(own, column, records)),
    section("Ask again", copyable(command(row, column), "command"), row.swept ? null : el("p", { class: "dim" }, "or, with the environments built, ", el("code", null, `.venv/bin/python -m harness run --columns ${bare(column.id)} -k ${shell(row.id)}`))),
    section("Environment", environments(records)),
    allowed(about),
    details("Records, as they were kept", records.map((r) => raw(r))),
  ];
}
function rowView(own) {
  const { row, about } = own, given = D.cases[row.at];
  return [
    el("p", { class: "claim" }, row.claim || given[2]),
    el("p", { class: "dim" }, el("span", { class: "tag" }, given[1] || "no case any more"), given[3] ? ` guards ${given[3]}` : "", given[4] ? ` · inputs, reference and checks: ${given[4]}` : ""),
    versions(own, -1),
    section("Columns", table("columns", ["Column", "Answer", "Its parts"], [...row.squares].sort((x, y) => D.shown.indexOf(x[0]) - D.shown.indexOf(y[0])).map(([c, t]) =>
      el("tr", null, el("th", { scope: "row" }, el("a", { href: hash({ column: c }) }, D.columns[c].id)), el("td", null, chip(D.types[t].status), " ", mark(D.types[t].change)), el("td", null, D.types[t].fold))))),
    allowed(about),
  ];
}

// The cells that need more than a line; those that went alike, down to the numbers, are told once.
function blocks(own, records) {
  const alike = new Map();
  for (const r of records.filter((x) => !QUIET.includes(x.status))) {
    const name = JSON.stringify([r.status, r.cause, r.message, r.checks.filter((k) => !k.holds), r.log]);
    alike.set(name, [...(alike.get(name) || []), r]);
  }
  return [...alike.values()].map((cells) => {
    const r = cells[0], failed = r.checks.filter((k) => !k.holds);
    return section(cells.map(cellName).join(", "), el("p", { class: "what" }, chip(r.status), r.cause ? [" ", el("span", { class: "tag" }, r.cause)] : ""),
      failed.length ? checks(failed) : el("p", { class: "message" }, r.message || "no message"), tolerance(own.about, r, failed),
      failed.filter((k) => k.trigger).slice(0, 1).map((k) => details("The example, as numbers", el("pre", { tabindex: "0" }, pretty(k.trigger)))),
      r.log ? details("Log, its end", el("pre", { tabindex: "0" }, r.log)) : null);
  });
}
const checks = (list) => table("checks", ["Check", "Got", "Want", "Error / allowed", "Where"], list.map((k) =>
  el("tr", null, el("th", { scope: "row" }, k.check), el("td", { class: "v" }, value(k.got)), el("td", { class: "v" }, value(k.want)), el("td", { class: "v" }, times(k.ratio)), el("td", { class: "note" }, k.note))));
function tolerance(about, record, failed) {
  if (about.derived && failed.length) return el("p", { class: "dim" }, `Allowed: ${about.derived}.`);
  const close = failed.find((k) => k.check.endsWith(" close")), list = (about.allowed || []).filter((a) => a[1] === record.dtype);
  const own = close && (list.find((a) => `${a[0]} close` === close.check) || list.find((a) => a[0].startsWith("every")));
  return own ? el("p", { class: "dim" }, `Allowed in ${own[1]}: rtol ${value(own[2])}, atol ${value(own[3])}. ${own[4]}`) : null;
}
// Every gradient that was held against the reference, those that do not exist or are dead first.
function parameters(record) {
  const list = record.checks.filter((k) => /^d[a-z0-9_]* (present|close|shape)$/i.test(k.check));
  if (!list.length) return null;
  const rank = (k) => (k.holds ? 3 : /present$/.test(k.check) ? 0 : k.got === 0 ? 1 : 2);
  const word = (k) => ["no gradient", "dead: zero", "wrong", "holds"][rank(k)];
  return section(`Gradients, ${cellName(record)}`, table("gradients", ["Gradient", "Held?", "Got", "Want", "Error / allowed"], [...list].sort((a, b) => rank(a) - rank(b) || number(b.ratio) - number(a.ratio)).map((k) =>
    el("tr", null, el("th", { scope: "row" }, k.check.split(" ")[0]), el("td", null, k.holds ? "holds" : el("b", null, word(k))), el("td", { class: "v" }, value(k.got)), el("td", { class: "v" }, value(k.want)), el("td", { class: "v" }, times(k.ratio))))));
}
function curve(row, column) {
  const found = D.curves[row.case];
  if (!found || (found.framework && found.framework !== column.framework)) return null;
  const picture = svg("svg", { class: "curve", viewBox: "0 0 150 48", role: "img", "aria-label": "two loss curves" });
  if (found.band) picture.append(svg("path", { class: "band", d: found.band }));
  picture.append(svg("path", { class: "healthy", d: found.mean }), svg("path", { class: "faulty", d: found.curve }));
  return section("The loss with this defect", picture, el("p", { class: "dim" }, `${found.of}: solid with the defect, dashed healthy${found.band ? " (mean and band)" : ""}. ${found.told ? "Here the curve would have told." : "The curve does not tell."}`));
}

// The run file of the worst cell, beside the one of a variant that works.
function code(own, records) {
  const bad = records.find((r) => D.bad.includes(r.status)) || records[0];
  const works = records.find((r) => r.variant !== bad.variant && r.file && records.filter((x) => x.variant === r.variant).every((x) => x.status === "ok"));
  const shown = [[bad, bad.status], ...(works ? [[works, `${works.variant || "default"}: ok`]] : [])].filter(([r]) => r.file);
  const rest = records.filter((r) => r.file && !shown.some(([s]) => s.file === r.file)).filter((r, i, list) => list.findIndex((x) => x.file === r.file) === i);
  return [el("div", { class: shown.length > 1 ? "beside" : "" }, shown.map(([r, what]) => figure(own, r, what))), rest.map((r) => details(r.file, figure(own, r, r.status)))];
}
function figure(own, record, what) {
  const file = own.files[`${record.file}@${record.file_sha256}`];
  if (!file) return null;
  const name = record.function, parts = reached(file.lines, name);
  const lines = (list) => el("pre", { class: "code", tabindex: "0" }, list.map((line) => [line.map(([colour, piece]) => (colour ? el("span", { class: `t-${colour}` }, piece) : piece)), "\n"]));
  const cut = parts.length > 0 && file.lines.length > 60;
  return el("figure", null, el("figcaption", null, el("b", null, what), " ", el("span", { class: "dim" }, `${file.path}${cut ? `, ${name}` : ""} · sha256 ${file.sha256.slice(0, 12)}`), file.note ? el("b", null, ` ${file.note}`) : ""),
    cut ? [lines(parts), details("the whole file", lines(file.lines))] : lines(file.lines));
}
// The lines of a function and of those of the same file that it calls, in the order of the file.
function reached(lines, name) {
  const starts = lines.flatMap((line, i) => (/^\S/.test(text(line)) && !/^[)}\]]/.test(text(line)) ? [i] : []));
  const parts = starts.map((from, i) => ({ lines: lines.slice(from, starts[i + 1]), name: /^(?:pub )?(?:def|fn) (?:r#)?(\w+)/.exec(text(lines[from]))?.[1] }));
  const wanted = new Set(), queue = [name];
  while (queue.length) {
    const part = parts.find((p) => p.name === queue[0]), body = part && !wanted.has(part) ? part.lines.map(text).join("\n") : "";
    queue.shift();
    if (!body) continue;
    wanted.add(part);
    queue.push(...parts.map((p) => p.name).filter((n) => n && new RegExp(`\\b${n}\\b`).test(body)));
  }
  return parts.filter((p) => wanted.has(p)).flatMap((p) => p.lines);
}
const text = (line) => line.map((piece) => piece[1]).join("");

// Each round is a fresh process of the same build: how far they lie apart is what the machine does by itself.
function timing(records) {
  const timed = records.filter((r) => r.speed && r.speed.cpu_s);
  if (!timed.length) return null;
  const rows = timed.flatMap((r) => Object.entries(r.speed.cpu_s).filter(([, v]) => v.length).map(([name, rounds]) => [r, name, rounds]));
  return section("Timing", table("rounds", ["Function", "CPU seconds of each round, and the A/A band", "median", "A/A spread"], rows.map(([r, name, rounds]) => {
    const low = Math.min(...rounds), high = Math.max(...rounds), sorted = [...rounds].sort((a, b) => a - b), middle = sorted.length % 2 ? sorted[(sorted.length - 1) / 2] : (sorted[sorted.length / 2 - 1] + sorted[sorted.length / 2]) / 2;
    const half = Math.max(high / middle - 1, 1 - low / middle, 0.05) * 1.3, x = (v) => 80 + (80 * (v / middle - 1)) / half;
    const strip = svg("svg", { class: "plot", viewBox: "0 0 160 16", role: "img", "aria-label": rounds.map(seconds).join(", ") }, svg("rect", { class: "of", x: x(low), width: Math.max(1, x(high) - x(low)), height: 16 }), svg("path", { class: "axis", d: "M0 8H160" }), ...rounds.map((v) => svg("circle", { cx: x(v), cy: 8, r: 3 })));
    return el("tr", null, el("th", { scope: "row" }, `${name} ${cellName(r)}`), el("td", null, strip), el("td", { class: "v" }, seconds(middle)), el("td", { class: "v" }, `${digits(100 * (high / low - 1), 2)} %`));
  })), el("p", { class: "dim" }, `${timed[0].speed.shape}; ${timed[0].speed.setting || ""}. The band reaches over the rounds of this one build in this run (A/A): a difference that is no larger says nothing.`));
}
const cellTable = (records) => section("Cells", table("cells", ["Cell", "Status", "Checks", "Worst error / allowed", "Run", "CPU", "Peak memory", "Load", "Asked (UTC)"], records.map((r) =>
  el("tr", null, el("th", { scope: "row" }, cellName(r)), el("td", null, chip(r.status)), el("td", null, r.checks.length ? `${r.checks.filter((k) => k.holds).length} of ${r.checks.length} hold` : "not reached"),
    el("td", { class: "v" }, r.checks.length ? times(Math.max(...r.checks.map((k) => (Number.isNaN(number(k.ratio)) ? Infinity : number(k.ratio))))) : NOTHING), el("td", { class: "v" }, seconds(r.run_s)), el("td", { class: "v" }, seconds(r.cpu_s)), el("td", { class: "v" }, size(r.peak_bytes)),
    el("td", { class: "v" }, value(r.load)), el("td", { class: "when" }, `${r.at} `, el("span", { class: "dim" }, `${age(r.at)}; run ${r.run}`))))));

function versions(own, c) {
  const lines = (own.about.strips || []).map(([name, columns, says]) => el("div", { class: "strip" }, el("span", { class: "name" }, name),
    el("ol", null, columns.map((id) => {
      const at = D.column.get(id), status = D.types[own.row.squares.get(at)].status;
      return el("li", null, el("a", { href: hash({ row: own.row.place, column: at }), class: `step ${status}`, "aria-current": at === c && "page" }, el("span", { class: "version" }, D.columns[at].label), " ", glyph(status), status));
    })), says ? el("b", null, says) : ""));
  const nights = c < 0 ? null : D.nights.statuses[`${own.row.id}/${D.columns[c].id}`];
  const searched = (own.about.bisect || []).map((text) => el("p", { class: "dim" }, "bisect: ", text));
  return section("Over versions and runs", lines, searched, nights ? el("p", { class: "dim" }, "Run by run: ", nights.map((s, i) => [i ? ", " : "", D.nights.runs[i], " ", s ? [glyph(s), " ", s] : "not asked"]), ".") : null);
}
const tracker = (about, row, column) => [column.framework, `${column.framework} ${row.item}`].map((k) => (about.tracker && about.tracker[k] ? el("p", null, linked(about.tracker[k])) : null));
function environments(records) {
  const places = [...new Set(records.map((r) => r.environment))];
  return places.map((at) => el("dl", { class: "facts" }, Object.entries(D.environments[at] || {}).flatMap(([k, v]) => (v && typeof v === "object" ? Object.entries(v).map(([a, b]) => fact(`framework: ${a}`, value(b))) : v === "" || v === null ? [] : [fact(k === "lock" ? "lock hash" : k, value(v))]))));
}
function allowed(about) {
  const list = about.allowed || [], planted = Object.entries(about.explained || {});
  return list.length || planted.length || about.derived ? details("What is allowed, and why", about.derived ? el("p", null, about.derived) : null, list.length ? table("tolerances", ["Output", "dtype", "rtol", "atol", "Derivation"], list.map((a) =>
    el("tr", null, el("th", { scope: "row" }, a[0]), el("td", null, a[1]), el("td", { class: "v" }, value(a[2])), el("td", { class: "v" }, value(a[3])), el("td", { class: "note" }, a[4])))) : null,
  planted.length ? el("p", null, "Planted errors that may survive: ", planted.map(([name, why]) => `${name}: ${why}. `)) : null) : null;
}
const raw = (r) => el("pre", { tabindex: "0" }, JSON.stringify({ ...r, environment: D.environments[r.environment] }, null, 1));
function pretty(json) {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return json;
  }
}
