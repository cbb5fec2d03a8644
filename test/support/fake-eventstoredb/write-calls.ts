import shared from '@eventstore/db-client/generated/shared_pb.js';
import statusMessages from '@eventstore/db-client/generated/status_pb.js';
import streams, {
  type AppendReq,
  type AppendResp,
  type BatchAppendReq,
  type BatchAppendResp,
  type DeleteReq,
  type DeleteResp,
  type TombstoneReq,
  type TombstoneResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import {
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServiceError,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import any from 'google-protobuf/google/protobuf/any_pb.js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import { setTimeout as pause } from 'node:timers/promises';
import type { AppendOutcome, ExpectedRevision, FakeLog, Proposed } from './fake-log.ts';
import type { Faults } from './faults.ts';
import { accessDenied, failure, nameOf, streamDeleted, tooLarge, unavailable, wrongVersion } from './messages.ts';

type ProposedMessage = {
  getId(): { getString(): string } | undefined;
  getMetadataMap(): { get(key: string): string | undefined };
  getData_asU8(): Uint8Array;
  getCustomMetadata_asU8(): Uint8Array;
};

function proposedOf(message: ProposedMessage): Proposed {
  return {
    id: message.getId()?.getString() ?? '',
    type: message.getMetadataMap().get('type') ?? '',
    contentType: message.getMetadataMap().get('content-type') ?? '',
    data: Buffer.from(message.getData_asU8()),
    metadata: Buffer.from(message.getCustomMetadata_asU8()),
  };
}

function positionOf(position: bigint) {
  return new streams.AppendResp.Position().setCommitPosition(String(position)).setPreparePosition(String(position));
}

/** Answers `Streams.Append`: one append with one message per event. */
export function serveAppend(
  call: ServerReadableStream<AppendReq, AppendResp>,
  answer: sendUnaryData<AppendResp>,
  log: FakeLog,
  faults: Faults,
): void {
  let stream = '';
  let expected: ExpectedRevision = 'any';
  const events: Proposed[] = [];
  call.on('data', (request: AppendReq) => {
    const options = request.getOptions();
    if (options) {
      stream = nameOf(options.getStreamIdentifier());
      expected = options.hasRevision()
        ? BigInt(options.getRevision())
        : options.hasNoStream()
          ? 'no_stream'
          : options.hasStreamExists()
            ? 'stream_exists'
            : 'any';
    }
    const message = request.getProposedMessage();
    if (message) events.push(proposedOf(message));
  });
  call.on('end', () => {
    void (async () => {
      if (faults.appendDelayMs > 0) await pause(faults.appendDelayMs);
      const result = appendResult(stream, events, expected, log, faults);
      if (result instanceof Error) answer(result);
      else if (result) answer(null, result);
    })();
  });
}

function appendResult(
  stream: string,
  events: readonly Proposed[],
  expected: ExpectedRevision,
  log: FakeLog,
  faults: Faults,
): AppendResp | ServiceError | undefined {
  if (faults.appends === 'silent') return undefined;
  if (faults.appends === 'unavailable') return unavailable();
  if (faults.appends === 'access_denied') return accessDenied();
  const outcome: AppendOutcome =
    faults.appends === 'wrong_version' ? { kind: 'wrong', actual: 41 } : log.append(stream, events, expected);
  if (faults.appends === 'lost') return failure(status.UNAVAILABLE, 'Connection dropped');
  if (faults.appends === 'timeout') return failure(status.ABORTED, 'Timeout');
  if (outcome.kind === 'deleted') return streamDeleted(stream);
  if (outcome.kind === 'too_large') return tooLarge(outcome.limit);
  return outcome.kind === 'wrong'
    ? wrongMessage(expected, outcome.actual)
    : successMessage(outcome, faults.withoutPosition);
}

function successMessage(
  { revision, position }: { readonly revision: number; readonly position: bigint },
  withoutPosition: boolean,
): AppendResp {
  const success = new streams.AppendResp.Success().setCurrentRevision(String(revision));
  if (withoutPosition) success.setNoPosition(new shared.Empty());
  else success.setPosition(positionOf(position));
  return new streams.AppendResp().setSuccess(success);
}

function wrongMessage(expected: ExpectedRevision, actual: number | undefined): AppendResp {
  const wrong = new streams.AppendResp.WrongExpectedVersion();
  if (actual === undefined) wrong.setCurrentNoStream(new shared.Empty());
  else wrong.setCurrentRevision(String(actual));
  if (typeof expected === 'bigint') wrong.setExpectedRevision(String(expected));
  else if (expected === 'no_stream') wrong.setExpectedNoStream(new shared.Empty());
  else if (expected === 'stream_exists') wrong.setExpectedStreamExists(new shared.Empty());
  else wrong.setExpectedAny(new shared.Empty());
  return new streams.AppendResp().setWrongExpectedVersion(wrong);
}

/** Answers `Streams.BatchAppend`: one gRPC stream for all appends of a client without credentials. */
export function serveBatchAppend(
  call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>,
  log: FakeLog,
  faults: Faults,
): void {
  const pending = new Map<string, { stream: string; expected: ExpectedRevision; events: Proposed[] }>();
  call.on('data', (request: BatchAppendReq) => {
    const key = request.getCorrelationId()?.getString() ?? '';
    const options = request.getOptions();
    if (options) {
      const expected = options.hasStreamPosition()
        ? BigInt(options.getStreamPosition())
        : options.hasNoStream()
          ? 'no_stream'
          : options.hasStreamExists()
            ? 'stream_exists'
            : 'any';
      pending.set(key, { stream: nameOf(options.getStreamIdentifier()), expected, events: [] });
    }
    const append = pending.get(key);
    if (!append) return;
    append.events.push(...request.getProposedMessagesList().map(proposedOf));
    if (!request.getIsFinal()) return;
    pending.delete(key);
    if (faults.appends === 'silent') return;
    const outcome: AppendOutcome =
      faults.appends === 'wrong_version'
        ? { kind: 'wrong', actual: 41 }
        : log.append(append.stream, append.events, append.expected);
    if (faults.appends === 'lost' || faults.appends === 'unavailable') {
      call.emit('error', unavailable());
      return;
    }
    const response = new streams.BatchAppendResp()
      .setCorrelationId(request.getCorrelationId())
      .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(append.stream).toString('base64')));
    if (outcome.kind === 'written') {
      response.setSuccess(
        new streams.BatchAppendResp.Success()
          .setCurrentRevision(String(outcome.revision))
          .setPosition(
            new shared.AllStreamPosition()
              .setCommitPosition(String(outcome.position))
              .setPreparePosition(String(outcome.position)),
          ),
      );
    } else {
      response.setError(batchError(outcome));
    }
    call.write(response);
  });
  call.on('end', () => call.end());
}

function batchError(outcome: Exclude<AppendOutcome, { kind: 'written' }>) {
  const details = new any.Any();
  if (outcome.kind === 'wrong') {
    const wrong = new shared.WrongExpectedVersion().setExpectedAny(new empty.Empty());
    if (outcome.actual === undefined) wrong.setCurrentNoStream(new empty.Empty());
    else wrong.setCurrentStreamRevision(String(outcome.actual));
    details.pack(wrong.serializeBinary(), 'event_store.client.WrongExpectedVersion');
  } else if (outcome.kind === 'deleted') {
    details.pack(new shared.StreamDeleted().serializeBinary(), 'event_store.client.StreamDeleted');
  } else {
    details.pack(
      new shared.MaximumAppendSizeExceeded().setMaxappendsize(outcome.limit).serializeBinary(),
      'event_store.client.MaximumAppendSizeExceeded',
    );
  }
  return new statusMessages.Status().setMessage(outcome.kind).setDetails(details);
}

type DeleteCall = ServerUnaryCall<DeleteReq, DeleteResp> | ServerUnaryCall<TombstoneReq, TombstoneResp>;

/** Carries out `Streams.Delete` and `Streams.Tombstone`. @returns the refusal; undefined on success */
export function deleteRefusal(mode: 'soft' | 'tombstone', call: DeleteCall, log: FakeLog): ServiceError | undefined {
  const options = call.request.getOptions()!;
  const stream = nameOf(options.getStreamIdentifier());
  const expected: ExpectedRevision = options.hasRevision() ? BigInt(options.getRevision()) : 'any';
  const outcome = log.remove(stream, expected, mode);
  if (outcome.kind === 'deleted') return streamDeleted(stream);
  return outcome.kind === 'wrong' ? wrongVersion(stream, String(expected), outcome.actual) : undefined;
}
