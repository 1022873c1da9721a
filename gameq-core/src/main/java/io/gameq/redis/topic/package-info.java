/**
 * Topics in Redis: a copy of their definitions, and what consumers and operators do with messages.
 * Messages come in, and are acknowledged, by commits: {@link io.gameq.redis.script.MessagesScript}
 * and {@link io.gameq.redis.script.CommitScript}. Internal.
 *
 * <pre>
 * key                  type    holds                 T = {ns:slot}:t:TOPIC; the slot is the lane's
 * T:msg                HASH    id -> value, of pending messages
 * T:due                ZSET    lane -> when its next message is due, ms of Redis TIME
 * T:ready              ZSET    with priorities: lane that fell due -> due - priority * age
 * T:behind             ZSET    lane without a group -> when the message is due that waits for the
 *                              one that is held
 * T:lane:GROUP         ZSET    id -> due, of the pending messages of a group
 * T:held               HASH    lane -> value of the message that is handled
 * T:claim              HASH    lane -> 'token id state attempts lapses due node'; state is held, or
 *                              deleted when it was since: then it does not come back
 * T:lease              ZSET    lane -> end of its lease, ms of Redis TIME
 * T:tries, T:failed    HASH    id -> 'attempts lapses' of a pending message that was taken before;
 *                              id -> why it is back
 * T:dead, T:why        HASH    id -> value; id -> 'ms attempts error'; at most 10,000
 * T:done,              HASH    id -> version, and perhaps next due, that a replay knows to be over;
 * T:done:before                at most 50,000 each, for a week at least if there are no more
 * T:back,              HASH    id -> version that a replay has put back; kept as T:done is
 * T:back:before
 * T:age                STRING  the age that scores in T:ready were made with, ms
 * T:fence              STRING  'ms count taken': ms and count of the newest take, which never go
 *                              back; Redis TIME at that take, which does when its clock was set
 * of a topic of owners, see handlers.lua:
 * T:handlers           HASH    owner -> 'epoch process' of the session that handles its messages
 * T:alive              HASH    process -> when it last said that it is there, ms
 * T:for:PROCESS        ZSET    lane -> when it was due: found for that process; it is in T:due too
 * T:unhandled          ZSET    lane -> when it was due: nobody handles its owner's; not in T:due
 * {ns:0}:t:TOPIC:rate  STRING  'messages millis': what is left of the topic's rate
 * ns:topics            HASH    topic -> 'revision JSON': definition, pause, rate; a copy of MySQL's
 * ns:t:TOPIC           channel number of a slot where something is due sooner than before, and
 *                              soon; with a process behind it when it was found for that one
 * </pre>
 *
 * <p>Who handles an owner is a hint: a lane that was found for a process is due again five seconds
 * later, in case that is gone; whether rows of a handler count, the owner's session decides.
 *
 * <p>An id is {@code key} or {@code group:key}, encoded; a lane, of which one message is handled at
 * a time, {@code group:} or the id. A value is what {@link
 * io.gameq.message.MessageChange.MessageValue} draws.
 *
 * <p>An acknowledgement counts by the token of its claim. Where nobody claims the lane, as after a
 * failover that forgot it, it counts if the message waits as if nobody had taken it. Of two
 * handlers whose acknowledgements counted, as when Redis forgot the first or a WAL is replayed, the
 * rows of one count: MySQL decides, see {@link io.gameq.rows.HandledRow}.
 *
 * <pre>
 *            publish                 take                    ack
 *  nowhere ──────────▶ msg and due ───────▶ held, under a  ───────▶ nowhere, or due again when it
 *                       ▲    ▲               lease with a             recurs, or a newer one waits
 *                       │    └────────────── token
 *                       │   nack, lease ran   │
 *                       │   out               │ nack of the last attempt
 *                       └──────────────────── dead
 *                        retry of an operator
 *
 * ConsumerScripts  take.lua    takes what is due: TakenMessage; ends leases that ran out
 *                  extend.lua  prolongs a lease
 *                  nack.lua    gives back, or makes a dead letter
 *                  grant.lua   shares out the topic's rate
 *                  handle.lua  says which owners' messages a process handles
 * TopicMessages    find.lua    where one message is: FoundMessage
 *                  page.lua    lists; TopicCounts
 *                  revive.lua  dead letters: list, retry, discard
 *                  TopicSurvey: all topics at a glance
 * DefinedTopic    define.lua  DefinedTopic of each: TopicDefinition, pause, rate for all nodes
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.redis.topic;
