package io.gameq.writer.campaign;

import io.gameq.OwnerSession;
import io.gameq.writer.campaign.CampaignTables.Mail;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/**
 * The mails that a session knows: those of its open, and those that it was told of since. Used by
 * its player's thread; told by gameq's.
 */
final class CampaignMail {
  private final Map<Long, Mail> mails = new ConcurrentSkipListMap<>();

  /** To be made before the loaded rows are forgotten. */
  CampaignMail(OwnerSession session, Attempt.Part part, Ledger ledger) {
    session.rows(Mail.class).forEach(mail -> mails.put(mail.id(), mail));
    session.onSent(
        sent ->
            sent.rows(Mail.class)
                .forEach(
                    mail -> {
                      ledger.told(part, CampaignTables.mail(mail.id()));
                      mails.put(mail.id(), mail);
                    }));
  }

  List<Mail> all() {
    return List.copyOf(mails.values());
  }

  /** Any of them; null when there is none. */
  @Nullable Mail any(Random random) {
    List<Mail> all = all();
    return all.isEmpty() ? null : all.get(random.nextInt(all.size()));
  }

  void put(Mail mail) {
    mails.put(mail.id(), mail);
  }

  void remove(Mail mail) {
    mails.remove(mail.id());
  }
}
