// The repro of a square: the files of one that ran, the command that makes one, and why there is none.
const shell = (word) => (/["$`\\!]/.test(word) ? `'${word.replaceAll("'", "'\\''")}'` : `"${word}"`);
const bare = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : shell(word));
const cellAddress = (r) => `${r.case}${r.item ? `:${r.item}` : ""}${r.variant ? `/${r.variant}` : ""}@${r.dtype}${r.mode === "compiled" ? "+compiled" : ""}`;
const maker = (r) => `.venv/bin/python -m harness repro ${bare(cellAddress(r))} ${bare(r.column)}`;

function repro(own, column, records) {
  const made = (own.made && own.made[column.id]) || {}, ran = records.filter((r, i) => made[i] && made[i].files);
  const bad = records.filter((r) => D.bad.includes(r.status)), can = bad.filter((r) => D.reproducible.includes(r.status));
  const shown = records.flatMap((r, i) => (made[i] && made[i].files ? [bundle(r, made[i])] : []));
  const without = records.flatMap((r, i) => (made[i] && !made[i].files ? [el("p", null, el("b", null, cellName(r)), ": ", reason(made[i]))] : []));
  if (!shown.length && bad.length && !can.length) return el("p", { class: "dim" }, `None is made of this: a repro shows what is ${D.reproducible.join(", ")}, and this is ${bad[0].status}.`);
  if (!shown.length && can.length && !without.length) without.push(el("p", null, "None was made of this answer yet."));
  const again = ran[0] || can[0] || records.find((r, i) => made[i]);
  return [...shown, ...without, again ? [el("p", { class: "dim" }, "This makes it and runs it, in an environment of its own; it is kept only if it fails as the record says:"), copyable(maker(again), "command")] : null];
}
const reason = (made) => (made.status === "stale" ? "the one that was made is of an earlier answer than this." : `no repro. ${{ cannot: "It could not be made or run", "not-reproduced": "It ran, and does not show what the record says" }[made.status] || made.status}: ${made.reason || "no reason was kept"}.`);

function jump() {
  const button = el("button", { type: "button" }, "To its repro");
  button.addEventListener("click", () => {
    const to = document.querySelector("#drawer .repro button");
    to.focus({ preventScroll: true });
    to.closest(".repro").scrollIntoView({ block: "center" });
  });
  return button;
}
function bundle(record, made) {
  const [first, ...others] = made.files;
  return el("div", { class: "repro" },
    el("p", null, el("b", null, `Reproduced: ${cellName(record)}`), ` in ${made.lines} lines and ${seconds(made.seconds)}, run ${made.warm ? "in the column's environment" : "in an environment of its own"}. It exits 1 while the defect is there, 0 when it is gone, and needs nothing of silentbench.`),
    first ? listing(first) : null, others.map((file) => details(file[0], listing(file))),
    made.output ? details("What it printed", el("pre", { tabindex: "0" }, made.output)) : null);
}
function listing([name, content, rest]) {
  const button = el("button", { type: "button", class: "copy" }, "Copy ", name);
  button.addEventListener("click", () => copy(content, name));
  return el("figure", null, el("figcaption", null, el("b", null, name), " ", rest ? el("span", { class: "dim" }, `${rest} more bytes are in the file`) : button), el("pre", { class: "code", tabindex: "0", "aria-label": name }, content));
}
