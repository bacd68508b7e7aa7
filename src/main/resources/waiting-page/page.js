"use strict";
{
  const byId = id => document.getElementById(id);
  let status = JSON.parse(document.currentScript.dataset.status);
  let receivedAt = performance.now();
  let longest = 3000;
  const text = (id, value) => { const at = byId(id); if (at && at.textContent !== value) at.textContent = value; };
  const title = document.title;
  const state = byId("state") ? byId("state").textContent : "";
  const seconds = millis => `${(millis / 1000).toFixed(1)} s`;
  const step = (id, kind) => { const at = byId(id); if (at) at.className = kind; };

  function draw() {
    const since = performance.now() - receivedAt;
    const requested = status.requestedMillis === null ? 0 : status.requestedMillis + since;
    const probe = status.listedMillis === null ? 0 : Math.min(requested, status.listedMillis + since);
    const pod = requested - probe;
    while (longest < requested * 1.1 || longest < status.usualMillis * 1.1) longest *= 1.5;
    for (const [id, millis] of [["pod", pod], ["probe", probe]]) {
      if (byId(id)) byId(id).style.width = `${100 * millis / longest}%`;
    }
    if (byId("usual")) {
      byId("usual").hidden = status.usualMillis === 0;
      byId("usual").style.left = `${100 * status.usualMillis / longest}%`;
    }
    text("elapsed", seconds(requested));
    text("pod-time", pod > 0 ? seconds(pod) : "");
    text("probe-time", probe > 0 ? seconds(probe) : "");
    text("usual-text", `since the start was requested${status.usualMillis === 0 ? "" : `; usually it takes ${seconds(status.usualMillis)}`}`);
    document.body.classList.toggle("failed", status.failed);
    document.title = status.failed ? "Cannot start" : title;
    text("verb", status.failed ? "cannot start" : "is starting");
    text("state", status.failed
      ? `${status.why.charAt(0).toUpperCase()}${status.why.slice(1)}. It is tried again as long as this page is open.`
      : requested > Math.max(30000, 2 * status.usualMillis)
        ? "It takes longer than usual. This page waits as long as it is open; the owner of the service finds the reason in its log."
        : state);
    text("why", status.why && !status.failed ? `Now: ${status.why}.` : "");
    const listed = status.listedMillis !== null;
    step("step-pod", listed ? "done" : "now");
    step("step-probe", status.ready ? "done" : listed ? "now" : "");
    step("step-ready", status.ready ? "now" : "");
  }

  // Anything but our answer comes from the service itself.
  async function poll() {
    let next = 500;
    try {
      const answer = await fetch(location.href.split("#")[0], {headers: {"K-Network-Probe": "waiting-page"}, cache: "no-store", redirect: "manual"});
      const ours = answer.ok && (answer.headers.get("Content-Type") || "").startsWith("application/json");
      const now = ours ? await answer.json() : {ready: true};
      if (now.ready) {
        text("state", "It is ready.");
        location.reload();
        return;
      }
      status = now;
      receivedAt = performance.now();
    } catch (failure) {
      text("why", "No answer from the network; trying again.");
      next = 2000;
    }
    setTimeout(poll, next);
  }

  text("host", location.host);
  draw();
  setInterval(draw, 100);
  setTimeout(poll, 300);
}
