import { CATEGORIES, type Category } from '../../domain/stream.ts';
import type { TopicSpec } from '../ports/message-bus.ts';

/** Topic of all events of a category. */
export function eventsTopic(prefix: string, category: string): string {
  return `${prefix}.events.${category}`;
}

/** Compacted topic of whole entries before and after each change. */
export function contentChangesTopic(prefix: string): string {
  return `${prefix}.content.changes`;
}

/** Compacted topic of the audit signatures. Each has a key of its own, so that compaction keeps all. */
export function auditSignaturesTopic(prefix: string): string {
  return `${prefix}.audit.signatures`;
}

/** Consumer group of a worker. Raise the version to make the worker read all events again. */
export function workerGroup(prefix: string, worker: string): string {
  return `${prefix}.${worker}.v1`;
}

/**
 * Categories with many more events than the others. They get more partitions, so that more consumers can share them.
 */
const BUSY: readonly Category[] = ['entry', 'flow_run'];
const BUSY_PARTITIONS = 6;
const PARTITIONS = 3;

/**
 * All topics, created at the start. Their number of partitions must not change later, because that would break the
 * order per key.
 */
export function topics(prefix: string): readonly TopicSpec[] {
  return [
    ...CATEGORIES.map((category) => ({
      topic: eventsTopic(prefix, category),
      partitions: BUSY.includes(category) ? BUSY_PARTITIONS : PARTITIONS,
      compacted: false,
    })),
    { topic: contentChangesTopic(prefix), partitions: BUSY_PARTITIONS, compacted: true },
    { topic: auditSignaturesTopic(prefix), partitions: 1, compacted: true },
  ];
}
