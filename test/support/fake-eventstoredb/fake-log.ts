/** An event as EventStoreDB stores it. */
export type LogRecord = {
  readonly id: string;
  readonly stream: string;
  readonly type: string;
  readonly revision: number;
  /** A byte offset, which grows by more than one per event. */
  readonly position: bigint;
  readonly data: Buffer;
  readonly metadata: Buffer;
  readonly contentType: string;
  readonly created: Date;
};

export type Proposed = Pick<LogRecord, 'id' | 'type' | 'data' | 'metadata' | 'contentType'>;
export type ExpectedRevision = 'any' | 'no_stream' | 'stream_exists' | bigint;
export type AppendOutcome =
  | { readonly kind: 'written'; readonly revision: number; readonly position: bigint }
  | { readonly kind: 'wrong'; readonly actual: number | undefined }
  | { readonly kind: 'deleted' }
  | { readonly kind: 'too_large'; readonly limit: number };

/** The `$tb` (truncate before) of a deleted stream: the largest 64-bit integer, which exceeds a JavaScript number. */
const DELETED = '9223372036854775807';

/** EventStoreDB's rules for appends, deletions, retention and idempotency, on a log in memory. */
export class FakeLog {
  readonly records: LogRecord[] = [];
  maxAppendSize = 16 * 1024 * 1024;
  private readonly streams = new Map<string, LogRecord[]>();
  private readonly tombstoned = new Set<string>();
  private readonly listeners = new Set<() => void>();
  private offset = 1000n;

  append(stream: string, events: readonly Proposed[], expected: ExpectedRevision): AppendOutcome {
    const size = events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0);
    if (size > this.maxAppendSize) return { kind: 'too_large', limit: this.maxAppendSize };
    if (this.tombstoned.has(stream)) return { kind: 'deleted' };
    const records = this.streams.get(stream) ?? [];
    const last = records.length - 1;
    const deleted = this.isDeleted(stream);
    const earlier = this.repeatedAppend(records, events, expected, deleted);
    if (earlier) return earlier;
    const isExpected =
      expected === 'any' ||
      (expected === 'no_stream'
        ? last < 0 || deleted
        : expected === 'stream_exists'
          ? last >= 0 && !deleted
          : Number(expected) === last);
    if (!isExpected) return { kind: 'wrong', actual: last < 0 ? undefined : last };
    if (deleted) this.setMetadata(stream, { ...this.metadataOf(stream), $tb: last + 1 });
    for (const event of events) this.record(stream, event);
    const written = this.records.at(-1)!;
    this.notifyGrowth();
    return { kind: 'written', revision: written.revision, position: written.position };
  }

  /** The events of a stream: undefined if the stream does not exist, `deleted` if it has a tombstone. */
  read(stream: string): readonly LogRecord[] | 'deleted' | undefined {
    if (this.tombstoned.has(stream)) return 'deleted';
    const records = this.streams.get(stream);
    if (!records || this.isDeleted(stream)) return undefined;
    if (stream.startsWith('$$')) return records.slice(-1);
    const { $tb, $maxCount, $maxAge } = this.metadataOf(stream);
    const first = Math.max(Number($tb ?? 0), $maxCount === undefined ? 0 : records.length - Number($maxCount));
    const young = $maxAge === undefined ? 0 : Date.now() - Number($maxAge) * 1000;
    return records.filter(({ revision, created }) => revision >= first && created.getTime() > young);
  }

  remove(stream: string, expected: ExpectedRevision, mode: 'soft' | 'tombstone'): AppendOutcome {
    if (this.tombstoned.has(stream)) return { kind: 'deleted' };
    const last = (this.streams.get(stream) ?? []).length - 1;
    if (typeof expected === 'bigint' && Number(expected) !== last)
      return { kind: 'wrong', actual: last < 0 ? undefined : last };
    if (mode === 'tombstone') {
      this.tombstoned.add(stream);
      this.record(stream, system('$streamDeleted', '{}'));
    } else {
      this.record(`$$${stream}`, system('$metadata', `{"$tb":${DELETED}}`));
    }
    const written = this.records.at(-1)!;
    this.notifyGrowth();
    return { kind: 'written', revision: last, position: written.position };
  }

  /** Appends an event that the server itself writes, such as its statistics. */
  addSystemEvent(stream = '$stats-127.0.0.1:2113'): void {
    this.record(stream, system('$statsCollected', '{}'));
    this.notifyGrowth();
  }

  /** Copies the records that this log lacks, as a node does that follows the leader. */
  replicate(leader: FakeLog): void {
    for (const record of leader.records.slice(this.records.length)) {
      this.records.push(record);
      this.streams.set(record.stream, [...(this.streams.get(record.stream) ?? []), record]);
    }
    this.offset = leader.offset;
    this.notifyGrowth();
  }

  /** Calls the listener once, at the next append. @returns a function that removes the listener */
  onGrowth(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Index of the first record after a position. */
  indexAfter(position: bigint): number {
    let low = 0;
    let high = this.records.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.records[middle]!.position <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private repeatedAppend(
    records: readonly LogRecord[],
    events: readonly Proposed[],
    expected: ExpectedRevision,
    deleted: boolean,
  ): AppendOutcome | undefined {
    const last = records.length - 1;
    let from: number;
    if (typeof expected === 'bigint') from = Number(expected) + 1;
    else if (expected === 'no_stream') from = deleted ? last + 1 : 0;
    else from = records.findIndex(({ id }) => id === events[0]?.id);
    if (from < 0 || from > last) return undefined;
    const same = events.findIndex(({ id }, index) => records[from + index]?.id !== id);
    if (same === 0)
      return expected === 'any' || expected === 'stream_exists' ? undefined : { kind: 'wrong', actual: last };
    if (same > 0) return { kind: 'wrong', actual: last };
    const end = records[from + events.length - 1]!;
    return { kind: 'written', revision: end.revision, position: end.position };
  }

  private isDeleted(stream: string): boolean {
    return this.streams.get(`$$${stream}`)?.at(-1)?.data.toString().includes(DELETED) ?? false;
  }

  private metadataOf(stream: string): Record<string, unknown> {
    return JSON.parse(this.streams.get(`$$${stream}`)?.at(-1)?.data.toString() ?? '{}') as Record<string, unknown>;
  }

  private setMetadata(stream: string, metadata: Record<string, unknown>): void {
    this.record(`$$${stream}`, system('$metadata', JSON.stringify(metadata)));
  }

  private record(stream: string, event: Proposed): void {
    let records = this.streams.get(stream);
    if (!records) this.streams.set(stream, (records = []));
    const record = { ...event, stream, revision: records.length, position: this.offset, created: new Date() };
    this.offset += BigInt(150 + stream.length + event.data.length + event.metadata.length);
    records.push(record);
    this.records.push(record);
  }

  private notifyGrowth(): void {
    const listeners = [...this.listeners];
    this.listeners.clear();
    for (const listener of listeners) listener();
  }
}

function system(type: string, data: string): Proposed {
  return {
    id: crypto.randomUUID(),
    type,
    data: Buffer.from(data),
    metadata: Buffer.alloc(0),
    contentType: 'application/json',
  };
}
