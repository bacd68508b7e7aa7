package dev.activator.embedded.api.store;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/** Runs what reads and writes the tables, one after the other; it may run more from within. */
final class Exclusive {
  private final ReentrantLock lock = new ReentrantLock();

  <T> T call(Supplier<T> task) {
    lock.lock();
    try {
      return task.get();
    } finally {
      lock.unlock();
    }
  }

  void run(Runnable task) {
    lock.lock();
    try {
      task.run();
    } finally {
      lock.unlock();
    }
  }
}
