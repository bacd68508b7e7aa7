package dev.activator.ext.waitingpage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.Activator;
import dev.activator.proxy.policy.StartStatus;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.testing.Chromium;
import dev.activator.testing.ScriptedPod;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

/** The waiting page in a real browser. */
@EnabledIf("dev.activator.testing.Chromium#isInstalled")
class WaitingPageBrowserIT {
  private static final String HTML = "<title>The answer</title><p>here";

  @Test
  void turnsIntoTheAnswerWhenThePodIsThere(@TempDir Path profile) throws Exception {
    try (
        var activator = new Activator(
            Activator.Settings.DEFAULT.hosts((_, _, _) -> Activator.HELLO));
        var pod = ScriptedPod.answering("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
            + "Content-Length: " + HTML.length() + "\r\n\r\n" + HTML);
        var browser = new Chromium(profile)) {
      activator.revisions.put(new Revision(Activator.HELLO, "", PortProtocol.HTTP1, 0,
          RequestTimeouts.DEFAULT, true, null, Map.of(),
          Map.of("activator.dev/waiting-page", "auto"), null));
      activator.status = new StartStatus(false, "no pod is listed", false, Duration.ofSeconds(2),
          null,
          Duration.ofSeconds(4));

      browser.open("http://127.0.0.1:" + activator.port + "/?a=<b>#there");

      browser.awaitTrue("document.title === 'Starting…'");
      browser.awaitTrue("document.getElementById('why').textContent === 'Now: no pod is listed.'");
      assertThat(browser.value("document.getElementById('usual-text').textContent"))
          .endsWith("usually it takes 4.0 s");
      // and it goes on
      activator.status = new StartStatus(false, "1 pod is listed", false, Duration.ofSeconds(3),
          Duration.ofMillis(500), Duration.ofSeconds(4));
      browser.awaitTrue("document.getElementById('step-pod').className === 'done'");
      browser.screenshot(Path.of("target", "waiting-page.png"));

      // and it fails, and is tried again
      activator.status = new StartStatus(false, "there is no program <b>", true, null, null,
          Duration.ZERO);
      browser.awaitTrue("document.title === 'Cannot start'");
      assertThat(browser.value("document.getElementById('state').textContent"))
          .startsWith("There is no program <b>. It is tried again");

      activator.throttle.grow(pod.destination(), 10);
      activator.status = new StartStatus(true, "", false, null, null, Duration.ZERO);

      browser.awaitTrue("document.title === 'The answer'");
      assertThat(browser.value("location.search + location.hash")).isEqualTo("?a=%3Cb%3E#there");
      assertThat(browser.problems()).isEmpty();
    }
  }
}
