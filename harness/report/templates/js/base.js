// What the other parts stand on. The page says its table without any of this; nothing here writes markup, only nodes and their text.
"use strict";
const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
let D = null; // the index
const S = { q: "", a: "", b: "", row: -1, column: -1 }; // what is shown: query, compared columns, open row and column
const MARKS = { new: "▲", fixed: "▽", changed: "◇" };
const NOTHING = "–";

function el(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) if (value !== undefined && value !== false) node.setAttribute(key, value);
  node.append(...children.flat(9).filter((c) => c !== null && c !== undefined && c !== ""));
  return node;
}
function svg(name, attributes, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  node.append(...children);
  return node;
}
const glyph = (status) => svg("svg", { class: "g", "aria-hidden": "true" }, svg("use", { href: `#g-${status}` }));
const chip = (status) => el("span", { class: `chip ${status}` }, glyph(status), status);
const mark = (change) => (change in MARKS ? el("span", { class: `mark ${change}` }, `${MARKS[change]} ${change}`) : null);

function say(text) {
  $("said").textContent = "";
  requestAnimationFrame(() => ($("said").textContent = text));
}
async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { class: "away", readonly: "" }); // from a disk a page may have no clipboard of its own
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(`${what} copied`);
}

const opened = new Map();
function blob(name) {
  if (!opened.has(name)) opened.set(name, inflate($(`blob-${name}`).textContent));
  return opened.get(name);
}
// Most rows have none: a blob of repros is there where one of its rows has.
function repros(row) {
  const name = row.blob.replace("records-", "repros-");
  return $(`blob-${name}`) ? blob(name) : {};
}
async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

// Numbers as the page writes them elsewhere: what was not measured is a dash, never zero.
const number = (x) => (typeof x === "number" ? x : x === "inf" ? Infinity : x === "-inf" ? -Infinity : NaN);
const digits = (x, n) => String(Number(x.toPrecision(n)));
const value = (x) => (x === null || x === undefined ? NOTHING : typeof x === "number" ? digits(x, 9) : String(x));
function times(x) {
  const ratio = number(x);
  if (Number.isNaN(ratio)) return NOTHING;
  return ratio === Infinity ? "∞" : ratio >= 100 ? `${Math.round(ratio).toLocaleString("en")}×` : `${digits(ratio, 3)}×`;
}
function seconds(x) {
  if (!x) return NOTHING;
  for (const [unit, scale] of [["s", 1], ["ms", 1e-3], ["µs", 1e-6]]) if (x >= scale) return `${digits(x / scale, 3)} ${unit}`;
  return `${digits(x / 1e-9, 3)} ns`;
}
const size = (x) => (!x ? NOTHING : x >= 2 ** 30 ? `${digits(x / 2 ** 30, 3)} GiB` : `${digits(x / 2 ** 20, 3)} MiB`);
function age(at) {
  const days = (Date.parse(D.made) - Date.parse(at)) / 864e5;
  return Number.isNaN(days) ? "" : days < 1 ? "less than a day before this page" : `${Math.floor(days)} day${days < 2 ? "" : "s"} before this page`;
}
function linked(note) {
  // Only http(s) becomes a link: nothing else in a note can.
  return String(note).split(/(https?:\/\/[^\s<>"'\])]+[^\s<>"'\]).,;:!?])/).map((piece, i) => (i % 2 ? el("a", { href: piece, rel: "noreferrer" }, piece) : piece));
}

// Addresses: #/c/ROW/COLUMN opens a square, #/r/ROW a row; ?q= &a= &b= keep the filter and the comparison.
const anchor = (name) => name.split(/\s+/).filter(Boolean).join("_");
const rowLink = (r) => `/r/${anchor(D.rows[r].id)}`;
const squareLink = (r, c) => `/c/${anchor(D.rows[r].id)}/${anchor(D.columns[c].id)}`;
function hash(changes) {
  const now = { ...S, ...changes };
  const path = now.row < 0 ? "" : now.column < 0 ? rowLink(now.row) : squareLink(now.row, now.column);
  const asked = ["q", "a", "b"].filter((k) => now[k]).map((k) => `${k}=${encodeURIComponent(now[k]).replaceAll("%20", "+").replaceAll("%3A", ":")}`);
  return `#${path}${asked.length ? `?${asked.join("&")}` : ""}`;
}
function go(changes, replace) {
  const to = hash(changes);
  if (to === location.hash || (to === "#" && !location.hash)) return follow();
  if (replace) history.replaceState(null, "", to === "#" ? location.pathname + location.search : to);
  else location.hash = to;
  if (replace) follow();
}
