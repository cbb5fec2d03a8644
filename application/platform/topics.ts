import type { Category } from '../../domain/stream.ts';
import { CATEGORIES } from '../../domain/stream.ts';
import type { TopicSpec } from '../ports/message-bus.ts';

/** Topic of every domain event of a category (spec 4 D). */
export function eventsTopic(prefix: string, category: string): string {
  return `${prefix}.events.${category}`;
}

/** Topic of whole entries before and after each change; compacted (spec 4 D). */
export function contentChangesTopic(prefix: string): string {
  return `${prefix}.content.changes`;
}

/** Consumer group of a worker. Its number is raised when the worker is to read everything again. */
export function workerGroup(prefix: string, worker: string): string {
  return `${prefix}.${worker}.v1`;
}

/** Streams that change much more often than the others: more partitions, so that more consumers may share them. */
const BUSY: readonly Category[] = ['entry', 'flow_run'];
const BUSY_PARTITIONS = 6;
const PARTITIONS = 3;

/** All topics, to be made at start. Their partitions never change afterwards: it would break the order per key. */
export function topics(prefix: string): readonly TopicSpec[] {
  return [
    ...CATEGORIES.map((category) => ({
      topic: eventsTopic(prefix, category),
      partitions: BUSY.includes(category) ? BUSY_PARTITIONS : PARTITIONS,
      compacted: false,
    })),
    { topic: contentChangesTopic(prefix), partitions: BUSY_PARTITIONS, compacted: true },
  ];
}
