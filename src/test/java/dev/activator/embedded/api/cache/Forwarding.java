package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.store.ApiException;

/** An outlet like another, for tests that change one thing. */
public class Forwarding implements Outlet {
  private final Outlet to;

  public Forwarding(Outlet to) {
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
  public void send(Signal signal) {
    to.send(signal);
  }

  @Override
  public void end() {
    to.end();
  }

  /** A reader to whom nothing bad may happen. */
  public abstract static class Reader implements SnapshotReader {
    @Override
    public void failed(ApiException failure) {
      throw failure;
    }
  }
}
