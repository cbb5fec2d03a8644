import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import type { LogRecord } from './fake-log.ts';

const TICKS_PER_MS = 10_000n;

/** A failed call as the server reports it: the trailer `exception` names the error. */
export function failure(code: status, details: string, trailers: Readonly<Record<string, string>> = {}): ServiceError {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(trailers)) metadata.set(name, value);
  return Object.assign(new Error(details), { name: 'ServiceError', code, details, metadata });
}

export const unavailable = () => failure(status.UNAVAILABLE, 'Server Is Not Ready');
export const accessDenied = () => failure(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });
export const notLeader = (leaderPort: number) =>
  failure(status.FAILED_PRECONDITION, 'not the leader', {
    exception: 'not-leader',
    'leader-endpoint-host': '127.0.0.1',
    'leader-endpoint-port': String(leaderPort),
  });
export const streamDeleted = (stream: string) =>
  failure(status.FAILED_PRECONDITION, 'deleted', { exception: 'stream-deleted', 'stream-name': encodeURI(stream) });
export const tooLarge = (limit: number) =>
  failure(status.INVALID_ARGUMENT, 'too large', {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(limit),
  });
export const wrongVersion = (stream: string, expected: string, actual: number | undefined) =>
  failure(status.FAILED_PRECONDITION, 'wrong version', {
    exception: 'wrong-expected-version',
    'stream-name': encodeURI(stream),
    'expected-version': expected,
    ...(actual === undefined ? {} : { 'actual-version': String(actual) }),
  });

function identifier(stream: string): InstanceType<typeof shared.StreamIdentifier> {
  return new shared.StreamIdentifier().setStreamName(Buffer.from(stream).toString('base64'));
}

export function nameOf(id: { getStreamName_asU8(): Uint8Array } | undefined): string {
  return Buffer.from(id?.getStreamName_asU8() ?? []).toString();
}

/** The message of a read that contains an event. */
export function eventMessage(record: LogRecord): InstanceType<typeof streams.ReadResp> {
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString(record.id))
    .setStreamIdentifier(identifier(record.stream))
    .setStreamRevision(String(record.revision))
    .setPreparePosition(String(record.position))
    .setCommitPosition(String(record.position))
    .setData(record.data.toString('base64'))
    .setCustomMetadata(record.metadata.toString('base64'));
  const properties = recorded.getMetadataMap();
  properties.set('type', record.type);
  properties.set('content-type', record.contentType);
  properties.set('created', String(BigInt(record.created.getTime()) * TICKS_PER_MS));
  const event = new streams.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(String(record.position));
  return new streams.ReadResp().setEvent(event);
}

export function checkpointMessage(position: bigint): InstanceType<typeof streams.ReadResp> {
  return new streams.ReadResp().setCheckpoint(
    new streams.ReadResp.Checkpoint().setCommitPosition(String(position)).setPreparePosition(String(position)),
  );
}

export const confirmationMessage = () =>
  new streams.ReadResp().setConfirmation(
    new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(crypto.randomUUID()),
  );
export const caughtUpMessage = () => new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp());
export const notFoundMessage = (stream: string) =>
  new streams.ReadResp().setStreamNotFound(
    new streams.ReadResp.StreamNotFound().setStreamIdentifier(identifier(stream)),
  );
