package dev.activator.kube.reflector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.kube.Rig;
import dev.activator.testing.faults.Fault;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Lists that take several requests. */
class PagesTest {
  private static final int OBJECTS = 1_100;

  @AutoClose
  private final Rig rig = new Rig();

  private void objects() {
    for (int i = 0; i < OBJECTS; i++) {
      rig.touch("k" + i);
    }
  }

  @Test
  @DisplayName("takes a long list in pages, and stores it as one")
  void listsInPages() {
    objects();
    rig.start();
    assertThat(rig.lists()).isEqualTo(3);
    assertThat(rig.lease().view().counts().lists()).isOne();
    assertThat(rig.lease().informer().store().size()).isEqualTo(OBJECTS + 1);
  }

  @Test
  @DisplayName("takes the whole list at once where the server forgot it between two pages")
  void listsTheWholeWhereAPageIsGone() {
    objects();
    rig.api.faults().once(Rig.LISTS.having("continue"), new Fault.ExpiredToken());
    rig.start();
    rig.converges();
    assertThat(rig.lease().view().counts().lists()).isOne();
    assertThat(rig.lease().view().counts().failures()).isZero();
  }

  @Test
  void listsAgainWhereAPageFails() {
    objects();
    rig.api.faults().once(Rig.LISTS.having("continue"), Fault.Answer.status(503));
    rig.begin();
    await()
        .until(() -> rig.lease().view().counts().failures() == 1);
    rig.awaitWatches(1);
    assertThat(rig.witness.received).doesNotHaveDuplicates();
  }

  @Test
  void anObjectOnTwoPagesIsOne() {
    objects();
    rig.api.faults().once(Rig.LISTS.having("continue"), new Fault.RepeatedItem());
    rig.start();
    assertThat(rig.lease().informer().store().size()).isEqualTo(OBJECTS + 1);
    assertThat(rig.witness.received).doesNotHaveDuplicates();
  }
}
