package dev.activator.testing;

import dev.activator.upstream.UpstreamConnection;

/** A connection to a pod that accepts every write and ignores flow control. */
public abstract class StubUpstreamConnection implements UpstreamConnection {
  @Override
  public boolean isWritable() {
    return true;
  }

  @Override
  public boolean isHttp2() {
    return false;
  }

  @Override
  public void pauseReading() {}

  @Override
  public void resumeReading() {}

  @Override
  public void release() {}

  @Override
  public void close() {}
}
