import type { RecordedEvent } from '../../domain/event.ts';

/** Size in bytes at which a page or an item of a subscription ends. Its last event may exceed it. */
export const PAGE_BYTES = 4 * 1024 * 1024;

/** Approximate size in memory of an event without its data. */
export const EVENT_BYTES = 512;

/** Approximate size of an event in memory, for stores that do not report the size of its data. */
export function bytesOf({ data }: RecordedEvent): number {
  return JSON.stringify(data).length + EVENT_BYTES;
}
