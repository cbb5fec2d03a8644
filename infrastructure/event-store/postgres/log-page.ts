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
  const to = row.r_before + writtenBy(batch, outcomes);
  for (const [index, append] of batch.appends.entries()) {
    const result = outcomes[index]?.result;
    if (!result || result.duplicate) continue;
    bytes += append.bytes;
    const count = append.events.length;
    const end = batch.atomic ? to : Number(result.position);
    for (const [n, { id, type, data, metadata }] of append.events.entries()) {
      const position = Number(result.position) - count + 1 + n;
      events.push({
        id,
        type,
        // Parsed from the written text, so that followers see what a reader would see and share no objects with the
        // writer.
        data: JSON.parse(data) as RecordedEvent['data'],
        metadata: JSON.parse(metadata) as RecordedEvent['metadata'],
        stream: append.stream,
        revision: result.revision - count + 1 + n,
        position: positionFrom(position),
        recorded_at: recordedAt,
        ...(position < end ? { append_end: positionFrom(end) } : {}),
      });
    }
  }
  return { after: row.r_before, to, events, bytes };
}

/** Number of events that a batch has written. */
export function writtenBy(batch: Batch, outcomes: readonly Outcome[]): number {
  return outcomes.reduce(
    (sum, { result }, index) => sum + (result && !result.duplicate ? (batch.appends[index]?.events.length ?? 0) : 0),
    0,
  );
}
