import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import features, { type SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams, {
  type DeleteReq,
  type DeleteResp,
  type TombstoneReq,
  type TombstoneResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js';
import { FakeLog } from './fake-log.ts';
import { type Faults, noFaults } from './faults.ts';
import { notLeader, unavailable } from './messages.ts';
import { type ReadCall, serveRead } from './read-calls.ts';
import { deleteRefusal, serveAppend, serveBatchAppend } from './write-calls.ts';

/** An EventStoreDB server in this process. The real client talks to it over gRPC. */
export type FakeEventStoreDb = {
  /** `esdb://127.0.0.1:<port>?tls=false` */
  readonly url: string;
  readonly port: number;
  readonly log: FakeLog;
  readonly faults: Faults;
  /** Number of open reads and subscriptions. */
  openReads(): number;
  /** Number of calls so far; `reads` includes subscriptions. */
  readonly calls: { reads: number; appends: number };
  /** Ends every open read and subscription with an error, and keeps the connections. */
  dropReads(): void;
  /** Breaks every connection, then listens again at the same address with the same log. */
  restart(): Promise<void>;
  /** Stops listening until `restart`. */
  stop(): Promise<void>;
  /**
   * Makes this node follow another one, or lead (undefined). A follower refuses reads that require the leader, passes
   * appends on to it, and has its events only after `log.replicate`.
   */
  follow(leader: FakeEventStoreDb | undefined): void;
};

/** Starts a fake EventStoreDB on a free port. */
export async function startFakeEventStoreDb(): Promise<FakeEventStoreDb> {
  const log = new FakeLog();
  const faults = noFaults();
  const calls = { reads: 0, appends: 0 };
  const reads = new Set<ReadCall>();
  let server: Server | undefined;
  let port = 0;
  let leader: FakeEventStoreDb | undefined;

  async function listen(): Promise<void> {
    const next = new Server({ 'grpc.max_receive_message_length': 64 * 1024 * 1024 });
    next.addService(streamsGrpc.StreamsService, {
      read(call: ReadCall) {
        calls.reads += 1;
        reads.add(call);
        call.on('close', () => reads.delete(call));
        call.on('cancelled', () => reads.delete(call));
        call.on('finish', () => reads.delete(call));
        if (leader && call.metadata.get('requires-leader').includes('true')) call.emit('error', notLeader(leader.port));
        else void serveRead(call, log, faults);
      },
      append(call: Parameters<typeof serveAppend>[0], answer: Parameters<typeof serveAppend>[1]) {
        calls.appends += 1;
        serveAppend(call, answer, leader?.log ?? log, faults);
      },
      batchAppend(call: Parameters<typeof serveBatchAppend>[0]) {
        serveBatchAppend(call, log, faults);
      },
      delete(call: ServerUnaryCall<DeleteReq, DeleteResp>, answer: sendUnaryData<DeleteResp>) {
        answer(deleteRefusal('soft', call, log) ?? null, new streams.DeleteResp());
      },
      tombstone(call: ServerUnaryCall<TombstoneReq, TombstoneResp>, answer: sendUnaryData<TombstoneResp>) {
        answer(deleteRefusal('tombstone', call, log) ?? null, new streams.TombstoneResp());
      },
    });
    next.addService(featuresGrpc.ServerFeaturesService, {
      getSupportedMethods(_call: unknown, answer: sendUnaryData<SupportedMethods>) {
        const methods = ['read', 'append', 'delete', 'tombstone', 'batchappend'].map((name) =>
          new features.SupportedMethod().setServiceName('event_store.client.streams.streams').setMethodName(name),
        );
        answer(null, new features.SupportedMethods().setEventStoreServerVersion('24.10.0').setMethodsList(methods));
      },
    });
    port = await new Promise<number>((resolve, reject) => {
      next.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, bound) => {
        if (error) reject(error);
        else resolve(bound);
      });
    });
    server = next;
  }

  await listen();
  return {
    url: `esdb://127.0.0.1:${port}?tls=false`,
    port,
    log,
    faults,
    calls,
    openReads: () => reads.size,
    dropReads() {
      for (const call of [...reads]) call.emit('error', unavailable());
      reads.clear();
    },
    async restart() {
      server?.forceShutdown();
      await listen();
    },
    stop() {
      server?.forceShutdown();
      server = undefined;
      reads.clear();
      return Promise.resolve();
    },
    follow(node) {
      leader = node;
    },
  };
}
