import type { AppendResult, Expected } from '../../../application/ports/event-store.ts';
import { type AppError, refusal } from '../../../domain/errors.ts';
import { positionFrom } from '../../../domain/event.ts';
import { conflict } from '../conflict.ts';
import type { EncodedAppend, EncodedEvent } from '../encode-append.ts';

/** Appends that are sent to the database in one call. */
export type Batch = {
  /** In the order of the rounds; within a round each stream occurs once. */
  readonly appends: readonly EncodedAppend[];
  readonly rounds: readonly (readonly EncodedAppend[])[];
  /** Writes all appends or none. */
  readonly atomic: boolean;
};

/** The outcome of one append. */
export type Outcome =
  | { readonly result: AppendResult; readonly error?: undefined }
  | { readonly error: AppError; readonly result?: undefined };

/** The row that `eventstore.append` returns. */
export type BatchRow = { readonly r_before: number; readonly r_recorded_at: number; readonly r_outcomes: string };

/** The statement that calls `eventstore.append`; `parametersOf` returns its parameters. */
export const APPEND =
  'select r_before, r_recorded_at, r_outcomes from eventstore.append($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14)';

/** Occurs neither in JSON text, which escapes it, nor in a validated name. */
const SEPARATOR = '\u001e';

/** Distributes appends to the same stream over successive rounds, in order of arrival. */
export function batchOf(appends: readonly EncodedAppend[], atomic = false): Batch {
  const rounds: EncodedAppend[][] = [];
  const nextRounds = new Map<string, number>();
  for (const append of appends) {
    const round = nextRounds.get(append.stream) ?? 0;
    nextRounds.set(append.stream, round + 1);
    (rounds[round] ??= []).push(append);
  }
  return { appends: rounds.length === 1 ? appends : rounds.flat(), rounds, atomic };
}

/**
 * Parameters of `eventstore.append`. Joined text instead of text arrays avoids escaping here and needs one split in the
 * database.
 */
export function parametersOf({ appends, rounds, atomic }: Batch): readonly unknown[] {
  const events: EncodedEvent[] = [];
  const owners: number[] = [];
  for (const round of rounds) {
    for (const [index, append] of round.entries()) {
      for (const event of append.events) {
        events.push(event);
        owners.push(index + 1);
      }
    }
  }
  const joined = (part: (event: EncodedEvent) => string) => events.map(part).join(SEPARATOR);
  return [
    atomic,
    `{${rounds.map((round) => round.length).join()}}`,
    `{${rounds.map((round) => round.reduce((sum, append) => sum + append.events.length, 0)).join()}}`,
    appends.map(({ stream }) => stream).join(SEPARATOR),
    appends.map(({ category }) => category).join(SEPARATOR),
    `{${appends.map(({ expected }) => expectedCode(expected)).join()}}`,
    `{${appends.map((append) => append.events.length).join()}}`,
    `{${owners.join()}}`,
    `{${events.map(({ id }) => id).join()}}`,
    joined(({ type }) => type),
    joined(({ tenant }) => tenant),
    joined(({ correlationId }) => correlationId),
    joined(({ data }) => data),
    joined(({ metadata }) => metadata),
  ];
}

/** Encodes an expected revision for the functions of the schema `eventstore`. */
export function expectedCode(expected: Expected): number {
  switch (expected) {
    case 'no_stream':
      return -1;
    case 'any':
      return -2;
    case 'stream_exists':
      return -4;
    default:
      return expected;
  }
}

/** Parses the outcomes from the returned row, in the order of `batch.appends`. */
export function outcomesOf({ appends, atomic }: Batch, { r_outcomes }: BatchRow): readonly Outcome[] {
  const texts = r_outcomes.split(',');
  const outcomes = appends.map((append, index) => outcomeOf(append, texts[index] ?? ''));
  // One append of an atomic group was a repetition and another was withheld, so the group cannot have been written as a
  // whole.
  if (atomic && outcomes.some(({ result }) => result) && texts.some((text) => text.startsWith('w'))) {
    return outcomes.map((outcome) =>
      outcome.error?.code === 'conflict' ? outcome : { error: refusal('idempotency_corrupted') },
    );
  }
  return outcomes;
}

function outcomeOf({ stream, expected }: EncodedAppend, text: string): Outcome {
  const [letter, revision, position = ''] = text.split(':');
  switch (letter) {
    case 'o':
    case 'd':
      return {
        result: { revision: Number(revision), position: positionFrom(Number(position)), duplicate: letter === 'd' },
      };
    case 'c':
      return { error: conflict({ stream, expected, actual: Number(revision) }) };
    case 'x':
      return { error: refusal('stream_deleted') };
    case 'i':
      return { error: refusal('idempotency_corrupted') };
    case 'w':
      return { error: refusal('store_unavailable', { message: 'withheld: another append of the group was refused' }) };
    default:
      throw new TypeError('the response of eventstore.append is not understood');
  }
}
