package io.gameq.node;

import io.gameq.GameQueueConfig;
import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlConfig;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlServerCheck;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.LayoutTable;
import io.gameq.mysql.schema.Settings;
import io.gameq.rows.Catalog;
import io.gameq.wal.WalRecord;
import io.gameq.wal.WalWriter;
import java.util.List;

/**
 * The MySQL server of a node, checked at start, and the managed tables as they were then.
 * Immutable.
 */
record NodeMySql(MySql server, LayoutTable layouts, Catalog atStart) {
  /** Connects; throws GameQueueException when the server, or its schema, is not one to run on. */
  static NodeMySql open(GameQueueConfig config, ResourceStack opened) {
    MySqlConfig login =
        new MySqlConfig(
            config.jdbcUrl(),
            config.mysqlUser(),
            config.mysqlPassword(),
            config.poolSize(),
            config.mysqlTls());
    MySql server = opened.add(MySqlPool.openForLogins(login, config.callTimeout()));
    MySqlServerCheck.of(server).requireUsable();
    Settings.agree(server, config.namespace(), config.slots());
    Catalog catalog = CatalogReader.read(server).requireManaged();
    LayoutTable layouts = new LayoutTable(server);
    layouts.register(catalog);
    return new NodeMySql(server, layouts, catalog);
  }

  /** The catalogue, after a table was altered: its column lists are kept before rows name them. */
  Catalog readAgain(WalWriter wal) {
    Catalog catalog = CatalogReader.read(server);
    layouts.register(catalog);
    wal.appendLayouts(layoutsOf(catalog));
    return catalog;
  }

  static List<WalRecord.Layout> layoutsOf(Catalog catalog) {
    return catalog.tables().stream()
        .map(t -> new WalRecord.Layout(t.name(), t.fingerprint(), t.layout()))
        .toList();
  }
}
