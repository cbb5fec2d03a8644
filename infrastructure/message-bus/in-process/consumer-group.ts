import { stoppablePause } from '../../../application/concurrency/stoppable-pause.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { ConsumeOptions, MessageBus, Subscription } from '../../../application/ports/message-bus.ts';
import { deliver } from '../delivery.ts';
import type { PartitionLog } from './partition-log.ts';

type Member = {
  readonly options: ConsumeOptions;
  readonly stopping: AbortController;
  readonly inHand: Set<Promise<unknown>>;
};
type Cursor = { next: number; running: boolean };

export type ConsumerGroup = {
  /** Adds a member that shares these partitions with the other members. */
  join(options: ConsumeOptions, logs: readonly PartitionLog[]): Subscription;
  /** Next offset of the group on a partition; undefined when the group never read it. */
  next(log: PartitionLog): number | undefined;
  /** Whether a member currently reads the topic. */
  reads(topic: string): boolean;
};

/**
 * Creates a group whose members share partitions. One loop works on each partition, for the member to which it
 * currently belongs.
 */
export function createConsumerGroup({
  publish,
  logger,
}: {
  readonly publish: MessageBus['publish'];
  readonly logger: Logger;
}): ConsumerGroup {
  const members: Member[] = [];
  const cursors = new Map<PartitionLog, Cursor>();

  return {
    join(options, logs) {
      const member: Member = { options, stopping: new AbortController(), inHand: new Set() };
      members.push(member);
      for (const log of logs) {
        const cursor = cursors.get(log) ?? { next: 0, running: false };
        cursors.set(log, cursor);
        if (!cursor.running) void work(log, cursor);
      }
      return {
        async stop() {
          member.stopping.abort();
          const index = members.indexOf(member);
          if (index >= 0) members.splice(index, 1);
          for (const log of logs) log.changed.happened();
          await Promise.allSettled(member.inHand);
        },
      };
    },
    next: (log) => cursors.get(log)?.next,
    reads: (topic) => members.some((member) => member.options.topics.includes(topic)),
  };

  function ownerOf({ topic, partition }: PartitionLog): Member | undefined {
    const candidates = members.filter(({ options }) => options.topics.includes(topic));
    return candidates[partition % candidates.length];
  }

  async function work(log: PartitionLog, cursor: Cursor): Promise<void> {
    cursor.running = true;
    for (let member = ownerOf(log); member; member = ownerOf(log)) {
      const found = log.read(cursor.next);
      if (!found) {
        await log.changed.wait();
        continue;
      }
      const { topic, partition } = log;
      const delivery = deliver(
        { ...found.message, topic, partition, offset: String(found.offset) },
        { ...member.options, publish, logger, pause: stoppablePause(member.stopping.signal) },
      );
      member.inHand.add(delivery);
      const done = await delivery;
      member.inHand.delete(delivery);
      if (!done) continue;
      cursor.next = found.offset + 1;
      log.changed.happened();
    }
    cursor.running = false;
  }
}
