/**
 * An operator's day: twelve incidents on real servers, as a game team deploys gameq, with the alert
 * rules that it is given under a real Prometheus.
 *
 * <pre>
 * IncidentsTest           the incidents, each with the alerts that must tell of it
 *   IncidentWorld         a MySQL and a Redis of its own, two nodes, two writers, a ledger
 *     IncidentServers       the two in containers
 *     campaign.LedgerNode   a game node, which notes what was acknowledged
 *   PrometheusProcess     one for all, with monitoring/alerts.yaml
 * target/incidents.md     what was seen: alert, seconds, what ended it, what was lost
 * </pre>
 *
 * Needs Docker with images of MySQL and Redis, and {@code prometheus} on the PATH; else it is
 * skipped. {@code mvn -Pcampaign test -pl gameq-writer/lab/campaigns -am -Dtest=IncidentsTest
 * -Dsurefire.failIfNoSpecifiedTests=false}.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.recovery.incidents;
