// The findings of the sweep, a page at a time.
const FINDINGS = 25;
let findings = null, findingsAt = 0;

function readLedger() {
  const box = $("findings");
  if (!box) return;
  box.addEventListener("toggle", async () => {
    findings ||= await blob("ledger");
    drawFindings(0);
  });
  for (const id of ["findings-text", "findings-framework", "findings-standing"]) $(id).addEventListener("input", () => drawFindings(0));
  $("findings-before").addEventListener("click", () => drawFindings(findingsAt - FINDINGS));
  $("findings-after").addEventListener("click", () => drawFindings(findingsAt + FINDINGS));
}
function drawFindings(at) {
  if (!findings) return;
  const words = $("findings-text").value.toLowerCase().split(/\s+/).filter(Boolean), framework = $("findings-framework").value, standing = $("findings-standing").checked;
  const list = findings.filter((f) => (!framework || f.framework === framework) && (!standing || !f.fixed) && words.every((w) => `${f.item} ${f.framework} ${f.kind} ${f.example}`.toLowerCase().includes(w)));
  findingsAt = Math.max(0, Math.min(at, list.length - 1));
  const shown = list.slice(findingsAt, findingsAt + FINDINGS);
  $("findings-rows").replaceChildren(...shown.map((f) => el("tr", null,
    el("th", { scope: "row" }, el("a", { href: `#/c/${anchor(f.item)}/${f.column}` }, f.item)), el("td", null, f.framework),
    el("td", null, el("b", null, f.kind), f.compiled ? " when compiled" : "", el("small", null, `got ${value(f.got)}, want ${value(f.want)}`)),
    el("td", null, (f.last_good ? `first bad ${f.first_bad}, last good ${f.last_good}` : `bad from ${f.first_bad}, the oldest asked`) + (f.fixed ? `; good again from ${f.fixed}${f.repeats ? "" : ", perhaps by luck: it did not repeat when it was bad"}` : "")),
    el("td", { class: "note" }, f.example), el("td", null, linked(f.tracker)))));
  $("findings-page").textContent = list.length ? `${findingsAt + 1} to ${findingsAt + shown.length} of ${list.length}` : "none";
  $("findings-before").disabled = !findingsAt;
  $("findings-after").disabled = findingsAt + FINDINGS >= list.length;
}
