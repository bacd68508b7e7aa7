package dev.activator.embedded.api.cache;

import java.util.ArrayList;
import java.util.List;

/** A client that takes as many signals as it has room for, and writes them down. */
public final class FakeOutlet implements CacheWatcher.Outlet {
  private final List<WatchMessage> signals = new ArrayList<>();
  private int room;
  private boolean begun;
  private boolean ended;

  private FakeOutlet(int room) {
    this.room = room;
  }

  public static FakeOutlet quick() {
    return new FakeOutlet(Integer.MAX_VALUE);
  }

  static FakeOutlet withRoom(int signals) {
    return new FakeOutlet(signals);
  }

  /** Takes this many more; the caller must resume the watch. */
  void takes(int more) {
    room += more;
  }

  public boolean ended() {
    return ended;
  }

  /** What it was told. */
  public List<WatchMessage> signals() {
    return signals;
  }

  /** The same as text, such as {@code ADDED default/a@9}. */
  public List<String> received() {
    return signals.stream().map(FakeOutlet::text).toList();
  }

  private static String text(WatchMessage signal) {
    return switch (signal) {
      case WatchMessage.Changed(var type, var object) -> type + " " + object;
      case WatchMessage.Bookmark(var revision, var position) ->
        (position == WatchMessage.Position.UNDER_WAY ? "BOOKMARK @" : "SYNCED @") + revision;
      case WatchMessage.Failed(var failure) -> failure.code() + " " + failure.getMessage();
    };
  }

  @Override
  public void begin(CacheWatcher watch) {
    if (begun) {
      throw new IllegalStateException("begun twice");
    }
    begun = true;
  }

  @Override
  public boolean ready() {
    return room > 0;
  }

  @Override
  public void send(WatchMessage signal) {
    if (ended || !begun) {
      throw new IllegalStateException("told " + signal + " before the start or after the end");
    }
    signals.add(signal);
    room--;
  }

  @Override
  public void end() {
    if (ended) {
      throw new IllegalStateException("ended twice");
    }
    ended = true;
  }
}
