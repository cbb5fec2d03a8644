import streams, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { FakeLog, LogRecord } from './fake-log.ts';
import type { Faults } from './faults.ts';
import {
  accessDenied,
  caughtUpMessage,
  checkpointMessage,
  confirmationMessage,
  eventMessage,
  nameOf,
  notFoundMessage,
  streamDeleted,
  unavailable,
} from './messages.ts';

export type ReadCall = ServerWritableStream<ReadReq, ReadResp>;

/** Events that the server examines between two checkpoints, for a subscription with the multiplier 1. */
const WINDOW = 32;

/** Answers `Streams.Read`: a stream, the log, or a subscription to the log. */
export async function serveRead(call: ReadCall, log: FakeLog, faults: Faults): Promise<void> {
  const options = call.request.getOptions();
  if (!options || faults.reads === 'silent') return;
  if (faults.reads !== 'none') {
    call.emit('error', faults.reads === 'unavailable' ? unavailable() : accessDenied());
    return;
  }
  if (options.hasSubscription()) return serveSubscription(call, log, faults);
  const backwards = options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS;
  const count = Number(options.getCount());
  if (options.hasAll()) {
    for (const record of allRecords(log, options, backwards, count)) await send(call, eventMessage(record));
    call.end();
    return;
  }
  const stream = options.getStream()!;
  const name = nameOf(stream.getStreamIdentifier());
  const records = log.read(name);
  if (records === 'deleted') {
    call.emit('error', streamDeleted(name));
    return;
  }
  if (!records) await send(call, notFoundMessage(name));
  else {
    const from = stream.hasRevision() ? BigInt(stream.getRevision()) : undefined;
    const chosen = backwards
      ? records.filter(({ revision }) => from === undefined || BigInt(revision) <= from).toReversed()
      : records.filter(({ revision }) => from === undefined || BigInt(revision) >= from);
    for (const record of chosen.slice(0, count)) await send(call, eventMessage(record));
  }
  call.end();
}

type Options = NonNullable<ReturnType<ReadReq['getOptions']>>;

function allRecords(log: FakeLog, options: Options, backwards: boolean, count: number): readonly LogRecord[] {
  const all = options.getAll()!;
  const position = all.hasPosition() ? BigInt(all.getPosition()!.getCommitPosition()) : undefined;
  // A forward read includes the event at the position; a backward read does not.
  if (!backwards) return log.records.slice(position === undefined ? 0 : log.indexAfter(position - 1n)).slice(0, count);
  const end = position === undefined ? log.records.length : log.indexAfter(position - 1n);
  return log.records.slice(Math.max(0, end - count), end).toReversed();
}

async function serveSubscription(call: ReadCall, log: FakeLog, faults: Faults): Promise<void> {
  const options = call.request.getOptions()!;
  const all = options.getAll()!;
  const matches = filterOf(options);
  const interval = WINDOW * Math.max(1, options.getFilter()?.getCheckpointintervalmultiplier() ?? 1);
  let index = all.hasPosition()
    ? log.indexAfter(BigInt(all.getPosition()!.getCommitPosition()))
    : all.hasEnd()
      ? log.records.length
      : 0;
  let examined = 0;
  let caughtUp = false;
  await send(call, confirmationMessage());
  while (!call.cancelled && !call.destroyed) {
    const record = faults.subscriptionsFrozen ? undefined : log.records[index];
    if (record) {
      index += 1;
      examined += 1;
      if (matches(record)) await send(call, eventMessage(record));
      if (options.hasFilter() && examined % interval === 0) await send(call, checkpointMessage(record.position));
      continue;
    }
    if (!caughtUp && faults.sendsCaughtUp && !faults.subscriptionsFrozen) {
      caughtUp = true;
      await send(call, caughtUpMessage());
      continue;
    }
    await growthOrEnd(call, log);
  }
}

function filterOf(options: Options): (record: LogRecord) => boolean {
  const filter = options.getFilter();
  if (!filter) return () => true;
  const onStream = filter.hasStreamIdentifier();
  const expression = onStream ? filter.getStreamIdentifier() : filter.getEventType();
  const prefixes = expression?.getPrefixList() ?? [];
  const regex = expression?.getRegex() ? new RegExp(expression.getRegex()) : undefined;
  return ({ stream, type }) => {
    const text = onStream ? stream : type;
    return regex ? regex.test(text) : prefixes.some((prefix) => text.startsWith(prefix));
  };
}

async function send(call: ReadCall, message: ReadResp): Promise<void> {
  if (call.cancelled || call.destroyed) return;
  if (!call.write(message)) await firstOf(call, ['drain', ...ENDS]);
}

const ENDS = ['close', 'cancelled', 'error'] as const;

/** Resolves when the call emits one of these events, or when `also` calls its argument. */
function firstOf(call: ReadCall, names: readonly string[], also?: (finish: () => void) => () => void): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      for (const name of names) call.off(name, finish);
      forget?.();
      resolve();
    };
    for (const name of names) call.on(name, finish);
    const forget = also?.(finish);
  });
}

function growthOrEnd(call: ReadCall, log: FakeLog): Promise<void> {
  return firstOf(call, ENDS, (finish) => log.onGrowth(finish));
}
