"use strict";
// Replaces the parts that /console/updates sends. The server escapes all text in them.

const main = document.getElementById("parts");
const filter = document.getElementById("filter");
const stale = document.getElementById("stale");
let updatedAt = Date.now();
let news = new Date();

// The server writes UTC, which is then shown on hover.
function localTimes(within) {
  for (const time of within.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    time.title = time.dateTime;
    const today = at.toDateString() === new Date().toDateString();
    time.textContent = time.dataset.minutes ? at.toLocaleTimeString([], {hour: "2-digit", minute: "2-digit"})
      : today ? at.toLocaleTimeString() : at.toLocaleString();
  }
}

// A row is in the table, anything else on the page.
const place = id => id.startsWith("r.") ? document.getElementById("rows") : main;

function replace(id, html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const fresh = template.content.firstElementChild;
  localTimes(fresh);
  const old = document.getElementById(id);
  if (!old) return place(id)?.append(fresh);
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  const scrolled = [...old.querySelectorAll("pre, .scroll")].map(each => [each.scrollTop, each.scrollLeft]);
  const rows = old.querySelector("#rows");
  fresh.querySelector("#rows")?.append(...(rows ? rows.children : []));
  old.replaceWith(fresh);
  fresh.querySelectorAll("pre, .scroll").forEach((each, i) => {
    if (scrolled[i]) [each.scrollTop, each.scrollLeft] = scrolled[i];
  });
  if (focused) document.getElementById(focused)?.focus({preventScroll: true});
}

function show(update) {
  for (const [id, html] of Object.entries(update.changed)) replace(id, html);
  const wanted = new Set(update.order);
  const rows = document.getElementById("rows");
  for (const part of [...main.children, ...(rows ? rows.children : [])]) if (!wanted.has(part.id)) part.remove();
  const next = new Map();
  for (const id of update.order) {
    const part = document.getElementById(id);
    if (!part) continue;
    const at = next.get(part.parentNode) || 0;
    next.set(part.parentNode, at + 1);
    if (part.parentNode.children[at] !== part) part.parentNode.insertBefore(part, part.parentNode.children[at]);
  }
}

function age() {
  const seconds = Math.round((Date.now() - updatedAt) / 1000);
  const old = seconds > 3;
  document.body.classList.toggle("old", old);
  stale.hidden = !old;
  if (old) stale.textContent = `No news for ${seconds} s: this is how it was at ${news.toLocaleTimeString()}.`;
}

let updates;
function watch() {
  updates?.close();
  const revision = main.dataset.revision;
  const from = updates = new EventSource("/console/updates" + (revision ? `?revision=${encodeURIComponent(revision)}` : location.search));
  from.addEventListener("parts", event => {
    updatedAt = Date.now();
    news = new Date();
    show(JSON.parse(event.data));
    age();
  });
  from.onerror = () => {
    // A browser gives up where the answer is an error, such as that of a process that ends.
    if (from.readyState === EventSource.CLOSED && from === updates) setTimeout(watch, 5000);
  };
}

// The address keeps the filter, so that it can be shared and survives a reload.
let typing;
filter?.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => {
    const address = new URL(location.href);
    if (filter.value.trim()) address.searchParams.set("q", filter.value);
    else address.searchParams.delete("q");
    history.replaceState(null, "", address);
    watch();
  }, 200);
});
document.addEventListener("keydown", event => {
  const typed = event.target.closest("input, textarea, select");
  if (event.key === "/" && filter && !typed && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    filter.focus();
  } else if (event.key === "Escape" && typed === filter) {
    filter.blur();
  }
});
localTimes(main);
setInterval(age, 1000);
watch();
