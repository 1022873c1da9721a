package io.gameq.lab.demo.sample;

import java.math.BigDecimal;

/** A row of table pet, which keeps its id when it changes hands; immutable. */
record Pet(long id, long playerId, String name, BigDecimal loyalty) {

  Pet ownedBy(long newPlayerId) {
    return new Pet(id, newPlayerId, name, loyalty);
  }

  Pet loyal(BigDecimal newLoyalty) {
    return new Pet(id, playerId, name, newLoyalty);
  }
}
