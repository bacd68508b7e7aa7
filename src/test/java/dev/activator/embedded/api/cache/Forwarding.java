package dev.activator.embedded.api.cache;

/** An outlet like another, for tests that change one thing. */
public class Forwarding implements CacheWatcher.Outlet {
  private final CacheWatcher.Outlet to;

  public Forwarding(CacheWatcher.Outlet to) {
    this.to = to;
  }

  @Override
  public void begin(CacheWatcher watch) {
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
