import type { RecordedEvent } from '../domain/event.ts';

type Direction = 'forwards' | 'backwards';

/** Merges reads of the log that are all in this direction. An event of several reads is yielded once. */
export async function* mergeEvents(
  reads: readonly AsyncIterable<RecordedEvent>[],
  direction: Direction,
): AsyncIterable<RecordedEvent> {
  const iterators = reads.map((read) => read[Symbol.asyncIterator]());
  try {
    const heads = await Promise.all(iterators.map((iterator) => iterator.next()));
    for (;;) {
      const next = firstOf(
        heads.flatMap((head) => (head.done === true ? [] : [head.value])),
        direction,
      );
      if (!next) return;
      yield next;
      for (const [index, iterator] of iterators.entries()) {
        const head = heads[index];
        if (head?.done === false && head.value.position === next.position) heads[index] = await iterator.next();
      }
    }
  } finally {
    for (const iterator of iterators) await iterator.return?.();
  }
}

function firstOf(events: readonly RecordedEvent[], direction: Direction): RecordedEvent | undefined {
  return events.reduce<RecordedEvent | undefined>((first, event) => {
    if (!first) return event;
    const isEarlier = event.position < first.position;
    return isEarlier === (direction === 'forwards') ? event : first;
  }, undefined);
}
