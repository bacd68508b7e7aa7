package dev.activator.embedded.api.cache;

/** An outlet like another, for tests that change one thing. */
public class Forwarding implements Watch.Outlet {
  private final Watch.Outlet to;

  public Forwarding(Watch.Outlet to) {
    this.to = to;
  }

  @Override
  public void begin(Watch watch) {
    to.begin(watch);
  }

  @Override
  public boolean ready() {
    return to.ready();
  }

  @Override
  public void send(WatchMessage signal) {
    to.send(signal);
  }

  @Override
  public void end() {
    to.end();
  }
}
