package io.gameq.view;

import io.gameq.mysql.tables.OwnerReader;
import io.gameq.owner.OwnerId;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowImage;
import io.gameq.term.Term;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * An owner's view of which MySQL was read before Redis: what {@link OwnerViews} does not do, for
 * tests of what goes wrong then.
 */
public final class ViewInSteps {
  private final OwnerView view;

  /** What a snapshot of MySQL showed. */
  public static final class Snapshot {
    private final List<Consumer<OwnerView>> seen = new ArrayList<>();
    private final StringBuilder shown = new StringBuilder();

    private Snapshot() {}

    private void saw(String what, Consumer<OwnerView> effect) {
      shown.append(what).append(' ');
      seen.add(effect);
    }

    @Override
    public String toString() {
      return shown.toString();
    }
  }

  private ViewInSteps(OwnerView view) {
    this.view = view;
  }

  /** Reads the owner's rows, and those that Redis held for it by primary key, from one snapshot. */
  public static Snapshot snapshot(
      OwnerReader reader, Catalog catalog, OwnerId owner, List<EncodedRow> unflushed) {
    Snapshot snapshot = new Snapshot();
    boolean unused =
        reader.read(
            owner,
            null,
            Term.NOT_KNOWN,
            0,
            catalog.ownedBy(owner.kind()),
            unflushed.stream().map(row -> catalog.rowKey(row.key())).toList(),
            new OwnerReader.Sink() {
              @Override
              public void row(RowImage image) {
                snapshot.saw(image.toString(), view -> view.row(image));
              }

              @Override
              public void tombstone(RowKey key, long version) {
                snapshot.saw(key + " gone " + version, view -> view.tombstone(key, version));
              }

              @Override
              public void tombstoneVersion(long version) {
                snapshot.saw("up to " + version, view -> view.tombstoneVersion(version));
              }
            });
    return snapshot;
  }

  /** What the owner has, by both. */
  public static ViewInSteps of(
      OwnerId owner,
      Catalog catalog,
      RowCodec codec,
      List<EncodedRow> unflushed,
      Snapshot snapshot) {
    List<RowImage> images = new ArrayList<>();
    for (EncodedRow row : unflushed) {
      images.add(codec.decode(catalog.rowKey(row.key()).table(), row.image()));
    }
    ViewInSteps merged = new ViewInSteps(new OwnerView(owner, images, 0, List.of()));
    snapshot.seen.forEach(one -> one.accept(merged.view));
    return merged;
  }

  public OwnerView view() {
    return view;
  }
}
