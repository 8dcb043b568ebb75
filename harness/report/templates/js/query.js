// The query box: a query becomes a test of each row, column, square and cell.
const DTYPES = { bf16: "bfloat16", fp16: "float16", f16: "float16", half: "float16", fp32: "float32", f32: "float32", fp64: "float64", f64: "float64" };
const KEYS = ["case", "class", "fw", "col", "version", "status", "is", "dtype", "mode", "variant", "rate", "speed"];
const IS = {
  new: (s) => s.change === "new", fixed: (s) => s.change === "fixed", changed: (s) => s.change in MARKS, bad: (s) => D.bad.includes(s.status),
  asked: (s) => D.executed.includes(s.status), timed: (s, r, c) => D.share.has(key(r, c)), reproduced: (s, r, c) => D.repro.has(key(r, c)), swept: (s, r) => D.rows[r].swept, case: (s, r) => !D.rows[r].swept,
  different: (s, r) => D.rows[r].different, newest: (s, r, c) => D.columns[c].newest,
};
const key = (r, c) => r * D.columns.length + c;

function glob(pattern) {
  const text = pattern.toLowerCase().split("*").map((p) => p.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*");
  return new RegExp(`^(?:${text})$`);
}
function oneOf(list) {
  const tests = list.split(",").filter(Boolean).map(glob);
  return (text) => tests.some((t) => t.test(text.toLowerCase()));
}

function compile(text) {
  const q = { row: [], column: [], square: [], cell: [], status: [], problem: "", wide: false, empty: true };
  for (const [, minus, name, sign, word] of text.matchAll(/(-?)(?:([a-z]+)(:|<|>))?("[^"]*"|\S+)/gi)) {
    const wanted = word.replaceAll('"', "");
    if (!wanted) continue;
    q.empty = false;
    const not = (test) => (minus ? (...x) => !test(...x) : test);
    if (!sign) {
      const needle = wanted.toLowerCase();
      q.row.push(not((row) => row.text.includes(needle)));
      continue;
    }
    const field = name.toLowerCase(), any = oneOf(wanted);
    if (!KEYS.includes(field)) q.problem = `no term ${field}:, only ${KEYS.join(" ")}`;
    else if (field === "rate" || field === "speed") {
      const of = field === "rate" ? D.rate : D.share, limit = Number(wanted), more = sign === ">";
      if (Number.isNaN(limit) || sign === ":") q.problem = `${field} wants a number: ${field}>0.5 or ${field}<0.5`;
      q.square.push(not((s, r, c) => of.has(key(r, c)) && (more ? fraction(of.get(key(r, c))) > limit : fraction(of.get(key(r, c))) < limit)));
    } else if (field === "case") q.row.push(not((row) => any(row.id) || any(row.case) || any(row.item)));
    else if (field === "class") q.row.push(not((row) => any(D.cases[row.at][1])));
    else if (field === "fw") q.column.push(not((c) => any(c.framework)));
    else if (field === "col" || field === "version") {
      q.wide = true;
      q.column.push(not((c) => (field === "col" ? any(c.id) : any(c.version))));
    } else if (field === "is") {
      const tests = wanted.split(",").map((w) => IS[w.toLowerCase()]);
      if (tests.includes(undefined)) q.problem = `is: wants one of ${Object.keys(IS).join(" ")}`;
      q.wide ||= /new|fixed|changed/.test(wanted) && !wanted.includes("newest");
      q.square.push(not((...s) => tests.some((t) => t && t(...s))));
    } else if (field === "status") {
      if (!wanted.includes("*") && wanted.split(",").some((w) => !(w in D.statuses))) q.problem = `status: wants ${Object.keys(D.statuses).join(" ")}`;
      q.status.push(not(any));
    } else {
      const place = { variant: 0, dtype: 1, mode: 2 }[field], test = field === "dtype" ? oneOf(wanted.split(",").map((w) => DTYPES[w.toLowerCase()] || w).join(",")) : any;
      q.cell.push(not((kind) => test(kind[place] || "default") || (field === "dtype" && kind[1] === "all")));
    }
  }
  q.squares = q.square.length + q.cell.length + q.status.length > 0; // whether single squares are asked for, not only rows and columns
  return q;
}
const fraction = (x) => (Array.isArray(x) ? x[0] / x[1] : x);

// Row -> the columns of its squares that the query means; a row without any is not shown.
function search(q, visible) {
  const columns = D.columns.map((c, at) => (q.wide || visible.has(at)) && q.column.every((t) => t(c)));
  // A status beside a dtype, mode or variant is that of the cell; alone it is the square's word.
  const kinds = D.kinds.map((k) => q.cell.every((t) => t(k)) && (!q.cell.length || q.status.every((t) => t(k[3]))));
  const types = D.types.map((t) => (q.cell.length ? t.kinds.some((k) => kinds[k]) : q.status.every((test) => test(t.status))));
  return D.rows.map((row, r) => {
    if (!q.row.every((t) => t(row))) return [];
    const found = [];
    for (const [c, t] of row.squares) if (columns[c] && types[t] && q.square.every((test) => test(D.types[t], r, c))) found.push(c);
    return found;
  });
}

const RANK = (status) => Object.keys(D.statuses).indexOf(status);
// How column b stands to column a in a row: worse, better, other, appeared, vanished, or nothing where they are alike.
function compared(row, a, b) {
  const [x, y] = [a, b].map((c) => (row.squares.has(c) ? D.types[row.squares.get(c)] : null));
  const [was, is] = [x, y].map((t) => (t && D.executed.includes(t.status) ? t.status : ""));
  if (was === is) return x && y && is && x.fold !== y.fold ? "other" : "";
  if (!was || !is) return was ? "vanished" : "appeared";
  const [badly, bad] = [was, is].map((s) => D.bad.includes(s));
  return bad && (!badly || RANK(is) < RANK(was)) ? "worse" : badly ? "better" : "other";
}
