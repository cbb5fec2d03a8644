import type { ChangesDependencies, ChangesView } from '../../application/content/read-changes.ts';
import { followChanges } from '../../application/content/read-changes.ts';
import { errorAnswer } from '../http/error-answer.ts';
import { heartbeat, serverSentEvent, withTicks } from '../http/event-stream.ts';
import { isAppError } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { setTimeout as pause } from 'node:timers/promises';

/** How often, in milliseconds, a stream shows that it lives, and asks whether its reader may still read. */
export type ChangeStreamPace = { readonly heartbeatMs: number; readonly recheckMs: number };
export const CHANGE_STREAM_PACE: ChangeStreamPace = { heartbeatMs: 15_000, recheckMs: 3_000 };

export type ChangeStreamOptions = {
  readonly view: ChangesView;
  /** Exclusive. */
  readonly after: GlobalPosition;
  readonly signal: AbortSignal;
  /** The view of now, its rules and names in force. @throws the refusal when the caller may not read any more */
  readonly viewNow: () => Promise<ChangesView>;
  /** The same with the credential proved again. */
  readonly recheck: () => Promise<ChangesView>;
  readonly pace: ChangeStreamPace;
};

/**
 * Changes as server-sent events: `change` for each of them, `schema` when the content type was saved (names of fields may have changed), `closed`
 * with the refusal when the reader may not read any more. Every id is a position to go on from.
 */
export async function* changeStream({ view, after, signal, viewNow, recheck, pace }: ChangeStreamOptions, dependencies: ChangesDependencies): AsyncIterable<string> {
  const { id: typeId, tenant } = view.type;
  let position = after;
  let revision = view.type.revision;
  let news = '';
  let lastSent = performance.now();
  let lastChecked = lastSent;

  function noted(current: ChangesView): ChangesView {
    if (current.type.revision > revision) {
      revision = current.type.revision;
      news = serverSentEvent({ event: 'schema', data: JSON.stringify({ schema: current.type.name, revision }) });
    }
    return current;
  }

  /** A process may hear of a content type's change after the first entry written under it. */
  async function viewOf(wanted: number): Promise<ChangesView> {
    for (;;) {
      const current = noted(await viewNow());
      if (current.type.revision >= wanted || signal.aborted) return current;
      await pause(50, undefined, { signal }).catch(() => undefined);
    }
  }

  try {
    yield 'retry: 3000\n\n';
    for await (const step of withTicks(followChanges({ tenant, typeId, after, viewOf, signal }, dependencies), pace.recheckMs)) {
      const now = performance.now();
      if (now - lastChecked >= pace.recheckMs) {
        lastChecked = now;
        noted(await recheck());
      }
      let text = '';
      if (step !== 'tick') {
        position = step.item.next;
        text = news + step.item.changes.map((data) => serverSentEvent({ id: position, event: 'change', data })).join('');
      } else text = news;
      news = '';
      if (text === '' && now - lastSent >= pace.heartbeatMs) text = heartbeat(position);
      if (text === '') continue;
      lastSent = now;
      yield text;
    }
  } catch (error) {
    if (!isAppError(error) || error.status >= 500) throw error;
    yield serverSentEvent({ event: 'closed', data: JSON.stringify(errorAnswer(error).body) });
  }
}
