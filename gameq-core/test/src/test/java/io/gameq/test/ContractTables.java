package io.gameq.test;

import io.gameq.test.GameQueueTest.ManagedTable;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The tables of this module's tests, as a game's tests would share theirs. */
@GameQueueTest(
    schema = "contract.sql",
    tables = {
      @ManagedTable(name = "player", owner = "player", ownerColumn = "id"),
      @ManagedTable(name = "item", owner = "player", ownerColumn = "owner_id"),
      @ManagedTable(name = "worn", owner = "player", ownerColumn = "owner_id")
    })
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@interface ContractTables {}
