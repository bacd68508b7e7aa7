"use strict";
// Shows what /console/updates tells. All text is put in as text: names come from users of the cluster.

const MOST_ROWS = 200;
const destinations = new Map();
const byId = id => document.getElementById(id);

function cell(content, kind) {
  const td = document.createElement("td");
  if (kind) td.className = kind;
  td.append(content);
  return td;
}

function fill(id, rows, empty) {
  const body = byId(id);
  if (rows.length === 0) {
    const td = cell(empty, "none");
    td.colSpan = body.parentElement.tHead.rows[0].cells.length;
    rows = [[td]];
  } else if (rows.length > MOST_ROWS) {
    const td = cell(`… and ${rows.length - MOST_ROWS} more`, "none");
    rows = [...rows.slice(0, MOST_ROWS), [td]];
  }
  body.replaceChildren(...rows.map(cells => {
    const tr = document.createElement("tr");
    tr.append(...cells);
    return tr;
  }));
}

function status(text, lost) {
  const line = byId("summary");
  line.textContent = text;
  line.className = lost ? "lost" : "";
}

function overview(now) {
  status(`${now.summary} ${now.revisions} revisions are known.`, !now.autoscaler.connected);
  fill("waiting", now.waiting.map(one => [cell(one.revision), cell(one.state),
    cell(one.queued, "number"), cell(one.oldestWaitSeconds.toFixed(1), "number"),
    cell(one.summary)]), "Nobody waits.");
}

function place(now) {
  if (now.pods.length === 0 && !now.clusterIp) destinations.delete(now.revision);
  else destinations.set(now.revision, now);
  places();
}

function places() {
  const rows = [...destinations.values()].sort((a, b) => a.revision < b.revision ? -1 : 1);
  fill("destinations", rows.map(one => [cell(one.revision), cell(one.pods.length, "number"),
    cell(one.clusterIp ? `all by the cluster IP ${one.clusterIp}` : one.pods.join(", "))]),
    "No revision has a pod that answers.");
}

function bar(start) {
  const line = document.createElement("div");
  line.className = "bar";
  Object.entries(start.phaseMillis).forEach(([phase, millis], i) => {
    const part = document.createElement("span");
    part.className = `phase-${i}`;
    part.style.flexGrow = millis;
    part.title = `${phase}: ${millis.toFixed(1)} ms`;
    if (millis > 0) line.append(part);
  });
  return line;
}

function coldStarts(now) {
  if (now.length > 0 && !byId("legend").hasChildNodes()) {
    byId("legend").append(...Object.keys(now[0].phaseMillis).map((phase, i) => {
      const name = document.createElement("span");
      name.className = `phase-${i}`;
      name.textContent = phase;
      return name;
    }));
  }
  fill("cold-starts", now.map(one => [cell(new Date(one.when).toLocaleTimeString()),
    cell(one.revision), cell(one.totalMillis.toFixed(0), "number"), cell(bar(one)),
    cell(one.outcome), cell(one.status, "number")]), "None yet.");
}

function watch() {
  const updates = new EventSource("/console/updates");
  const on = (name, then) => updates.addEventListener(name, event => then(JSON.parse(event.data)));
  on("overview", overview);
  on("destinations", place);
  on("cold-starts", coldStarts);
  on("trouble", now => status(now.summary, true));
  updates.onopen = () => {
    // What it was before is told again, but for revisions that have no pod any more.
    destinations.clear();
    places();
  };
  updates.onerror = () => {
    status("The activator does not answer; trying again.", true);
    // A browser gives up where the answer is an error, such as that of a process that ends.
    if (updates.readyState === EventSource.CLOSED) setTimeout(watch, 5000);
  };
}

fill("waiting", [], "…");
places();
fill("cold-starts", [], "…");
watch();
