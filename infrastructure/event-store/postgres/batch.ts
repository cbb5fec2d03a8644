import type { AppendResult, ClaimKey, Expected, GuardFailure, Guards } from '../../../application/ports/event-store.ts';
import { type AppError, refusal } from '../../../domain/errors.ts';
import { positionFrom } from '../../../domain/event.ts';
import { conflictRefusal } from '../conflict.ts';
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
export const APPEND = `select r_before, r_recorded_at, r_outcomes
  from eventstore.append(${Array.from({ length: 29 }, (_, index) => `$${index + 1}`).join()})`;

/** Occurs neither in JSON text, which escapes it, nor in a validated name. */
const SEPARATOR = '\u001e';

/**
 * Distributes appends over successive rounds, in order of arrival: an append comes after every earlier one that touches
 * a stream or a value of its guards. An atomic group is one round: its guards are checked before its first write.
 */
export function batchOf(appends: readonly EncodedAppend[], atomic = false): Batch {
  if (atomic) return { appends, rounds: [appends], atomic };
  const rounds: EncodedAppend[][] = [];
  const nextRounds = new Map<string, number>();
  for (const append of appends) {
    // A search of the log concerns every earlier append.
    let round = append.guards?.unmentioned ? rounds.length : 0;
    const touched = touchedBy(append);
    for (const key of touched) round = Math.max(round, nextRounds.get(key) ?? 0);
    for (const key of touched) nextRounds.set(key, round + 1);
    (rounds[round] ??= []).push(append);
  }
  return { appends: rounds.length === 1 ? appends : rounds.flat(), rounds, atomic };
}

/** Keys of the streams and unique values that an append writes or checks. */
function touchedBy({ stream, guards }: EncodedAppend): readonly string[] {
  if (!guards) return [stream];
  const { streams = [], taken = [], released = [] } = guards;
  return [
    stream,
    ...streams.map((guard) => guard.stream),
    ...[...taken, ...released].map(({ digest }) => `#${digest}`),
  ];
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
    ...guardParametersOf(appends),
  ];
}

const NO_GUARDS: readonly unknown[] = ['{}', '', '', '', '', '{}', '', '', '', '{}', '{}', '{}', '', '', '{}'];

/** The last parameters of `eventstore.append`. Each guard names its append by its number in the call, from 1. */
function guardParametersOf(appends: readonly EncodedAppend[]): readonly unknown[] {
  const guarded = appends.flatMap(({ guards }, index) => (guards ? [{ guards, owner: index + 1 }] : []));
  if (guarded.length === 0) return NO_GUARDS;
  const streams = guarded.flatMap(({ guards, owner }) => (guards.streams ?? []).map((guard) => ({ ...guard, owner })));
  const silent = guarded.flatMap(({ guards, owner }) => (guards.unmentioned ? [{ ...guards.unmentioned, owner }] : []));
  const claims = guarded.flatMap(({ guards, owner }) => claimsOf(guards).map((claim) => ({ ...claim, owner })));
  return [
    `{${streams.map(({ owner }) => owner).join()}}`,
    streams.map(({ stream }) => stream).join(SEPARATOR),
    streams.map(({ notEndingWith }) => notEndingWith).join(SEPARATOR),
    streams.map(({ endingWith }) => endingWith?.member ?? '').join(SEPARATOR),
    streams.map(({ endingWith }) => endingWith?.value ?? '').join(SEPARATOR),
    `{${silent.map(({ owner }) => owner).join()}}`,
    silent.map(({ tenant }) => tenant).join(SEPARATOR),
    silent.map(({ category }) => category).join(SEPARATOR),
    silent.map(({ text }) => text).join(SEPARATOR),
    `{${silent.map(({ after }) => Number(after)).join()}}`,
    `{${claims.map(({ owner }) => owner).join()}}`,
    `{${claims.map(({ isTaken }) => String(isTaken)).join()}}`,
    claims.map(({ tenant }) => tenant).join(SEPARATOR),
    claims.map(({ scope }) => scope).join(SEPARATOR),
    claims.map(({ digest }) => Buffer.from(digest, 'hex')),
  ];
}

function claimsOf({ taken = [], released = [] }: Guards): readonly (ClaimKey & { readonly isTaken: boolean })[] {
  return [
    ...taken.map((claim) => ({ ...claim, isTaken: true })),
    ...released.map((claim) => ({ ...claim, isTaken: false })),
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
      return { error: conflictRefusal({ stream, expected, actual: Number(revision) }) };
    case 'g':
      return guardFailed({ guard: 'stream' });
    case 'm':
      return guardFailed({ guard: 'unmentioned', position: positionFrom(Number(position)) });
    case 'h':
      return guardFailed({ guard: 'taken' });
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

function guardFailed(cause: GuardFailure): Outcome {
  return { error: refusal('guard_failed', { cause }) };
}
