import { type RecordedEvent, positionFrom } from '../../../domain/event.ts';
import type { Batch, BatchRow, Outcome } from './batch.ts';

/** A section of the log: all events after `after` (exclusive) up to `to` (inclusive) that match the filter. */
export type LogPage = {
  readonly after: number;
  readonly to: number;
  readonly events: readonly RecordedEvent[];
  /** Approximate size of the events in memory. */
  readonly bytes: number;
};

/** Builds the section of the log that a batch has written, without reading it back. */
export function pageOf(batch: Batch, outcomes: readonly Outcome[], row: BatchRow): LogPage {
  const recordedAt = new Date(row.r_recorded_at).toISOString();
  const events: RecordedEvent[] = [];
  let bytes = 0;
  for (const [index, append] of batch.appends.entries()) {
    const result = outcomes[index]?.result;
    if (!result || result.duplicate) continue;
    bytes += append.bytes;
    const count = append.events.length;
    for (const [n, { id, type, data, metadata }] of append.events.entries()) {
      events.push({
        id,
        type,
        // Parsed from the written text, so that followers see what a reader would see and share no objects with the
        // writer.
        data: JSON.parse(data) as RecordedEvent['data'],
        metadata: JSON.parse(metadata) as RecordedEvent['metadata'],
        stream: append.stream,
        revision: result.revision - count + 1 + n,
        position: positionFrom(Number(result.position) - count + 1 + n),
        recorded_at: recordedAt,
      });
    }
  }
  return { after: row.r_before, to: row.r_before + events.length, events, bytes };
}
