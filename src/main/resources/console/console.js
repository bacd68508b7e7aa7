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
    time.title = time.dateTime;
    time.textContent = new Date(time.dateTime).toLocaleTimeString();
  }
}

function replace(id, html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const fresh = template.content.firstElementChild;
  localTimes(fresh);
  const old = document.getElementById(id);
  if (!old) return main.append(fresh);
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  const scrolled = [...old.querySelectorAll("pre, .scroll")].map(each => [each.scrollTop, each.scrollLeft]);
  old.replaceWith(fresh);
  fresh.querySelectorAll("pre, .scroll").forEach((each, i) => {
    if (scrolled[i]) [each.scrollTop, each.scrollLeft] = scrolled[i];
  });
  if (focused) document.getElementById(focused)?.focus({preventScroll: true});
}

function show(update) {
  for (const [id, html] of Object.entries(update.changed)) replace(id, html);
  const wanted = new Set(update.order);
  for (const part of [...main.children]) if (!wanted.has(part.id)) part.remove();
  update.order.forEach((id, i) => {
    const part = document.getElementById(id);
    if (part && main.children[i] !== part) main.insertBefore(part, main.children[i]);
  });
  if (Object.keys(update.changed).length > 0) narrow();
}

function narrow() {
  const words = filter ? filter.value.toLowerCase().split(/\s+/).filter(word => word) : [];
  for (const each of document.querySelectorAll("[data-name]")) {
    const name = each.dataset.name.toLowerCase();
    each.hidden = !words.every(word => name.includes(word));
  }
}

function age() {
  const seconds = Math.round((Date.now() - updatedAt) / 1000);
  const old = seconds > 3;
  document.body.classList.toggle("old", old);
  stale.hidden = !old;
  if (old) stale.textContent = `No news for ${seconds} s: this is how it was at ${news.toLocaleTimeString()}.`;
}

function watch() {
  const revision = main.dataset.revision;
  const updates = new EventSource("/console/updates" + (revision ? `?revision=${encodeURIComponent(revision)}` : ""));
  updates.addEventListener("parts", event => {
    updatedAt = Date.now();
    news = new Date();
    show(JSON.parse(event.data));
    age();
  });
  updates.onerror = () => {
    // A browser gives up where the answer is an error, such as that of a process that ends.
    if (updates.readyState === EventSource.CLOSED) setTimeout(watch, 5000);
  };
}

filter?.addEventListener("input", narrow);
document.addEventListener("keydown", event => {
  if (event.key === "/" && filter && document.activeElement !== filter) {
    event.preventDefault();
    filter.focus();
  }
});
localTimes(main);
setInterval(age, 1000);
watch();
